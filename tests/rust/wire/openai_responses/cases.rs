//! The rows of CASES that have a shape of their own among items.

use serde_json::{Value, json};

use super::{call, fold_items, output, thought};
use crate::support::{Carry, assistant, eager, lines, merged, send, user};
use crate::twin::openai_responses::validator::faults;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// 1 and 3: calls of one answer, results in another order.
#[test]
fn parallel_calls_keep_their_results() {
    let items = [
        user("go"),
        thought("1"),
        call("a", "run", json!({ "n": 1 })),
        call("b", "run", json!({ "n": 2 })),
        output("b", lines("b", 60)),
        output("a", lines("a", 60)),
        assistant("done"),
        user("so"),
    ];
    let folded = fold_items(&items, &eager());
    assert_eq!(folded.edits().iter().map(|edit| edit.message).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(faults(&folded.body), vec![]);
}

/// 5 and 6: a server that gives all calls one id, within an answer and over answers.
#[test]
fn one_id_for_all_calls() {
    let round = |n: usize| [call("x", "read", json!({ "path": format!("{n}.rs") })), call("x", "run", json!({ "n": n }))];
    let results = |n: usize| [output("x", lines(&format!("file {n}"), 60)), output("x", lines(&format!("run {n}"), 60))];
    let items: Vec<Value> =
        [vec![user("go")], (0..3).flat_map(|n| [round(n), results(n)].concat()).collect(), vec![assistant("done"), user("so")]].concat();
    let folded = fold_items(&items, &eager());
    let tools: Vec<(usize, String)> = folded.edits().iter().map(|edit| (edit.message, edit.tool.clone().unwrap_or_default())).collect();
    let expected: Vec<(usize, String)> = (0..3).flat_map(|n| [(3 + 4 * n, "read".to_owned()), (4 + 4 * n, "run".to_owned())]).collect();
    assert_eq!(tools, expected);
}

/// 18: reasoning goes with its call, and with its message, both ways; whatever is asked for.
#[test]
fn reasoning_stays_with_what_follows() {
    let answer =
        |id: &str| [thought(id), json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant", "content": "done" }), user("so")];
    let asks = |id: &str| [thought(id), call(id, "run", json!({ "n": id })), output(id, lines(id, 60))];
    let items: Vec<Value> = [vec![user("go")], asks("1").to_vec(), answer("2").to_vec(), asks("3").to_vec(), answer("4").to_vec()].concat();
    let folded = fold_items(&items, &merged(&eager(), &json!({ "dropReasoning": true })));
    assert_eq!(folded.edits().len(), 2);
    assert_eq!(faults(&folded.body), vec![]);
}

/// 26: screenshots in results stay, and count as images.
#[test]
fn images_in_results_stay() {
    let shot = |n: usize| json!([{ "type": "input_text", "text": lines(&n.to_string(), 40) }, { "type": "input_image", "image_url": format!("data:image/png;base64,{}", "A".repeat(50_000)) }]);
    let items: Vec<Value> = [user("go")]
        .into_iter()
        .chain((0..30).flat_map(|n| [call(&n.to_string(), "look", json!({ "n": n })), output(&n.to_string(), shot(n))]))
        .collect();
    let folded = fold_items(&items, &eager());
    assert!(folded.outcome.report.tokens_before < 30 * 2000);
    assert_eq!(folded.body.to_string().matches("data:image").count(), 30);
    assert_eq!(folded.edits().len(), 29);
}

/// 30: the same history with fresh ids keeps its plan.
#[test]
fn fresh_ids_keep_the_plan() {
    let items = |prefix: &str| {
        let id = |n: usize| format!("{prefix}{n}");
        let steps = (0..4).flat_map(|n| [thought(&id(n)), call(&id(n), "run", json!({ "n": n })), output(&id(n), lines(&n.to_string(), 60))]);
        let items: Vec<Value> = [user("go")].into_iter().chain(steps).collect();
        json!({ "input": items })
    };
    let first = send(&items("a"), &eager(), &Carry::New);
    let again = send(&items("b"), &eager(), &first.next());
    assert!(!first.edits().is_empty() && !again.outcome.folded);
    assert_eq!(again.edits(), first.edits());
}

/// A read that is shown anew, and a patch that makes one out of date, among items.
#[test]
fn reads_give_way_to_newer_ones() {
    let read = |id: &str| [call(id, "read", json!({ "path": "src/a.rs" })), output(id, lines(id, 60))];
    let patch = [
        json!({ "type": "apply_patch_call", "call_id": "p", "status": "completed", "operation": { "type": "update_file", "path": "src/b.rs", "diff": "@@\n-1\n+2" } }),
        json!({ "type": "apply_patch_call_output", "call_id": "p", "status": "completed" , "output": "patched" }),
    ];
    let shell = [
        json!({ "type": "shell_call", "call_id": "s", "action": { "commands": ["cat src/b.rs"] } }),
        json!({ "type": "shell_call_output", "call_id": "s", "output": [{ "stdout": lines("b", 60), "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } }] }),
    ];
    let options = json!({ "preset": "thrifty", "protectRecentTurns": 0, "protectQuotedCalls": 0, "minSavedBytes": 20,
        "byKind": { "read": { "protectCalls": 0, "maxBytes": 1_000_000 } }, "cache": { "read": 1, "write": 1, "ttlMs": 300_000 } });
    let items = [&[user("go")][..], &read("1"), &shell, &patch, &read("2"), &[assistant("done"), user("so")]].concat();
    let folded = fold_items(&items, &options);
    let rules: Vec<(usize, String)> = folded.edits().into_iter().map(|edit| (edit.message, edit.rule)).collect();
    assert_eq!(rules, [(2, "superseded".to_owned()), (4, "stale".to_owned())]);
    assert_eq!(faults(&folded.body), vec![]);
}
