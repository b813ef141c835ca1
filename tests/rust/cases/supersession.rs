//! Copies and later reads: what stands in for what.

use serde_json::{Value, json};

use crate::oracle;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    a_later_read_supersedes,
    a_stub_supersedes_nothing covers 21,
    an_error_supersedes_nothing,
    ranges_must_cover covers 22,
    prose_is_no_part_of_a_resource,
    later_copies_give_way,
    no_two_results_give_way_to_each_other,
    the_latest_read_of_an_active_file_is_whole covers 23,
    of_many_reads_only_the_last_is_whole,
    refetches_are_counted covers 23,
    a_failed_read_in_any_spelling_supersedes_nothing,
    a_copy_behind_something_else_is_news,
    a_failed_result_is_never_a_line_alone,
    reads_of_one_batch_supersede_each_other_never,
}

/// Folds two uses of `tool` and returns the rules of the edits, by message.
fn rules_of(tool: &str, first: (Value, &str), second: (Value, &str)) -> Vec<(usize, String)> {
    let messages =
        history(&[&[user("go")], &exchange("a", tool, first.0, first.1), &exchange("b", tool, second.0, second.1), &[assistant("ok"), user("so")]]);
    let call = fold_messages(&messages, &merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
    oracle::one_call(&call).unwrap();
    call.edits().into_iter().map(|edit| (edit.message, edit.rule)).collect()
}

fn superseded() -> Vec<(usize, String)> {
    vec![(2, "superseded".to_owned())]
}

/// A later whole read of the same file supersedes the earlier one, which becomes one line that points on.
fn a_later_read_supersedes() {
    let (old, new) = (lines("old", 80), lines("new", 80));
    assert_eq!(rules_of("read", (json!({ "path": "f" }), &old), (json!({ "path": "f" }), &new)), superseded());
    assert_eq!(rules_of("read", (json!({ "path": "f" }), &old), (json!({ "path": "g" }), &new)), []);
    assert_eq!(rules_of("bash", (json!({ "path": "f" }), &old), (json!({ "path": "f" }), &new)), [], "what runs is no read");
}

/// "Unchanged since the last read" is no text: what it refers to stays.
fn a_stub_supersedes_nothing() {
    for stub in ["unchanged since last read", "File has not been modified since you read it.", "Content already in context; see above."] {
        assert_eq!(rules_of("read", (json!({ "path": "f" }), &lines("old", 300)), (json!({ "path": "f" }), stub)), [], "{stub}");
    }
}

/// A failed read stands in for nothing.
fn an_error_supersedes_nothing() {
    for error in [
        "Error: file not found",
        "ENOENT: no such file",
        "Traceback (most recent call last):\n  boom",
        "{\"error\": \"gone\"}",
        "<tool_use_error>gone</tool_use_error>",
    ] {
        let padded = format!("{error}\n{}", lines("details", 20));
        assert_eq!(rules_of("read", (json!({ "path": "f" }), &lines("old", 80)), (json!({ "path": "f" }), &padded)), [], "{error}");
    }
}

/// A part does not stand in for the whole; the whole does for a part, and a range for one inside it.
fn ranges_must_cover() {
    let range = |offset: u32, limit: u32| json!({ "path": "f", "offset": offset, "limit": limit });
    let whole = || json!({ "path": "f" });
    let (old, new) = (lines("old", 80), lines("new", 80));
    let rules = |first: Value, second: Value| rules_of("read", (first, &old), (second, &new));
    assert_eq!(rules(whole(), range(200, 50)), []);
    assert_eq!(rules(range(200, 50), whole()), superseded());
    assert_eq!(rules(range(200, 50), range(100, 500)), superseded());
    assert_eq!(rules(range(200, 50), range(220, 50)), []);
    assert_eq!(rules(json!({ "path": "f", "view_range": [1, 50] }), json!({ "path": "f", "view_range": [1, -1] })), superseded());
    assert_eq!(
        rules(json!({ "path": "f", "start_line": 10, "end_line": 20 }), json!({ "path": "f", "start_line": 1, "end_line": 20 })),
        superseded()
    );
}

/// What an agent tells about its reasons is no part of the resource; any other argument is.
fn prose_is_no_part_of_a_resource() {
    let (old, new) = (lines("old", 80), lines("new", 80));
    let with = |name: &str, value: &str| json!({ "path": "f", (name): value });
    assert_eq!(rules_of("read", (with("explanation", "to look"), &old), (with("explanation", "again"), &new)), superseded());
    assert_eq!(rules_of("read", (with("encoding", "utf8"), &old), (with("encoding", "latin1"), &new)), []);
}

/// The first copy stays, later ones become a line; two tools that say the same are no copies.
fn later_copies_give_way() {
    let text = lines("the same", 80);
    let same = rules_of("bash", (json!({ "command": "./a" }), &text), (json!({ "command": "./a -v" }), &text));
    assert_eq!(same, [(4, "duplicate".to_owned())]);
    let messages =
        history(&[&[user("go")], &exchange("a", "grep", json!({}), &text), &exchange("b", "bash", json!({}), &text), &[assistant("ok"), user("so")]]);
    let call = fold_messages(&messages, &merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
    assert!(call.edits().is_empty());
}

/// Read, copy, read anew: no two entries give way to each other, and one of them is still whole.
fn no_two_results_give_way_to_each_other() {
    let text = lines("the same", 80);
    let rounds: Vec<Value> = (0..6).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": "f" }), &text)).collect();
    for options in [json!({}), json!({ "collapseDuplicateResults": false }), json!({ "elideSupersededReads": false })] {
        let options = merged(&merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &options);
        let call = fold_messages(&history(&[&[user("go")], &rounds, &[assistant("ok"), user("so")]]), &options, &Carry::New);
        oracle::one_call(&call).unwrap();
        assert_eq!(call.edits().len(), 5, "{options}");
    }
}

/// Active files under a small budget: what was just read again is whole, so nobody needs to read it a third time.
fn the_latest_read_of_an_active_file_is_whole() {
    let rounds: Vec<Value> = (0..8)
        .flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": format!("{}.rs", at % 2) }), &lines(&format!("version {at}"), 60)))
        .collect();
    let options = json!({ "preset": "spec", "budgetTokens": 5500, "protectRecentTurns": 4 });
    let messages = history(&[&[user("go")], &rounds]);
    let calls = carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| options.clone());
    for call in &calls {
        let edited: Vec<usize> = call.edits().iter().map(|edit| edit.message).collect();
        let recent = call.input().len().saturating_sub(4);
        assert!(edited.iter().all(|at| *at < recent), "{edited:?} of {}", call.input().len());
    }
    assert!(!calls.last().unwrap().edits().is_empty() && calls.last().unwrap().outcome.report.refetches == 0);
}

/// A file that is read at every step: only the last read is whole, not every second one that an older edit happens to point at.
fn of_many_reads_only_the_last_is_whole() {
    let rounds: Vec<Value> =
        (0..8).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": "f" }), &lines(&format!("version {at}"), 60))).collect();
    let messages = history(&[&[user("go")], &rounds, &[assistant("ok"), user("so")]]);
    let options = merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 }));
    let calls = carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| options.clone());
    let edited: Vec<usize> = calls.last().unwrap().edits().iter().map(|edit| edit.message).collect();
    assert_eq!(edited, [2, 4, 6, 8, 10, 12, 14]);
}

