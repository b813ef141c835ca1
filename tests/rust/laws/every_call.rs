//! Laws 1, 2, 3, 7, 8 and 9: what every single call must keep.

use proptest::prelude::*;

use super::{all, cases, holds, with_choice};
use crate::histories::{output, policy, request, signals, tool_choice};
use crate::oracle;
use crate::support::{Carry, call_lengths, carry_through, fold, try_fold};
use crate::twin::every_wire;

every_wire! {
    of_a_new_conversation_keeps_the_laws,
    without_a_plan_keeps_the_laws,
    of_a_carried_conversation_keeps_the_laws covers 3,
    is_pure,
    that_is_disabled_changes_nothing,
}

proptest! {
    #![proptest_config(cases(400))]

    /// A host that folds once, without a plan and with nothing cached.
    fn of_a_new_conversation_keeps_the_laws(request in request(), policy in policy(), output in output(), signals in signals(), choice in tool_choice()) {
        let call = fold(&with_choice(&request.0, choice.as_ref()), &all(&[&policy.0, &output.0, &signals.0]), &Carry::New);
        holds(oracle::one_call(&call))?;
    }

    /// A host without storage.
    fn without_a_plan_keeps_the_laws(request in request(), policy in policy(), output in output(), signals in signals(), choice in tool_choice()) {
        let call = fold(&with_choice(&request.0, choice.as_ref()), &all(&[&policy.0, &output.0, &signals.0]), &Carry::Derive);
        holds(oracle::one_call(&call))?;
    }

    /// A host that carries the plan, and whose options are the same at every call.
    fn of_a_carried_conversation_keeps_the_laws(request in request(), policy in policy(), output in output()) {
        let options = all(&[&policy.0, &output.0]);
        for call in carry_through(&request.0, &call_lengths(request.0["messages"].as_array().unwrap()), |_| options.clone()) {
            holds(oracle::one_call(&call))?;
        }
    }

    /// Law 1: the same input gives the same bytes, plan and report, whatever came before in this process.
    fn is_pure(request in request(), policy in policy(), output in output(), signals in signals(), first in policy()) {
        let options = all(&[&policy.0, &output.0, &signals.0]);
        for carry in [Carry::Derive, Carry::New, fold(&request.0, &first.0, &Carry::New).next()] {
            let (one, other) = (fold(&request.0, &options, &carry), fold(&request.0, &options, &carry));
            prop_assert_eq!(serde_json::to_string(&one.outcome).unwrap(), serde_json::to_string(&other.outcome).unwrap());
            prop_assert_eq!(one.sent.body, other.sent.body);
        }
    }

    /// `enabled: false` gives back messages and plan as they are.
    fn that_is_disabled_changes_nothing(request in request(), policy in policy(), output in output()) {
        let carried = fold(&request.0, &policy.0, &Carry::New);
        let off = all(&[&policy.0, &output.0, &serde_json::json!({ "enabled": false })]);
        let call = try_fold(&request.0, &off, &carried.next()).unwrap();
        prop_assert_eq!(&call.sent.body, &call.sent.request);
        prop_assert_eq!(&call.plan, &carried.plan);
        prop_assert!(!call.outcome.folded);
    }
}
