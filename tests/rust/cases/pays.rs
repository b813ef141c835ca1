//! When folding pays, by example.

use serde_json::{Value, json};

use crate::oracle;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    a_huge_read_in_front_is_held_back_while_few_calls_are_expected covers 8,
    a_huge_read_near_the_end_is_cut_at_once,
    a_fold_waits_until_its_edits_have_missed_what_it_costs covers 7,
    where_the_cache_saves_nothing_every_edit_is_made_at_once,
    what_is_read_again_stays_longer covers 23,
    what_was_quoted_stays_for_a_while covers 23,
    a_read_of_what_was_changed_goes,
    marks_make_a_fold_dearer,
    nothing_pends_that_cannot_be_lowered,
}

/// Reads of files that nobody asks for again.
fn reads(from: usize, to: usize, size: usize) -> Vec<Value> {
    (from..to)
        .flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": format!("src/{at}.rs") }), &lines(&format!("file {at}"), size)))
        .collect()
}

/// Answers without a tool, each so many lines long.
fn talk(answers: usize, size: usize) -> Vec<Value> {
    (0..answers).flat_map(|at| [assistant(&lines(&format!("thought {at}"), size)), user("go on")]).collect()
}

/// Cut after two calls, unless something else is said.
fn options(more: &Value) -> Value {
    merged(&json!({ "byKind": { "read": { "protectCalls": 2, "maxBytes": 1000, "keepHeadBytes": 100, "keepTailBytes": 100 } } }), more)
}

fn carried(messages: &[Value], options: &Value) -> Vec<Call> {
    let calls = carry_through(&json!({ "messages": messages }), &call_lengths(messages), |_| options.clone());
    calls.iter().for_each(|call| oracle::one_call(call).unwrap());
    calls.windows(2).for_each(|two| oracle::next_call(&two[0], &two[1]).unwrap());
    calls
}

/// A huge read far in front: with few calls to come, writing all behind it again costs more than it would save. It waits, and the report
/// says so.
fn a_huge_read_in_front_is_held_back_while_few_calls_are_expected() {
    let messages = history(&[&[user("go")], &reads(0, 1, 300), &[assistant("ok"), user("so")], &talk(8, 400)]);
    let held = options(&json!({ "byKind": { "read": { "protectCalls": 6 } }, "expectedCalls": 2 }));
    let calls = carried(&messages, &held);
    let last = calls.last().unwrap();
    assert!(calls.iter().all(|call| !call.outcome.folded) && last.outcome.report.pending == 1, "{:?}", last.outcome.report);
    assert!(calls[4].outcome.report.pending == 0, "it has not reached its age");
    let cold = fold_messages(&messages, &merged(&held, &json!({ "cold": true })), &calls[calls.len() - 2].next());
    assert!(cold.outcome.folded && cold.outcome.report.pending == 0, "a cold cache makes it free");
    assert!(cold.outcome.report.fold_cost.is_some_and(|cost| cost < 0) && cold.outcome.report.pays_after_calls == Some(0));
}

/// The same read at the end, with little behind it, is cut as soon as its age allows.
fn a_huge_read_near_the_end_is_cut_at_once() {
    let messages = history(&[&[user("go")], &talk(4, 100), &reads(0, 1, 300), &talk(4, 2)]);
    let calls = carried(&messages, &options(&json!({ "expectedCalls": 2 })));
    let folded: Vec<usize> = (0..calls.len()).filter(|at| calls[*at].outcome.folded).collect();
    let first_sent = calls.iter().position(|call| call.input().len() > 10).unwrap();
    assert_eq!(folded, [first_sent + 2], "two calls hold it, the third does not");
}

/// What has been due for long enough has missed what the fold costs; with ever so many calls to come it is not made before that.
fn a_fold_waits_until_its_edits_have_missed_what_it_costs() {
    let messages = history(&[&[user("go")], &reads(0, 1, 200), &talk(30, 5)]);
    let calls = carried(&messages, &options(&json!({ "expectedCalls": 1000, "byKind": { "read": { "protectCalls": 6 } } })));
    let at = calls.iter().position(|call| call.outcome.folded).expect("it is cut in the end");
    assert!(calls[at - 1].outcome.report.pending == 1, "it was held back before");
    let report = &calls[at].outcome.report;
    let (cost, saved) = (report.fold_cost.unwrap() as f64, f64::from(report.saved_per_call.unwrap()));
    let due = 1 + 6; // the second call sends it
    let missed = |call: usize| saved * (call - due) as f64;
    assert!(cost > 0.0 && cost <= missed(at) + 1.0, "it costs {cost} and has missed {} by call {at}", missed(at));
    assert_eq!(calls.iter().filter(|call| call.outcome.folded).count(), 1);
}

/// With reads as dear as writes nothing is held back.
fn where_the_cache_saves_nothing_every_edit_is_made_at_once() {
    let messages = history(&[&[user("go")], &reads(0, 12, 60)]);
    let calls = carried(&messages, &options(&json!({ "cache": "none" })));
    for call in &calls {
        let expected = (call.input().len() / 2).saturating_sub(2);
        assert_eq!((call.edits().len(), call.outcome.report.pending), (expected, 0), "{} messages", call.input().len());
    }
}

