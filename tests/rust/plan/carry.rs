//! `plan::carry`: which edits find their text again.

use serde_json::{Value, json};
use warmfold::plan::carry::{Carried, carry};
use warmfold::tape::{self, Tape};
use warmfold::wire::Request;
use warmfold::{Format, Plan};

use crate::support::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A history of reads that say these words; results are the messages 2, 4, 6, …
fn reads(texts: &[&str]) -> Vec<Value> {
    let rounds: Vec<Value> =
        texts.iter().enumerate().flat_map(|(at, text)| exchange(&format!("c{at}"), "read", json!({ "path": "f" }), text)).collect();
    history(&[&[user("go")], &rounds])
}

fn edit(message: usize, text: &str) -> Value {
    let fingerprint = tape::hex(tape::fingerprint(text));
    json!({ "message": message, "part": 0, "tool": "read", "fingerprint": fingerprint, "rule": "truncated", "since": 9, "pieces": [format!("[cut {message}]")] })
}

/// The same, for a copy of an earlier text.
fn duplicate(message: usize, text: &str, target: usize) -> Value {
    let print = tape::hex(tape::fingerprint(text));
    merged(&edit(message, text), &json!({ "rule": "duplicate", "target": { "message": target, "part": 0, "fingerprint": print } }))
}

/// Carries edits; gives back what was written at which message, and what became of the rest.
fn carried(messages: &[Value], edits: &[Value]) -> (Vec<(usize, String)>, Carried) {
    let tape = Tape::from_json(json!({ "messages": messages }).to_string()).unwrap();
    let view = Format::OpenaiChat.read(&Request::of(tape.root()), None).unwrap();
    let plan = Plan::from_json(json!({ "version": 1, "format": "openai-chat", "edits": edits })).unwrap();
    let carried = carry(&view, &plan);
    let written = |(entry, edit): &(usize, _)| {
        let edit = serde_json::to_value(edit).unwrap();
        assert_eq!(edit["message"], view.entries[*entry].message);
        (view.entries[*entry].message, edit["pieces"][0].as_str().unwrap().to_owned())
    };
    (carried.standing.edits.iter().map(written).collect(), carried)
}

fn cuts(cuts: &[(usize, usize)]) -> Vec<(usize, String)> {
    cuts.iter().map(|(at, from)| (*at, format!("[cut {from}]"))).collect()
}

#[test]
fn edits_in_place_are_carried() {
    let (written, carried) = carried(&reads(&["a", "b", "c"]), &[edit(2, "a"), edit(6, "c")]);
    assert_eq!(written, cuts(&[(2, 2), (6, 6)]));
    assert_eq!((carried.dropped, carried.moved, carried.changed_from), (0, 0, None));
}

#[test]
fn a_changed_text_drops_its_edit() {
    let (written, carried) = carried(&reads(&["a", "other", "c"]), &[edit(2, "a"), edit(4, "b"), edit(6, "c")]);
    assert_eq!(written, cuts(&[(2, 2), (6, 6)]));
    assert_eq!((carried.dropped, carried.moved, carried.changed_from), (1, 0, Some(4)));
}

#[test]
fn shifted_texts_take_their_edits_along() {
    let (written, carried) = carried(&reads(&["new", "a", "b"]), &[edit(2, "a"), edit(4, "b")]);
    assert_eq!(written, cuts(&[(4, 2), (6, 4)]));
    assert_eq!((carried.dropped, carried.moved, carried.changed_from), (0, 2, Some(2)));
}

/// Of two edits whose texts changed places only one can be carried in order.
#[test]
fn the_order_of_edits_is_kept() {
    let (written, carried) = carried(&reads(&["x", "b", "a"]), &[edit(2, "a"), edit(6, "b")]);
    assert_eq!(written, cuts(&[(6, 2)]));
    assert_eq!(carried.dropped, 1);
}

