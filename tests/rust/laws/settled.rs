//! Law 6: deciding again changes nothing, and neither does folding what has been folded.

use proptest::prelude::*;
use serde_json::json;

use super::{all, cases};
use crate::histories::{output, policy, request, signals};
use crate::oracle;
use crate::support::{Call, Carry, Edit, assistant, call_lengths, carry_through, eager, exchange, fold, fold_messages, history, lines, merged, user};
use crate::twin::every_wire;

every_wire! {
    planning_twice_is_planning_once,
    over_budget_for_ever_is_a_stable_no_op_with_a_reason covers 12,
    folding_what_was_folded_changes_nothing,
    every_fold_does_something,
    a_line_is_not_cut_to_a_shorter_line,
    a_cut_error_is_still_an_error,
    a_cut_read_is_still_a_long_one,
    a_cut_text_is_not_cut_again,
}

/// Whether two results came out as the same text, which folding again may take for copies.
fn has_identical_cuts(call: &Call) -> bool {
    let edits = call.edits().into_iter().filter(|edit| edit.rule != "reasoning");
    let mut texts: Vec<String> =
        edits.map(|edit| oracle::rendered(oracle::text_at(&call.input()[edit.message], edit.part).unwrap_or(""), &edit.pieces)).collect();
    texts.sort();
    texts.windows(2).any(|two| two[0] == two[1])
}

/// Whether something was asked for again after it had been cut: what comes then stays longer, which the plan alone remembers.
fn was_asked_again(call: &Call) -> bool {
    let (actions, tools) = (oracle::actions_of(call), oracle::tools_of(call.input()));
    let about = |message: &usize| actions[message].resource.as_ref().map(|resource| (&tools[*message], &resource.key));
    let again = |message: usize| actions.keys().any(|later| *later > message && about(later).is_some() && about(later) == about(&message));
    call.edits().iter().any(|edit| matches!(edit.rule.as_str(), "truncated" | "summarized" | "stale") && again(edit.message))
}

proptest! {
    #![proptest_config(cases(400))]

    fn planning_twice_is_planning_once(request in request(), policy in policy(), output in output(), signals in signals(), other in policy()) {
        let earlier = fold(&request.0, &other.0, &Carry::New).next();
        let options = all(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]);
        for carry in [Carry::New, Carry::Derive, earlier] {
            let once = fold(&request.0, &options, &carry);
            let twice = fold(&request.0, &options, &once.next());
            prop_assert_eq!(&twice.plan, &once.plan);
            prop_assert_eq!(&twice.output, &once.output);
            prop_assert!(!twice.outcome.folded, "planning again is no fold");
        }
    }

    /// What is over budget for ever is left alone for ever, and says why.
    fn over_budget_for_ever_is_a_stable_no_op_with_a_reason(request in request(), policy in policy()) {
        let options = all(&[&policy.0, &json!({ "budgetTokens": 1 })]);
        let mut call = fold(&request.0, &options, &Carry::New);
        for _ in 0..5 {
            let next = fold(&request.0, &options, &call.next());
            prop_assert_eq!(&next.output, &call.output);
            prop_assert_eq!(&next.plan, &call.plan);
            prop_assert!(!next.outcome.folded && next.says("over the limit"), "{:?}", next.outcome.report.reasons);
            call = next;
        }
    }

    /// A host may store what it has sent, and fold that: as a new conversation, nothing more is done. (Where an edit may save next to nothing:
    /// see below.) Derived, the past itself is another: its prompts were smaller before the folds that made them so, which can make a
    /// further fold pay; but what was cut is not cut again.
    fn folding_what_was_folded_changes_nothing(request in request(), policy in policy()) {
        let least = policy.0["minSavedBytes"].as_u64().unwrap_or(120).max(20);
        let options = all(&[&policy.0, &json!({ "minSavedBytes": least })]);
        for carry in [Carry::Derive, Carry::New] {
            let once = fold(&request.0, &options, &carry);
            if !has_identical_cuts(&once) && !was_asked_again(&once) {
                let mut again = request.0.clone();
                again["messages"] = once.output().to_vec().into();
                let twice = fold(&again, &options, &carry);
                let (first, derived) = (once.edits(), matches!(carry, Carry::Derive));
                // A result that a duplicate points at stays; folded again, the duplicate is a line like any other and points nowhere.
                let original = |edit: &Edit| {
                    let duplicates = first.iter().filter(|edit| edit.rule == "duplicate").filter_map(|edit| edit.target.as_ref());
                    duplicates.into_iter().any(|target| (target.message, target.part) == (edit.message, edit.part))
                };
                let cut_again = |edit: &Edit| edit.rule == "truncated" && first.iter().any(|cut| (cut.message, cut.part) == (edit.message, edit.part));
                let more: Vec<Edit> = twice.edits().into_iter().filter(|edit| !original(edit) && (!derived || cut_again(edit))).collect();
                prop_assert!(more.is_empty(), "{first:?} once, then {more:?}");
            }
        }
    }

    /// Call by call, the number of folds is bounded by the number of edits: a fold always does something.
    fn every_fold_does_something(request in request(), policy in policy()) {
        let lengths = call_lengths(request.0["messages"].as_array().unwrap());
        for call in carry_through(&request.0, &lengths, |_| policy.0.clone()) {
            let report = &call.outcome.report;
            let (new, lowered) = (report.edits_added + report.edits_lowered, report.edits_lowered);
            prop_assert_eq!(call.outcome.folded, new + report.edits_dropped > 0);
            prop_assert_eq!(new, call.new_edits().len());
            prop_assert_eq!(report.edits_carried + new, call.edits().len());
            prop_assert_eq!(report.edits_carried + lowered + report.edits_dropped, call.carried().len());
        }
    }
}

