//! Without a plan the plan is derived; and the set of truncated results only ever extends forward.

use proptest::prelude::*;
use serde_json::json;

use super::{all, cases, with_choice};
use crate::histories::{output, policy, policy_with_budget, request, tool_choice};
use crate::support::{Carry, at_length, call_lengths, carry_through, fold};
use crate::twin::every_wire;

every_wire! {
    no_plan_gives_what_carrying_it_would_have,
    carrying_may_begin_at_any_call,
    truncation_only_ever_extends_forward,
}

proptest! {
    #![proptest_config(cases(400))]

    fn no_plan_gives_what_carrying_it_would_have(request in request(), policy in policy(), output in output(), choice in tool_choice()) {
        let (request, options) = (with_choice(&request.0, choice.as_ref()), all(&[&policy.0, &output.0]));
        let lengths = call_lengths(request["messages"].as_array().unwrap());
        let calls = carry_through(&request, &lengths, |_| options.clone());
        for (length, carried) in lengths.iter().zip(calls) {
            let derived = fold(&at_length(&request, *length), &options, &Carry::Derive);
            prop_assert_eq!(&derived.plan, &carried.plan, "plans at {} messages", length);
            prop_assert_eq!(&derived.sent.body, &carried.sent.body, "what is sent at {} messages", length);
            prop_assert_eq!(&derived.outcome.breakpoints, &carried.outcome.breakpoints);
        }
    }

    /// From any call on a host may stop carrying, or begin to.
    fn carrying_may_begin_at_any_call(request in request(), policy in policy(), from in any::<prop::sample::Index>()) {
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        let from = from.index(lengths.len());
        let mut call = fold(&at_length(&request.0, lengths[from]), &policy.0, &Carry::Derive);
        for length in &lengths[from + 1..] {
            call = fold(&at_length(&request.0, *length), &policy.0, &call.next());
        }
        let derived = fold(&request.0, &policy.0, &Carry::Derive);
        prop_assert_eq!(derived.plan, call.plan);
        prop_assert_eq!(derived.sent.body, call.sent.body);
    }

    /// Where all kinds have one age, new truncations all come after the older ones, so that a fold never reaches behind the last.
    fn truncation_only_ever_extends_forward(request in request(), policy in policy_with_budget()) {
        let only = json!({ "collapseDuplicateResults": false, "elideSupersededReads": false, "elideStaleReads": false, "dropReasoning": false, "when": "budget", "preset": "spec", "byKind": null, "protectQuotedCalls": 0 });
        let options = all(&[&policy.0, &only]);
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        for call in carry_through(&request.0, &lengths, |_| options.clone()) {
            let place = |edits: Vec<crate::support::Edit>| edits.into_iter().map(|edit| (edit.message, edit.part)).collect::<Vec<_>>();
            let cut: Vec<crate::support::Edit> = call.new_edits().into_iter().filter(|edit| edit.rule == "truncated").collect(); // others are lowered
            let (old, new) = (place(call.carried()), place(cut));
            prop_assert!(old.last().zip(new.first()).is_none_or(|(old, new)| old < new), "{new:?} after {old:?}");
        }
    }
}