/// A call made again for what was taken out is counted: the signal that a setting is too eager.
fn refetches_are_counted() {
    let first = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "f" }), &lines("f", 80)), &[assistant("ok"), user("so")]]);
    let folded = fold_messages(&first, &eager(), &Carry::New);
    assert_eq!(folded.outcome.report.refetches, 0);
    let again =
        history(&[&first, &exchange("b", "read", json!({ "path": "f" }), &lines("f", 80)), &exchange("c", "read", json!({ "path": "g" }), "x")]);
    assert_eq!(fold_messages(&again, &merged(&eager(), &json!({ "when": "never" })), &folded.next()).outcome.report.refetches, 1);
}

/// Errors come in many spellings, some of them long, some as a field beside the text.
fn a_failed_read_in_any_spelling_supersedes_nothing() {
    let long = lines("what the server had to say", 8);
    for start in [
        "MCP error -32603: ",
        "{\"success\":false,\"error\":\"",
        "FileNotFoundError: [Errno 2] ",
        "Tool execution failed: ",
        "The user doesn't want to proceed with this tool use. ",
        "<html><head><title>502 Bad Gateway</title>",
    ] {
        let failed = format!("{start}{long}");
        assert_eq!(rules_of("read", (json!({ "path": "f" }), &lines("old", 300)), (json!({ "path": "f" }), &failed)), [], "{start}");
    }
    for (key, value) in [("is_error", json!(true)), ("status", json!("error"))] {
        let mut failed = exchange("b", "read", json!({ "path": "f" }), &long);
        failed[1][key] = value;
        let messages =
            history(&[&[user("go")], &exchange("a", "read", json!({ "path": "f" }), &lines("old", 300)), &failed, &[assistant("ok"), user("so")]]);
        let call = fold_messages(&messages, &merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
        assert_eq!(call.edits().len(), 0, "{key}");
    }
}

/// Read, change, read, change back, read: the last says what the first said, but the one in between says otherwise, so it stays.
fn a_copy_behind_something_else_is_news() {
    let (old, new) = (lines("old", 60), lines("new", 60));
    let run = |id: &str, text: &str| exchange(id, "run_tests", json!({}), text);
    let messages = |texts: &[&str]| {
        let rounds: Vec<Value> = texts.iter().enumerate().flat_map(|(at, text)| run(&format!("c{at}"), text)).collect();
        history(&[&[user("go")], &rounds, &[assistant("ok"), user("so")]])
    };
    let edited = |texts: &[&str]| {
        let options = merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 }));
        fold_messages(&messages(texts), &options, &Carry::New).edits().into_iter().map(|edit| edit.message).collect::<Vec<_>>()
    };
    assert_eq!(edited(&[&old, &new, &old]), [0usize; 0]);
    assert_eq!(edited(&[&old, &old, &new]), [4]);
    assert_eq!(edited(&[&old, &new, &old, &old]), [8], "of the run behind the change the first stays");
}

