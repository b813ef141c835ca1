//! A carried plan meets a history that is not the one it was made for.

use serde_json::{Value, json};

use crate::oracle;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    an_edited_message_loses_its_edit_alone covers 29,
    inserted_messages_move_edits_along covers 29,
    a_fork_keeps_what_it_shares covers 29,
    deleted_messages_take_their_edits_along covers 29,
    the_tool_must_agree,
    a_plan_of_another_conversation_is_dropped_whole covers 29,
    an_edit_renders_what_the_plan_says covers 29,
    a_plan_survives_a_store,
    a_broken_plan_is_refused_with_its_path,
    spans_outside_the_text_apply_nowhere,
}

/// Three long reads, a chat about them, and the plan that shortens all three.
fn folded() -> (Vec<Value>, Call) {
    let rounds: Vec<Value> =
        (0..3).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": format!("{at}.rs") }), &lines(&format!("file {at}"), 40))).collect();
    let messages = history(&[&[user("go")], &rounds, &[assistant("ok"), user("the newest question")]]);
    let call = fold_messages(&messages, &eager(), &Carry::New);
    assert_eq!(addresses(&call), [2, 4, 6]);
    (messages, call)
}

fn addresses(call: &Call) -> Vec<usize> {
    call.edits().iter().map(|edit| edit.message).collect()
}

/// Folds a changed history with the plan and without new edits.
fn carry_to(messages: &[Value], plan: &Call) -> Call {
    let call = fold_messages(messages, &json!({ "when": "never" }), &plan.next());
    oracle::one_call(&call).unwrap();
    assert_eq!(call.output().len(), messages.len());
    call
}

/// A result that was edited by the user loses its edit, the others keep theirs.
fn an_edited_message_loses_its_edit_alone() {
    let (mut messages, plan) = folded();
    messages[4]["content"] = lines("rewritten", 40).into();
    let call = carry_to(&messages, &plan);
    assert_eq!(addresses(&call), [2, 6]);
    assert!(call.outcome.folded && call.outcome.report.edits_dropped == 1 && call.outcome.report.folded_from == Some(4));
    assert!(call.says("plan: 1 edit dropped"), "{:?}", call.outcome.report.reasons);
}

/// Messages inserted before or between move edits with their text; the user's last message is still there.
fn inserted_messages_move_edits_along() {
    let (messages, plan) = folded();
    for at in 0..3 {
        let mut longer = messages.clone();
        longer.insert(at * 2 + 1, user("by the way"));
        let call = carry_to(&longer, &plan);
        let moved: Vec<usize> = [2, 4, 6].into_iter().map(|message| if message > at * 2 { message + 1 } else { message }).collect();
        assert_eq!(addresses(&call), moved);
        assert_eq!(call.text(longer.len() - 1), "the newest question");
        assert!(!call.outcome.folded, "nothing was added, dropped or released");
    }
}

/// A history that was rewound and goes on otherwise keeps the edits of what is still there.
fn a_fork_keeps_what_it_shares() {
    let (messages, plan) = folded();
    let fork = history(&[&messages[..5], &[assistant("another way"), user("the newest question")]]);
    let call = carry_to(&fork, &plan);
    assert_eq!(addresses(&call), [2, 4]);
    assert_eq!(call.outcome.report.edits_dropped, 1);
}

/// Deleted exchanges take their edits along.
fn deleted_messages_take_their_edits_along() {
    let (messages, plan) = folded();
    let shorter = history(&[&messages[..1], &messages[3..]]);
    let call = carry_to(&shorter, &plan);
    assert_eq!(addresses(&call), [2, 4]);
    assert!(call.text(2).contains("file 1") && call.text(4).contains("file 2"));
}

/// Another tool with the same words is another thing.
fn the_tool_must_agree() {
    let (mut messages, plan) = folded();
    messages[1]["tool_calls"][0]["function"]["name"] = "read_other".into();
    assert_eq!(addresses(&carry_to(&messages, &plan)), [4, 6]);
}

/// A plan of one conversation is harmless in another.
fn a_plan_of_another_conversation_is_dropped_whole() {
    let (_, plan) = folded();
    let other = history(&[&[user("hi")], &exchange("a", "read", json!({ "path": "x" }), &lines("x", 40)), &[assistant("ok"), user("so")]]);
    let call = carry_to(&other, &plan);
    assert!(call.edits().is_empty() && call.output() == other);
    assert_eq!(carry_to(&[], &plan).edits(), []);
}

/// The plan holds the pieces: other options, or another version's wording, change no byte of an old edit.
fn an_edit_renders_what_the_plan_says() {
    let (messages, plan) = folded();
    let mut carried = plan.plan.clone();
    carried["edits"][0]["pieces"] = json!(["[an older version said so]\n", [0, 10]]);
    let other = json!({ "keepHeadBytes": 5, "keepTailBytes": 5, "label": "someone else", "when": "never" });
    let call = fold_messages(&messages, &other, &Carry::plan(carried));
    assert_eq!(call.text(2), "[an older version said so]\nfile 0, li");
    assert_eq!(call.text(4), plan.text(4));
}

/// A plan survives a store: written as JSON and read back it is the same plan.
fn a_plan_survives_a_store() {
    let (messages, plan) = folded();
    let stored: Value = serde_json::from_str(&plan.plan.to_string()).unwrap();
    let call = fold_messages(&messages, &eager(), &Carry::plan(stored));
    assert!(call.plan == plan.plan && call.output == plan.output && !call.outcome.folded);
}

/// What a plan cannot be is refused with the path and the way out.
fn a_broken_plan_is_refused_with_its_path() {
    let (messages, plan) = folded();
    let broken = |path: &[&str], value: Value| {
        let mut plan = plan.plan.clone();
        let at = path.iter().fold(&mut plan, |at, step| match step.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[*step],
        });
        *at = value;
        try_fold(&json!({ "messages": messages }), &json!({}), &Carry::plan(plan)).unwrap_err()
    };
    let faults = [
        (broken(&["version"], json!(99)), "plan.version"),
        (broken(&["format"], json!("telegraph")), "plan.format"),
        (broken(&["edits"], json!({})), "plan.edits"),
        (broken(&["edits", "1", "message"], json!(-1)), "plan.edits[1].message"),
        (broken(&["edits", "0", "pieces", "1"], json!([5, 2])), "plan.edits[0].pieces[1]"),
        (broken(&["edits", "2", "rule"], json!("magic")), "plan.edits[2].rule"),
        (broken(&["edits", "2", "fingerprint"], Value::Null), "plan.edits[2].fingerprint"),
    ];
    for (fault, path) in faults {
        assert_eq!((fault.code().as_str(), fault.path()), ("invalid_plan", path));
        assert!(fault.message().contains("pass the plan that the last call returned, unchanged, or null"), "{fault}");
    }
}

/// Spans that are not inside their text, or inside a character, apply nowhere.
fn spans_outside_the_text_apply_nowhere() {
    let messages = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a" }), &"深".repeat(400)), &[assistant("ok"), user("so")]]);
    let plan = fold_messages(&messages, &eager(), &Carry::New);
    for span in [json!([0, 4_000_000_000u32]), json!([0, 4]), json!([1, 3])] {
        let mut carried = plan.plan.clone();
        carried["edits"][0]["pieces"] = json!(["[x]", span]);
        let call = fold_messages(&messages, &json!({ "when": "never" }), &Carry::plan(carried));
        assert!(call.edits().is_empty() && call.output() == messages);
    }
}
