//! `wire`: where the host's context block goes.

use serde_json::{Value, json};

use crate::support::*;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn with_block(messages: &[Value], more: Value) -> Sent {
    send_messages(messages, &merged(&json!({ "contextBlock": "notes" }), &more), &Carry::New)
}

#[test]
fn it_is_appended_to_the_leading_system_run() {
    let later = system("a later rule");
    let call = with_block(&[system("one"), json!({ "role": "developer", "content": "two" }), user("hi"), later.clone()], json!({}));
    assert_eq!(call.text(1), "two\n\nnotes");
    assert_eq!((call.text(0), &call.output[3]), ("one", &later));
}

#[test]
fn without_a_system_message_it_becomes_one() {
    let call = with_block(&[user("hi"), system("a later rule")], json!({}));
    assert_eq!(call.output[0], system("notes"));
    assert_eq!((call.output().len(), &call.outcome.breakpoints), (3, &vec![0, 2]));
    assert_eq!(with_block(&[], json!({})).output, json!([system("notes")]));
}

#[test]
fn it_becomes_a_part_among_parts() {
    let rules = json!({ "role": "system", "content": [{ "type": "text", "text": "rules" }] });
    let call = with_block(&[rules, user("hi")], json!({}));
    assert_eq!(call.output[0]["content"], json!([{ "type": "text", "text": "rules" }, { "type": "text", "text": "notes" }]));
}

#[test]
fn an_empty_system_message_takes_it_alone() {
    for content in [json!(""), Value::Null] {
        let call = with_block(&[json!({ "role": "system", "content": content }), user("hi")], json!({}));
        assert_eq!(call.text(0), "notes");
    }
    let call = with_block(&[json!({ "role": "system", "content": [] }), user("hi")], json!({}));
    assert_eq!(call.output[0]["content"], json!([{ "type": "text", "text": "notes" }]));
}

/// A host that sends back what it was given gets no second copy.
#[test]
fn one_that_is_there_is_recognised() {
    for first in [with_block(&[system("rules"), user("hi")], json!({})), with_block(&[user("hi")], json!({}))] {
        let again = with_block(first.output(), json!({}));
        assert_eq!(again.output, first.output);
        assert!(again.outcome.patches.is_empty());
    }
}

#[test]
fn an_empty_block_is_none() {
    let call = send_messages(&[user("hi")], &json!({ "contextBlock": "" }), &Carry::New);
    assert!(call.outcome.patches.is_empty());
}

/// A prepended block shifts what is returned, so indices of the report are those of the returned messages; the plan's are the history's.
#[test]
fn a_prepended_block_shifts_indices() {
    let messages = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a" }), &lines("a", 40)), &[assistant("ok"), user("so")]]);
    let call = send_messages(&messages, &merged(&eager(), &json!({ "contextBlock": "notes" })), &Carry::New);
    assert_eq!(call.outcome.report.folded_from, Some(3));
    assert_eq!(call.edits()[0].message, 2);
    assert!(call.text(3).starts_with('['));
}

#[test]
fn it_can_carry_a_mark() {
    let marked = json!({ "type": "text", "text": "notes", "cache_control": { "type": "ephemeral" } });
    let call = with_block(&[user("hi")], json!({ "marks": "anthropic" }));
    assert_eq!(call.output[0]["content"], json!([marked]));
    let rules = json!({ "role": "system", "content": [{ "type": "text", "text": "rules" }] });
    let call = with_block(&[rules, user("hi")], json!({ "marks": "anthropic" }));
    assert_eq!(call.output[0]["content"][1], marked);
}

/// A block that happens to occur in the prompt is not there yet; one that the host has put at the end is.
#[test]
fn only_a_block_at_the_end_is_there_already() {
    let with = |text: &str| send_messages(&[system(text), user("hi")], &json!({ "contextBlock": "Python" }), &Carry::New).text(0).to_owned();
    assert_eq!(with("You are a Python expert."), "You are a Python expert.\n\nPython");
    assert_eq!(with("You are an expert.\n\nPython"), "You are an expert.\n\nPython");
}

/// A system prompt outside the messages cannot be added to.
#[test]
fn a_block_beside_a_separate_system_prompt_is_refused() {
    let request = json!({ "messages": [user("hi")], "system": "rules" });
    let fault = try_send(&request, &json!({ "contextBlock": "B", "format": "openai-chat" }), &Carry::New).err().unwrap();
    assert_eq!((fault.code().as_str(), fault.path()), ("invalid_option", "options.contextBlock"));
}
