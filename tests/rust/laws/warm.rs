//! Laws 4 and 5 for histories that only grow: without a reported fold what was sent stays, whatever options change.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{all, cases, holds, with_choice};
use crate::histories::{Json, output, policy, request, signals, tool_choice};
use crate::oracle;
use crate::support::{Call, Carry, at_length, call_lengths, carry_through, fold, whole_length};
use crate::twin::every_wire;

every_wire! {
    a_carried_conversation_stays_warm,
    any_change_of_options_stays_warm,
    a_derived_conversation_stays_warm,
    protection_releases_on_a_cold_call_only,
}

fn leading_system_run(request: &Value) -> usize {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().take_while(|message| message["role"] == "system" || message["role"] == "developer").count()
}

/// All that a host may change from one call to the next.
#[derive(Clone, Debug)]
struct Changing {
    policy: Json,
    signals: Json,
    marks: &'static str,
    choice: Option<Value>,
}

fn changing() -> impl Strategy<Value = Changing> {
    let marks = prop::sample::select(vec!["none", "anthropic", "openai"]);
    (policy(), signals(), marks, tool_choice()).prop_map(|(policy, signals, marks, choice)| Changing { policy, signals, marks, choice })
}

proptest! {
    #![proptest_config(cases(400))]

    fn a_carried_conversation_stays_warm(request in request(), policy in policy(), output in output()) {
        let options = all(&[&policy.0, &output.0]);
        let calls = carry_through(&request.0, &call_lengths(request.0["messages"].as_array().unwrap()), |_| options.clone());
        for two in calls.windows(2) {
            holds(oracle::next_call(&two[0], &two[1]))?;
        }
    }

    /// Calls at any length of the history (a retry, two user messages in a row), each with options of its own.
    fn any_change_of_options_stays_warm(
        request in request(),
        block in prop::option::of(Just("notes of the project")),
        steps in prop::collection::vec((0..4usize, changing()), 1..10),
    ) {
        let mut length = leading_system_run(&request.0) + 1;
        let total = request.0["messages"].as_array().unwrap().len();
        let mut before: Option<Call> = None;
        for (further, step) in steps {
            length = whole_length(&request.0, (length + further).min(total));
            let mut options = all(&[&step.policy.0, &step.signals.0, &json!({ "marks": step.marks })]);
            if let Some(block) = block {
                options["contextBlock"] = block.into();
            }
            let carry = before.as_ref().map_or(Carry::New, Call::next);
            let call = fold(&with_choice(&at_length(&request.0, length), step.choice.as_ref()), &options, &carry);
            holds(oracle::one_call(&call))?;
            if let Some(before) = &before {
                holds(oracle::next_call(before, &call))?;
            }
            before = Some(call);
        }
    }

    /// A host without storage: every rewrite of a sent message is a fold that the call reports.
    fn a_derived_conversation_stays_warm(request in request(), policy in policy(), output in output()) {
        let options = all(&[&policy.0, &output.0]);
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        let calls: Vec<Call> = lengths.iter().map(|length| fold(&at_length(&request.0, *length), &options, &Carry::Derive)).collect();
        for two in calls.windows(2) {
            holds(oracle::next_call(&two[0], &two[1]))?;
        }
    }

    /// Protection that comes later leaves an edit in force and says so; a cold call lets it go.
    fn protection_releases_on_a_cold_call_only(request in request(), policy in policy()) {
        let first = fold(&request.0, &all(&[&policy.0, &json!({ "protectRecentTurns": 0 })]), &Carry::New);
        let protect = |cold: bool| all(&[&policy.0, &json!({ "protectRecentTurns": 1000, "cold": cold, "budgetTokens": 1_000_000, "model": null })]);
        let warm = fold(&request.0, &protect(false), &first.next());
        prop_assert_eq!(&warm.output, &first.output);
        prop_assert_eq!(warm.says("although protection covers"), !first.edits().is_empty());
        let cold = fold(&request.0, &protect(true), &warm.next());
        prop_assert_eq!(cold.edits(), vec![]);
        prop_assert_eq!(&cold.output, &request.0["messages"]);
        prop_assert_eq!(cold.outcome.folded, !first.edits().is_empty());
        prop_assert_eq!(cold.outcome.report.edits_dropped, first.edits().len());
    }
}