/// A line in place of a failed result would hide that it failed: it keeps its first words, whatever came before or after.
fn a_failed_result_is_never_a_line_alone() {
    let failed = format!("Error: 3 of 80 tests failed\n{}", lines("what failed", 80));
    let said = |mut exchange: [Value; 2]| {
        exchange[1]["is_error"] = json!(true);
        exchange
    };
    let read = |id: &str, text: &str| exchange(id, "read", json!({ "path": "f" }), text);
    let edit = exchange("e", "edit", json!({ "file_path": "f", "old_string": "a", "new_string": "b" }), "done");
    let test = |id: &str, text: &str| exchange(id, "run_tests", json!({}), text);
    let plain = lines("what it said", 80);
    let rounds: [(&str, [[Value; 2]; 2]); 7] = [
        ("failed twice", [test("a", &failed), test("b", &failed)]),
        ("failed twice, as the host says", [said(test("a", &plain)), said(test("b", &plain))]),
        ("failed once, as the host says", [said(test("a", &plain)), test("b", &plain)]),
        ("then it can be read", [read("a", &failed), read("b", &plain)]),
        ("then it can be read, as the host says", [said(read("a", &plain)), read("b", &plain)]),
        ("then it is written", [read("a", &failed), edit.clone()]),
        ("then it is written, as the host says", [said(read("a", &plain)), edit]),
    ];
    for (what, rounds) in rounds {
        let messages = history(&[&[user("go")], &rounds.concat(), &[assistant("ok"), user("so")]]);
        // At once, and of what truncation left.
        let options = merged(&eager(), &json!({ "elideStaleReads": true }));
        let whole = fold_messages(&messages, &merged(&options, &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
        assert!(whole.edits().is_empty(), "{what}: {:?}", whole.edits());
        let cut = carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| options.clone());
        for edit in cut.iter().flat_map(|call| call.edits()) {
            assert_eq!(edit.rule, "truncated", "{what}: {edit:?}");
        }
        let first = cut.last().unwrap().text(2);
        assert!(first.contains(&failed[..100]) || first.contains(&plain[..100]), "{what}: {first}");
    }
}

/// Of two reads in one batch nobody knows which is newer: neither stands in for the other, in whichever order they come. An older read
/// gives way to them.
fn reads_of_one_batch_supersede_each_other_never() {
    let part = || json!({ "path": "f", "offset": 10, "limit": 20 });
    let whole = || json!({ "path": "f" });
    for (asked, came) in [(["part", "whole"], ["part", "whole"]), (["part", "whole"], ["whole", "part"]), (["whole", "part"], ["part", "whole"])] {
        let batch = asks(&asked.map(|id| (id, "read", if id == "part" { part() } else { whole() })));
        let results = came.map(|id| result(id, &lines(id, 80)));
        let older = exchange("a", "read", part(), &lines("old", 80));
        let messages = history(&[&[user("go")], &older, &[batch], &results, &[assistant("ok"), user("so")]]);
        let call = fold_messages(&messages, &merged(&eager(), &json!({ "maxToolResultBytes": 1_000_000 })), &Carry::New);
        oracle::one_call(&call).unwrap();
        let edits: Vec<(usize, String)> = call.edits().into_iter().map(|edit| (edit.message, edit.rule)).collect();
        assert_eq!(edits, superseded(), "{asked:?}, {came:?}");
    }
}