/// A breadcrumb is not replaced by one that is shorter because it counts to a smaller number.
fn a_line_is_not_cut_to_a_shorter_line() {
    let reads = |text: &str| exchange("a", "read", json!({ "path": "f" }), text);
    let messages = history(&[&[user("go")], &reads(&"x".repeat(1013)), &reads(&lines("f", 30)), &[assistant("ok"), user("so")]]);
    let options = merged(&eager(), &json!({ "minSavedBytes": 0, "maxToolResultBytes": 10_000 }));
    let once = fold_messages(&messages, &options, &Carry::New);
    let twice = fold_messages(once.output(), &options, &Carry::New);
    assert_eq!(once.edits().len(), 1);
    assert_eq!(twice.edits(), []);
}

/// Folds two reads of one file, then what came of them; gives back the edits of each time.
fn folded_twice(first: &str, second: &str, options: &serde_json::Value) -> (usize, usize) {
    let (one, other) = (exchange("a", "read", json!({ "path": "f" }), first), exchange("b", "read", json!({ "path": "f" }), second));
    let messages = history(&[&[user("go")], &one, &other, &[assistant("ok"), user("so")]]);
    let options = merged(&eager(), options);
    let once = fold_messages(&messages, &options, &Carry::New);
    (once.edits().len(), fold_messages(once.output(), &options, &Carry::New).edits().len())
}

/// An error that was cut begins with a breadcrumb, and is no better a read for that.
fn a_cut_error_is_still_an_error() {
    let error = "Error: no such file\n".to_owned() + &lines("details", 60);
    assert_eq!(folded_twice(&"x".repeat(390), &error, &json!({})), (1, 0));
}

/// A read that was cut is not short enough for a message about the file to stand in for it.
fn a_cut_read_is_still_a_long_one() {
    assert_eq!(folded_twice(&lines("f", 60), "(binary)", &json!({ "keepHeadBytes": 300, "keepTailBytes": 300, "maxToolResultBytes": 1000 })), (1, 0));
}

/// What was cut is not cut again, however low the size over which results are cut.
fn a_cut_text_is_not_cut_again() {
    for size in [0, 100, 400, 800] {
        let long = json!({ "maxToolResultBytes": size, "keepHeadBytes": 512, "keepTailBytes": 256, "minSavedBytes": 0 });
        assert_eq!(folded_twice(&"word ".repeat(400), "Error: gone", &long), (1, 0), "over {size} bytes");
    }
}
