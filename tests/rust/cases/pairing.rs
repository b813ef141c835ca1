//! Calls and results: parallel, in another order, with ids that repeat.

use serde_json::json;

use crate::oracle;
use crate::support::*;
use crate::twin::{self, every_wire};

every_wire! {
    a_parallel_batch_is_never_parted covers 1,
    half_a_batch_may_be_shortened covers 1,
    what_is_kept_of_a_batch_keeps_its_call covers 2,
    pairs_stay_whatever_the_budget covers 3,
    orphans_are_orphans_on_every_path covers 4,
    a_constant_id_does_not_make_results_alike covers 5,
    a_reused_id_belongs_to_the_nearest_call covers 6,
    fresh_ids_keep_the_plan covers 30,
    orphans_stay_and_are_named covers 3,
    a_call_is_answered_once covers 3,
    a_legacy_function_is_paired_by_name,
    one_id_for_a_batch_is_answered_in_order covers 5,
}

/// Whatever is shortened, each call of a parallel batch keeps its result. Guards against cuts inside a batch.
fn a_parallel_batch_is_never_parted() {
    let uses: Vec<_> = (0..10).map(|at| (format!("call-{at}"), format!("src/{at}.rs"))).collect();
    let calls: Vec<_> = uses.iter().map(|(id, path)| (id.as_str(), "read", json!({ "path": path }))).collect();
    let results: Vec<_> = uses.iter().rev().map(|(id, path)| result(id, &lines(path, 40))).collect();
    let messages = history(&[&[user("read them all"), asks(&calls)], &results, &[assistant("done"), user("go on")]]);
    let call = fold_messages(&messages, &eager(), &Carry::New);
    oracle::one_call(&call).unwrap();
    assert_eq!(call.edits().len(), 10);
    for (at, (_, path)) in uses.iter().rev().enumerate() {
        assert!(call.text(2 + at).contains(path), "each result keeps lines of its own file");
    }
}

/// Of ten results of one batch the last six are kept: their call stays before them, and the other four keep their places.
fn what_is_kept_of_a_batch_keeps_its_call() {
    let ids: Vec<String> = (0..10).map(|at| format!("c{at}")).collect();
    let uses: Vec<_> = ids.iter().map(|id| (id.as_str(), "read", json!({ "path": id }))).collect();
    let results: Vec<_> = ids.iter().map(|id| result(id, &lines(id, 40))).collect();
    let messages = history(&[&[user("go"), asks(&uses)], &results, &[assistant("done"), user("so")]]);
    let keep: Vec<usize> = (6..12).collect();
    let call = fold_messages(&messages, &merged(&eager(), &json!({ "pins": keep })), &Carry::New);
    assert_eq!(call.edits().iter().map(|edit| edit.message).collect::<Vec<_>>(), [2, 3, 4, 5]);
    assert_eq!((call.output[1].clone(), &call.output()[6..]), (messages[1].clone(), &messages[6..]));
    assert_eq!((twin::current().faults)(&call.sent.body), Vec::<String>::new());
}

/// However small the budget, each call has its result and each result its call, at every call of a long history.
fn pairs_stay_whatever_the_budget() {
    let round = |at: usize| {
        let [one, two] = [format!("a{at}"), format!("b{at}")];
        let both = asks(&[(&one, "read", json!({ "path": one })), (&two, "bash", json!({ "command": format!("./{two}") }))]);
        [both, result(&two, &lines(&two, 30)), result(&one, &lines(&one, 30))]
    };
    let messages = history(&[&[system("rules"), user("go")], &(0..12).flat_map(round).collect::<Vec<_>>()]);
    for budget in [1, 1000, 5000] {
        let options = merged(&eager(), &json!({ "budgetTokens": budget, "protectRecentTurns": 1 }));
        for call in carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| options.clone()) {
            oracle::one_call(&call).unwrap();
            assert_eq!((twin::current().faults)(&call.sent.body), Vec::<String>::new(), "with {budget} tokens");
        }
    }
}

/// A result that answers nothing is the same to every pass: none shortens it, and none lets it stand in for another. A call that nothing
/// answers shows and changes nothing.
fn orphans_are_orphans_on_every_path() {
    let (text, read) = (lines("the same", 60), json!({ "path": "f" }));
    let orphan = result("nobody", &text);
    let rounds = [
        exchange("a", "read", read.clone(), &text).to_vec(),
        vec![orphan.clone(), asks(&[("never", "write", json!({ "path": "f", "content": "x" }))]), user("stop")],
        exchange("b", "read", json!({ "path": "g" }), &text).to_vec(),
        vec![asks(&[("lost", "read", read)]), user("so"), assistant("ok"), user("and")],
    ];
    let messages = history(&[&[user("go")], &rounds.concat()]);
    let at = messages.iter().position(|message| *message == orphan).expect("it is there");
    let paths = [
        json!({}),
        json!({ "maxToolResultBytes": 1_000_000, "elideStaleReads": true }),
        json!({ "when": "pays", "budgetTokens": null }),
        json!({ "model": { "contextWindow": 1000 }, "completionReserve": 0 }),
    ];
    for path in paths {
        let call = fold_messages(&messages, &merged(&eager(), &path), &Carry::New);
        oracle::one_call(&call).unwrap();
        assert_eq!(call.output[at], orphan, "{path}");
        assert!(call.edits().iter().all(|edit| edit.target.as_ref().is_none_or(|target| target.message != at)), "{path}: {:?}", call.edits());
        assert!(call.edits().iter().all(|edit| ["truncated", "duplicate"].contains(&edit.rule.as_str())), "{path}: {:?}", call.edits());
    }
}