/// Read, cut, read again: it was cut too early, so this time the text stays twice as long.
fn what_is_read_again_stays_longer() {
    let text = lines("the same file", 100);
    let read = |id: &str| exchange(id, "read", json!({ "path": "a.rs", "offset": 0, "limit": 50 }), &text);
    let other = exchange("o", "read", json!({ "path": "b.rs" }), &lines("another file", 100));
    let free = options(
        &json!({ "cache": "none", "byKind": { "read": { "protectCalls": 3 } }, "collapseDuplicateResults": false, "elideSupersededReads": false }),
    );
    let messages = history(&[&[user("go")], &read("a"), &talk(4, 1), &read("b"), &other, &talk(9, 1)]);
    let calls = carried(&messages, &free);
    let life = |message: usize| {
        let sent = calls.iter().position(|call| call.input().len() > message).unwrap();
        calls.iter().position(|call| call.edits().iter().any(|edit| edit.message == message)).unwrap() - sent
    };
    assert_eq!((life(2), life(12), life(14)), (3, 6, 3));
}

/// A line that the model writes down keeps its result for some calls; then it goes.
fn what_was_quoted_stays_for_a_while() {
    let quote = assistant("This is it:\nfile 0, line 7: nothing to see here\n");
    let messages = history(&[&[user("go")], &reads(0, 2, 60), &[quote, user("so")], &talk(10, 1)]);
    for (when, budget) in [("pays", json!(null)), ("budget", json!(100))] {
        let free = options(&json!({ "cache": "none", "protectQuotedCalls": 5, "when": when, "budgetTokens": budget }));
        let calls = carried(&messages, &free);
        let cut_at = |message: usize| calls.iter().position(|call| call.edits().iter().any(|edit| edit.message == message));
        // The third call answers with the quote, and is call 2.
        assert_eq!((cut_at(2), cut_at(4)), (Some(2 + 5), Some(2 + 2)), "{when}");
        let not_held = carried(&messages, &merged(&free, &json!({ "protectQuotedCalls": 0 })));
        assert!(not_held[3].edits().iter().any(|edit| edit.message == 2), "{when}");
    }
}

/// A read of a file that was changed since becomes a line that says so.
fn a_read_of_what_was_changed_goes() {
    let edit = |id: &str, says: &str| exchange(id, "edit", json!({ "file_path": "/repo/src/0.rs", "old_string": "a", "new_string": "b" }), says);
    let rules = |says: &str, more: &Value| {
        let messages = history(&[&[user("go")], &reads(0, 2, 20), &edit("e", says), &talk(4, 1)]);
        let calls = carried(&messages, &options(&merged(&json!({ "cache": "none" }), more)));
        calls.last().unwrap().edits().into_iter().map(|edit| (edit.message, edit.rule)).collect::<Vec<_>>()
    };
    let large = json!({ "maxToolResultBytes": 100_000, "byKind": { "read": { "protectCalls": 1 } } });
    assert_eq!(rules("done", &large), [(2, "stale".to_owned())]);
    assert_eq!(rules("Error: old_string not found", &large), []);
    assert_eq!(rules("done", &merged(&large, &json!({ "elideStaleReads": false }))), []);
    assert_eq!(rules("done", &merged(&large, &json!({ "preset": "spec" }))), []);
}

/// Marks bound what can be read again: where the last one stands far in front, a fold behind it costs more.
fn marks_make_a_fold_dearer() {
    let messages = history(&[&[user("go")], &talk(6, 60), &reads(0, 1, 200), &talk(30, 1)]);
    let first = |marks: &str| {
        let calls = carried(&messages, &options(&json!({ "marks": marks, "expectedCalls": 1000, "milestoneTokens": 1_000_000 })));
        calls.iter().position(|call| call.outcome.folded).unwrap_or(calls.len())
    };
    assert!(first("none") < first("anthropic"), "{} and {}", first("none"), first("anthropic"));
}

/// What no edit would make shorter does not wait for one: empty and tiny results, reasoning without a word, and a line that is longer than
/// what it would stand in for.
fn nothing_pends_that_cannot_be_lowered() {
    let read = |id: &str, text: &str| exchange(id, "read", json!({ "path": "f" }), text);
    let tiny = lines("tiny", 5);
    let silent = |text: &str| json!({ "role": "assistant", "content": text, "reasoning_content": "" });
    for texts in [["", ""], ["ok", "ok"], [&tiny[..160], &tiny[..160]], [&tiny[..160], &lines("news", 10)[..]]] {
        let rounds = [read("a", texts[0]), read("b", texts[1])].concat();
        let messages = history(&[&[user("go")], &rounds, &[silent("so"), user("and")], &talk(3, 400)]);
        for more in [json!({}), json!({ "minSavedBytes": 0 })] {
            let held = options(&merged(&more, &json!({ "expectedCalls": 0, "dropReasoning": true })));
            let calls = carried(&messages, &held);
            let pending: Vec<usize> = calls.iter().map(|call| call.outcome.report.pending).collect();
            let due = more["minSavedBytes"] == 0 && texts[0].len() > 100;
            assert!(pending.iter().all(|pending| *pending <= usize::from(due)), "{texts:?}, {more}: {pending:?}");
        }
    }
}
