//! Thinking goes as whole blocks or stays, with its signature, and never where the provider needs it.

use serde_json::{Value, json};

use super::{Folded, folded, read, spliced};
use crate::support::{Carry, eager, merged, user};

fn thought() -> Value {
    json!({ "type": "thinking", "thinking": "Let me think about it. ".repeat(40), "signature": "c2lnbmVk" })
}

fn redacted() -> Value {
    json!({ "type": "redacted_thinking", "data": "cmVk".repeat(200) })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn answers(blocks: &[Value]) -> Value {
    json!({ "role": "assistant", "content": blocks })
}

/// Folds with everything old let go of, and checks the bytes' way too.
fn dropped(messages: Value, more: Value) -> Folded {
    let request = json!({ "messages": messages });
    let folded = folded(&request, &merged(&merged(&eager(), &json!({ "dropReasoning": true })), &more), &Carry::New);
    assert_eq!(spliced(&request.to_string(), &folded.call.outcome.patches), folded.sent);
    folded
}

#[test]
fn old_thinking_goes_as_a_whole() {
    let messages = json!([
        user("a"),
        answers(&[thought(), redacted(), text("b"), thought(), text("c")]),
        user("d"),
        answers(&[thought(), text("e")]),
        user("f")
    ]);
    let folded = dropped(messages.clone(), json!({}));
    assert_eq!(folded.sent["messages"][1], answers(&[text("b"), text("c")]));
    assert_eq!(folded.sent["messages"][3], messages[3], "that of the latest answer stays");
    let edits = folded.call.edits();
    assert_eq!((edits.len(), edits[0].part, edits[0].rule.as_str()), (1, 0, "reasoning"));
}

/// CASES 17 and 18: that of a call stays with it.
#[test]
fn thinking_of_a_call_stays() {
    let asks = |kind: &str| answers(&[thought(), json!({ "type": kind, "id": "a", "name": "read", "input": {} }), text("so")]);
    for kind in ["tool_use", "server_tool_use", "mcp_tool_use"] {
        let messages = json!([user("a"), asks(kind), user("b"), answers(&[text("c")]), user("d")]);
        assert_eq!(dropped(messages.clone(), json!({})).sent["messages"], messages, "{kind}");
    }
}

/// An answer is never left empty, nor with blank text alone.
#[test]
fn thinking_that_is_all_of_an_answer_stays() {
    for rest in [vec![], vec![text(" ")], vec![redacted()]] {
        let messages = json!([user("a"), answers(&[vec![thought()], rest].concat()), user("b"), answers(&[text("c")]), user("d")]);
        assert_eq!(dropped(messages.clone(), json!({})).sent["messages"], messages);
    }
}

/// A mark on an answer that loses its thinking is told where it stands then.
#[test]
fn marks_move_with_their_block() {
    let long = text(&"words and more words. ".repeat(40));
    let messages = json!([user("a"), answers(&[thought(), long, redacted()]), user(&"d ".repeat(400)), answers(&[text("e")]), user("f")]);
    let folded = dropped(messages, json!({ "marks": "anthropic", "milestoneTokens": 230 }));
    let mark = folded.call.outcome.marks.iter().find(|mark| mark.at.message() == Some(1)).expect("a milestone stands there");
    assert_eq!(mark.part, Some(0));
    assert_eq!(folded.sent["messages"][1]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
    assert_eq!(folded.sent["messages"][1]["content"].as_array().unwrap().len(), 1);
}

/// What came back without its thinking is no reason to fold again.
#[test]
fn a_history_that_lost_it_settles() {
    let messages = json!([user("a"), answers(&[thought(), text("b")]), user("d"), answers(&[text("e")]), user("f")]);
    let once = dropped(messages, json!({}));
    let again = dropped(once.sent["messages"].clone(), json!({}));
    assert_eq!(again.sent, once.sent);
}

#[test]
fn what_is_required_is_known_while_reading() {
    let messages = json!([
        user("a"),
        answers(&[thought(), text("b")]),
        answers(&[thought(), json!({ "type": "tool_use", "id": "a", "name": "read", "input": {} })]),
        answers(&[redacted()])
    ]);
    let required = read(&json!({ "messages": messages }), |view| {
        view.entries
            .iter()
            .filter(|entry| entry.kind == warmfold::history::EntryKind::Reasoning)
            .map(|entry| (entry.message, entry.required))
            .collect::<Vec<_>>()
    });
    assert_eq!(required, [(1, false), (2, true), (3, true)]);
}