/// Only one result of a batch is old enough to be cut: the other stays, and both stay where they are.
fn half_a_batch_may_be_shortened() {
    let batch =
        [asks(&[("a", "read", json!({ "path": "a" })), ("b", "todo_write", json!({}))]), result("a", &lines("a", 40)), result("b", &lines("b", 40))];
    let call = fold_messages(&history(&[&[user("x")], &batch, &[assistant("y"), user("z")]]), &eager(), &Carry::New);
    oracle::one_call(&call).unwrap();
    assert_eq!(call.edits().iter().map(|edit| edit.message).collect::<Vec<_>>(), [2]);
}

/// A server that gives every call the same id: each result belongs to the call before it, and none is lost or taken for a copy.
fn a_constant_id_does_not_make_results_alike() {
    let rounds: Vec<_> =
        (0..5).flat_map(|at| exchange("x", "read", json!({ "path": format!("{at}.rs") }), &lines(&format!("file {at}"), 30))).collect();
    let call = fold_messages(&history(&[&[user("go")], &rounds, &[assistant("done"), user("more")]]), &eager(), &Carry::New);
    oracle::one_call(&call).unwrap();
    let edits = call.edits();
    assert_eq!(edits.len(), 5);
    assert!(edits.iter().all(|edit| edit.rule == "truncated"), "five files are no copies of each other: {edits:?}");
}

/// A counter that starts again: results go to their own call, so a later read of another file supersedes nothing.
fn a_reused_id_belongs_to_the_nearest_call() {
    let first = exchange("call_1", "read", json!({ "path": "old.rs" }), &lines("old", 30));
    let second = exchange("call_1", "grep", json!({ "pattern": "old.rs" }), &lines("new", 30));
    let call = fold_messages(&history(&[&[user("go")], &first, &[user("again")], &second, &[assistant("so"), user("ok")]]), &eager(), &Carry::New);
    let tools: Vec<_> = call.edits().iter().map(|edit| edit.tool.clone().unwrap()).collect();
    assert_eq!(tools, ["read", "grep"]);
    assert!(call.edits().iter().all(|edit| edit.rule == "truncated"));
}

/// Ids that differ each time the history is encoded reject no edit.
fn fresh_ids_keep_the_plan() {
    let with_ids =
        |id: &str| history(&[&[user("go")], &exchange(id, "read", json!({ "path": "a" }), &lines("a", 40)), &[assistant("so"), user("ok")]]);
    let first = fold_messages(&with_ids("one"), &eager(), &Carry::New);
    let next = fold_messages(&with_ids("two"), &eager(), &first.next());
    assert!(!next.outcome.folded && next.edits() == first.edits() && !next.edits().is_empty());
}

/// A result that answers nothing stays, and the report names it; so does a call that nothing answers.
fn orphans_stay_and_are_named() {
    let messages = history(&[&[
        user("go"),
        result("nobody", &lines("a", 60)),
        asks(&[("b", "read", json!({ "path": "b" }))]),
        user("never mind"),
        assistant("ok"),
        user("so"),
    ]]);
    let call = fold_messages(&messages, &eager(), &Carry::New);
    assert!(call.edits().is_empty() && call.output() == messages);
    let named = format!("without a tool call, the first in {}[1]", call.sent.list());
    assert!(call.says(&named), "{:?}", call.outcome.report.reasons);
}

/// A second result for a call that has one is an orphan, not a result of the call before.
fn a_call_is_answered_once() {
    let both = [asks(&[("a", "read", json!({ "path": "a" }))]), result("a", &lines("a", 40)), result("a", &lines("b", 40))];
    let call = fold_messages(&history(&[&[user("go")], &both, &[assistant("ok"), user("so")]]), &eager(), &Carry::New);
    assert_eq!(call.edits().iter().map(|edit| edit.message).collect::<Vec<_>>(), [2]);
}

/// The functions of old are paired by name.
fn a_legacy_function_is_paired_by_name() {
    let call = json!({ "role": "assistant", "content": null, "function_call": { "name": "read", "arguments": "{\"path\":\"a\"}" } });
    let answer = json!({ "role": "function", "name": "read", "content": lines("a", 40) });
    let messages = [user("go"), call, answer, assistant("ok"), user("so")];
    let folded = fold_messages(&messages, &eager(), &Carry::New);
    oracle::one_call(&folded).unwrap();
    assert_eq!(folded.edits().len(), 1);
}

/// Parallel calls that a server gave one id are answered in their order, so the texts keep their own names.
fn one_id_for_a_batch_is_answered_in_order() {
    let batch = asks(&[("x", "read", json!({ "path": "a" })), ("x", "read", json!({ "path": "b" }))]);
    let results = [result("x", &lines("a", 60)), result("x", &lines("b", 60))];
    let again = exchange("x", "read", json!({ "path": "b" }), &lines("newer b", 60));
    let messages = history(&[&[user("go"), batch], &results, &again, &[assistant("ok"), user("so")]]);
    let call = fold_messages(&messages, &merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
    let edited: Vec<usize> = call.edits().iter().map(|edit| edit.message).collect();
    assert_eq!(edited, [3], "of the two the old b is shown anew, and a is not");
}