/// An edit that still lies where it lay stays, though an earlier one would find its text only behind it.
#[test]
fn one_that_moved_does_not_push_out_one_that_stands() {
    let (written, _) = carried(&reads(&["changed", "b", "a"]), &[edit(2, "a"), edit(4, "b")]);
    assert_eq!(written, cuts(&[(4, 4)]));
}

/// In a history that shifted, the copy is still the copy and the first still the first.
#[test]
fn a_shifted_copy_keeps_its_edit() {
    let (written, _) = carried(&reads(&["new", "same", "same"]), &[duplicate(4, "same", 2)]);
    assert_eq!(written, cuts(&[(6, 4)]));
}

#[test]
fn a_copy_whose_first_is_gone_is_whole_again() {
    let (written, carried) = carried(&reads(&["other", "same"]), &[duplicate(4, "same", 2)]);
    assert_eq!((written, carried.dropped), (cuts(&[]), 1));
}

/// A superseded read whose superseder is gone, or stands before it, is whole again.
#[test]
fn a_superseded_read_needs_its_superseder_behind_it() {
    let superseded = |message: usize, text: &str, target: usize| {
        let print = tape::hex(tape::fingerprint("new"));
        merged(&edit(message, text), &json!({ "rule": "superseded", "target": { "message": target, "part": 0, "fingerprint": print } }))
    };
    assert_eq!(carried(&reads(&["old", "new"]), &[superseded(2, "old", 4)]).0, cuts(&[(2, 2)]));
    assert_eq!(carried(&reads(&["x", "old", "new"]), &[superseded(2, "old", 4)]).0, cuts(&[(4, 2)]));
    assert_eq!(carried(&reads(&["old"]), &[superseded(2, "old", 4)]).0, cuts(&[]));
    assert_eq!(carried(&reads(&["new", "old"]), &[superseded(4, "old", 2)]).0, cuts(&[]));
}

/// Thousands of equal texts are no reason to hang.
#[test]
fn many_equal_texts_are_carried_in_linear_time() {
    let texts = vec!["same"; 3000];
    let edits: Vec<Value> = (0..3000).map(|at| edit(at * 2 + 1, "same")).collect();
    let (_, carried) = carried(&reads(&texts), &edits);
    assert_eq!(carried.standing.edits.len() + carried.dropped, 3000);
}

/// Of the results of one batch nobody knows which came first: a change among them makes no read of it stale.
#[test]
fn a_change_in_the_same_batch_makes_nothing_stale() {
    let print = |text: &str| tape::hex(tape::fingerprint(text));
    let stale = merged(&edit(2, "old"), &json!({ "rule": "stale", "target": { "message": 3, "part": 0, "fingerprint": print("done") } }));
    let read = ("r", "read", json!({ "path": "f" }));
    let write = ("w", "write", json!({ "path": "f" }));
    let batch = [user("go"), asks(&[read.clone(), write.clone()]), result("r", "old"), result("w", "done")];
    assert_eq!(carried(&batch, std::slice::from_ref(&stale)).0, cuts(&[]));
    let later = [user("go"), asks(&[read]), result("r", "old"), asks(&[write]), result("w", "done")];
    assert_eq!(carried(&later, &[stale]).0, cuts(&[(2, 2)]));
}

/// Reasoning, system and user texts take no edit that a plan claims for them.
#[test]
fn only_results_and_reasoning_take_edits() {
    let claims = |message: usize, text: &str, rule: &str, tool: Value| {
        let edit = merged(&edit(message, text), &json!({ "rule": rule, "tool": tool }));
        carried(&[system("rules"), user("go"), assistant("so")], &[edit]).0
    };
    for (message, text) in [(0, "rules"), (1, "go"), (2, "so")] {
        for rule in ["truncated", "reasoning"] {
            assert_eq!(claims(message, text, rule, Value::Null), cuts(&[]), "message {message}, {rule}");
        }
    }
}
