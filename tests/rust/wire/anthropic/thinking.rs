//! Thinking goes as whole blocks or stays, with its signature, and never where the provider needs it.

use serde_json::{Value, json};

use super::{folded, read, spliced};
use crate::support::{Carry, Sent, eager, merged, user};

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
fn dropped(messages: Value, more: Value) -> Sent {
    let request = json!({ "messages": messages });
    let folded = folded(&request, &merged(&merged(&eager(), &json!({ "dropReasoning": true })), &more), &Carry::New);
    assert_eq!(spliced(&request.to_string(), &folded.outcome.patches), folded.body);
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
    assert_eq!(folded.body["messages"][1], answers(&[text("b"), text("c")]));
    assert_eq!(folded.body["messages"][3], messages[3], "that of the latest answer stays");
    let edits = folded.edits();
    assert_eq!((edits.len(), edits[0].part, edits[0].rule.as_str()), (1, 0, "reasoning"));
}

fn calls(kind: &str, id: &str) -> Value {
    answers(&[thought(), json!({ "type": kind, "id": id, "name": "read", "input": {} }), text("so")])
}

fn results(id: &str, beside: &[Value]) -> Value {
    let result = json!({ "type": "tool_result", "tool_use_id": id, "content": "hello" });
    json!({ "role": "user", "content": ([&[result], beside].concat()) })
}

/// CASES 17 and 18: that of a call stays with it as long as the loop of calls is open, whatever the user says beside a result.
#[test]
fn thinking_of_an_open_loop_stays() {
    for kind in ["tool_use", "server_tool_use", "mcp_tool_use"] {
        let messages = json!([
            user("a"),
            calls(kind, "a"),
            results("a", &[]),
            calls(kind, "b"),
            results("b", &[text("and hurry")]),
            calls(kind, "c"),
            results("c", &[])
        ]);
        assert_eq!(dropped(messages.clone(), json!({})).body["messages"], messages, "{kind}");
    }
}

/// The user speaks, and the loop is over: its thinking may go. That of the next loop stays until then.
#[test]
fn thinking_of_a_loop_that_is_over_goes() {
    let mut messages = vec![user("a"), calls("tool_use", "a"), results("a", &[]), calls("tool_use", "b"), results("b", &[]), user("d")];
    messages.extend([calls("tool_use", "e"), results("e", &[]), answers(&[thought(), text("f")])]);
    let folded_at = |messages: &[Value]| dropped(json!(messages), json!({}));
    let without = |at: usize| {
        let content = &messages[at]["content"];
        json!({ "role": "assistant", "content": [content[1], content[2]] })
    };
    assert_eq!(folded_at(&messages[..5]).body["messages"], json!(messages[..5]), "it is open");
    let sent = folded_at(&messages[..8]).body;
    assert_eq!((&sent["messages"][1], &sent["messages"][3]), (&without(1), &without(3)));
    assert_eq!(sent["messages"][6], messages[6], "the next one is open");
    let sent = folded_at(&messages).body;
    assert_eq!(sent["messages"][6], messages[6], "no user has spoken since");
}

/// A plan that dropped it is carried into a history that was cut back into the loop: the provider needs it again.
#[test]
fn thinking_comes_back_when_its_loop_is_open_again() {
    let messages = [user("a"), calls("tool_use", "a"), results("a", &[]), user("d"), answers(&[text("f")]), user("g")];
    let options = merged(&eager(), &json!({ "dropReasoning": true }));
    let later = folded(&json!({ "messages": messages }), &options, &Carry::New);
    assert_eq!(later.edits().len(), 1);
    let back = folded(&json!({ "messages": messages[..3] }), &options, &later.next());
    assert_eq!((back.body["messages"].clone(), back.edits().len()), (json!(messages[..3]), 0));
    assert!(back.says("1 edit dropped"), "{:?}", back.outcome.report.reasons);
}

/// An answer is never left empty, nor with blank text alone.
#[test]
fn thinking_that_is_all_of_an_answer_stays() {
    for rest in [vec![], vec![text(" ")], vec![redacted()]] {
        let messages = json!([user("a"), answers(&[vec![thought()], rest].concat()), user("b"), answers(&[text("c")]), user("d")]);
        assert_eq!(dropped(messages.clone(), json!({})).body["messages"], messages);
    }
}

/// A mark on an answer that loses its thinking is told where it stands then.
#[test]
fn marks_move_with_their_block() {
    let long = text(&"words and more words. ".repeat(40));
    let messages = json!([user("a"), answers(&[thought(), long, redacted()]), user(&"d ".repeat(400)), answers(&[text("e")]), user("f")]);
    let folded = dropped(messages, json!({ "marks": "anthropic", "milestoneTokens": 230 }));
    let mark = folded.outcome.marks.iter().find(|mark| mark.at.message() == Some(1)).expect("a milestone stands there");
    assert_eq!(mark.part, Some(0));
    assert_eq!(folded.body["messages"][1]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
    assert_eq!(folded.body["messages"][1]["content"].as_array().unwrap().len(), 1);
}

/// What came back without its thinking is no reason to fold again.
#[test]
fn a_history_that_lost_it_settles() {
    let messages = json!([user("a"), answers(&[thought(), text("b")]), user("d"), answers(&[text("e")]), user("f")]);
    let once = dropped(messages, json!({}));
    let again = dropped(once.body["messages"].clone(), json!({}));
    assert_eq!(again.body, once.body);
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
    use warmfold::history::Required;
    assert_eq!(required, [(1, Required::Never), (2, Required::InLoop), (3, Required::Always)]);
}
