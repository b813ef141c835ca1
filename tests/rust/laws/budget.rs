//! The budget is reached when it can be, the window is never mistaken, and a reported usage counts once.

use proptest::prelude::*;
use serde_json::json;
use warmfold::Options;

use super::{all, cases};
use crate::histories::{output, policy, policy_with_budget, request};
use crate::oracle::protect_from;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    the_target_is_reached_when_it_can_be,
    the_protected_window_is_never_shortened covers 15,
    the_report_adds_up,
    usage_is_applied_once,
    a_retry_does_not_apply_its_usage_again,
}

proptest! {
    #![proptest_config(cases(400))]

    /// Where making every eligible edit reaches the target, the target is reached.
    fn the_target_is_reached_when_it_can_be(request in request(), policy in policy_with_budget()) {
        let policy = all(&[&policy.0, &json!({ "when": "budget", "model": null })]);
        let limit = policy["budgetTokens"].as_u64().unwrap() as f64;
        let target = (limit * Options::from_json(policy.clone()).unwrap().floor_ratio).floor() as u32;
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        for call in carry_through(&request.0, &lengths, |_| policy.clone()) {
            let free = json!({ "budgetTokens": 1, "floorRatio": 1, "cache": { "read": 1, "write": 1, "ttlMs": 1 }, "expectedCalls": 1000 });
            let everything = all(&[&policy, &free]);
            let least = fold(&call.request, &everything, &call.carry).outcome.report.tokens_after;
            let after = call.outcome.report.tokens_after;
            let was_over = f64::from(fold(&call.request, &all(&[&policy, &json!({ "when": "never" })]), &call.carry).outcome.report.tokens_after) > limit;
            prop_assert!(!was_over || least > target || after <= target, "{after} tokens, {least} were possible, the target is {target}");
            prop_assert!(was_over || !call.outcome.folded, "a fold under the limit");
        }
    }

    /// Under one policy nothing recent is ever shortened, however far over budget it is.
    fn the_protected_window_is_never_shortened(request in request(), policy in policy()) {
        let turns = policy.0["protectRecentTurns"].as_u64().unwrap() as usize;
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        for call in carry_through(&request.0, &lengths, |_| policy.0.clone()) {
            let from = protect_from(call.input(), turns);
            prop_assert_eq!(&call.output()[from..], &call.input()[from..]);
        }
    }

    /// The figures of the report are those of the window, and of each other.
    fn the_report_adds_up(request in request(), policy in policy(), output in output()) {
        let call = fold(&request.0, &all(&[&policy.0, &output.0]), &Carry::New);
        let report = &call.outcome.report;
        prop_assert_eq!(report.tokens_saved, report.tokens_before - report.tokens_after);
        prop_assert_eq!(call.outcome.fits, report.cannot_fit.is_none());
        if let Some(cannot_fit) = &report.cannot_fit {
            prop_assert!(report.tokens_after > cannot_fit.limit_tokens && cannot_fit.floor_tokens <= report.tokens_after);
        }
        let mut elided: Vec<usize> = call.sent.edits().iter().map(|edit| edit.message).collect();
        elided.dedup();
        prop_assert_eq!(report.messages_elided, elided.len());
        let points = &call.outcome.breakpoints;
        prop_assert!(points.windows(2).all(|two| two[0] < two[1]) && points.iter().all(|at| *at < call.output().len()));
    }

    /// A usage scales the estimate of the request that it is for, once, however often it is passed on.
    fn usage_is_applied_once(request in request(), policy in policy(), factor in 0.3..3.0f64, again in 1..4usize) {
        let policy = all(&[&policy.0, &json!({ "budgetTokens": 1_000_000, "model": null })]);
        let total = request.0["messages"].as_array().unwrap().len();
        if whole_length(&request.0, total - 1) == total {
            return Ok(()); // on this wire both lengths are one
        }
        let first = fold(&at_length(&request.0, total - 1), &policy, &Carry::New);
        let estimate = f64::from(first.outcome.report.tokens_after);
        if estimate < 40.0 {
            return Ok(()); // a token more or less is much
        }
        let used = (estimate * factor).round();
        let unscaled = f64::from(fold(&request.0, &policy, &first.next()).outcome.report.tokens_after);
        let options = all(&[&policy, &json!({ "usage": { "inputTokens": used, "upTo": total - 1 } })]);
        let mut call = fold(&request.0, &options, &first.next());
        for _ in 0..again {
            let expected = unscaled * used / estimate;
            prop_assert!((f64::from(call.outcome.report.tokens_after) - expected).abs() <= 1.0);
            call = fold(&request.0, &options, &call.next());
        }
        prop_assert!(call.says("usage ignored: it is for"), "a usage of another request is ignored with a reason");
    }
}

/// A retry after a fold reports on the request before the fold: what was learned from it is not learned again against less.
fn a_retry_does_not_apply_its_usage_again() {
    let messages = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a" }), &lines("a", 400)), &[assistant("ok"), user("so")]]);
    let first = fold_messages(&messages, &json!({ "when": "never" }), &Carry::New);
    let used = first.plan["request"]["estimate"].as_u64().unwrap() * 3 / 2;
    let options = merged(&eager(), &json!({ "usage": { "inputTokens": used, "upTo": messages.len() } }));
    let folded = fold_messages(&messages, &options, &first.next());
    assert!(folded.outcome.folded && folded.plan["scale"]["ratio"].as_f64() > Some(1.1), "{}", folded.plan["scale"]);
    let again = fold_messages(&messages, &options, &folded.next());
    assert_eq!(again.plan, folded.plan);
}
