//! The system prompt stands apart: what goes to its end, and the marks on what stands before the messages.

use serde_json::{Value, json};
use warmfold::options::Marks;
use warmfold::planner::Given;
use warmfold::wire::{Changes, Request};
use warmfold::{Format, Tape};

use super::{folded, spliced};
use crate::support::{Carry, try_send, user};

fn with_block(system: Value) -> Value {
    let request = json!({ "system": system, "messages": [user("hi")] });
    let folded = folded(&request, &json!({ "contextBlock": "notes" }), &Carry::New);
    assert_eq!(spliced(&request.to_string(), &folded.outcome.patches), folded.body);
    assert_eq!(folded.body["messages"], request["messages"]);
    folded.body["system"].clone()
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[test]
fn a_context_block_goes_to_its_end() {
    assert_eq!(with_block(json!("rules")), "rules\n\nnotes");
    assert_eq!(with_block(json!("")), "notes");
    assert_eq!(with_block(json!([text("rules")])), json!([text("rules"), text("notes")]));
    assert_eq!(with_block(json!([])), json!([text("notes")]));
}

/// Where the messages tell nothing yet, what stands beside them does.
#[test]
fn what_stands_beside_the_messages_tells_the_format() {
    let recognised = |more: Value| {
        let request = crate::support::merged(&serde_json::json!({ "messages": [user("hi")] }), &more);
        Format::recognise(&Request::of(Tape::from_json(request.to_string()).unwrap().root())).unwrap()
    };
    let tools = |tool: Value| json!({ "tools": [tool] });
    assert_eq!(recognised(json!({})), Format::OpenaiChat);
    assert_eq!(recognised(json!({ "system": "rules" })), Format::Anthropic);
    assert_eq!(recognised(tools(json!({ "name": "read", "input_schema": {} }))), Format::Anthropic);
    assert_eq!(recognised(tools(json!({ "type": "function", "function": { "name": "read" } }))), Format::OpenaiChat);
    assert_eq!(recognised(json!({ "tools": { "read": { "inputSchema": {} } } })), Format::AiSdk);
    let mixed = json!({ "messages": [{ "role": "tool", "tool_call_id": "1", "content": "x" }], "tools": [{ "input_schema": {} }] });
    assert_eq!(recognised(mixed), Format::OpenaiChat, "what the messages say goes first");
}

#[test]
fn one_that_is_there_is_recognised() {
    for system in [json!("rules\n\nnotes"), json!("notes"), json!([text("rules"), text("notes")]), json!([text("rules\n\nnotes")])] {
        assert_eq!(with_block(system.clone()), system);
    }
    assert_eq!(with_block(json!("take notes")), "take notes\n\nnotes");
}

/// It is counted as reading it back counts it.
#[test]
fn it_is_counted() {
    for system in [json!("rules"), json!([text("rules")])] {
        let tokens = |request: Value, options: Value| folded(&request, &options, &Carry::New).outcome.report.tokens_before;
        let request = |system: Value| json!({ "system": system, "messages": [user("hi")] });
        let before = tokens(request(system.clone()), json!({}));
        let with = tokens(request(system.clone()), json!({ "contextBlock": "notes ".repeat(100) }));
        let as_one = tokens(request(json!(format!("rules\n\n{}", "notes ".repeat(100)))), json!({}));
        assert!(with > before + 100 && with.abs_diff(as_one) < 12, "{before}, {with}, {as_one}");
    }
}

#[test]
fn without_a_system_prompt_it_becomes_one() {
    let request = json!({ "messages": [user("hi")], "max_tokens": 1 });
    for (marks, system) in
        [("none", json!("notes")), ("anthropic", json!([{ "type": "text", "text": "notes", "cache_control": { "type": "ephemeral" } }]))]
    {
        let folded = folded(&request, &json!({ "contextBlock": "notes", "marks": marks }), &Carry::New);
        assert_eq!(folded.body["system"], system);
        assert_eq!(spliced(&request.to_string(), &folded.outcome.patches), folded.body);
    }
}

/// With messages alone there is nowhere to put it.
#[test]
fn with_messages_alone_it_is_refused() {
    let options = json!({ "format": "anthropic", "contextBlock": "notes" });
    for request in [json!({ "messages": [user("hi")] }), json!({ "messages": [user("hi")], "system": "rules" })] {
        let tape = Tape::from_json(request.to_string()).unwrap();
        let request = Request { is_whole: false, ..Request::of(tape.root()) };
        let fault = warmfold::fold::fold(&request, &warmfold::Options::from_json(options.clone()).unwrap(), Given::New).unwrap_err();
        assert_eq!((fault.code().as_str(), fault.path()), ("invalid_option", "options.contextBlock"));
        assert!(fault.message().contains("foldRequest"), "{}", fault.message());
    }
    let odd = try_send(&json!({ "system": 7, "messages": [user("hi")] }), &options, &Carry::New).unwrap_err();
    assert_eq!((odd.code().as_str(), odd.path()), ("invalid_message", "system"));
}

/// A change to it is a cold call.
#[test]
fn it_is_part_of_what_is_cached() {
    let request = |system: Value| json!({ "system": system, "messages": [user("hi")] });
    let first = folded(&request(json!("rules")), &json!({}), &Carry::New);
    assert!(!folded(&request(json!("rules")), &json!({}), &first.next()).outcome.report.cold);
    assert!(folded(&request(json!("other rules")), &json!({}), &first.next()).outcome.report.cold);
}

/// What stands before the messages gets a mark of its own.
fn marked(request: &Value, block: Option<&str>, hour: bool) -> Value {
    let text = request.to_string();
    let tape = Tape::from_json(&text).unwrap();
    let view = Format::Anthropic.read(&Request::of(tape.root()), block).unwrap();
    let changes = Changes { edits: &[], segments: &[], block, marks: &[], mark_block: false, mark_system: true, dialect: Marks::Anthropic, hour };
    let (patches, places) = Format::Anthropic.apply(&view, &changes).unwrap();
    assert!(places.is_empty());
    let mut sent = request.clone();
    patches.iter().for_each(|patch| patch.apply_to_request(&mut sent, "messages"));
    assert_eq!(spliced(&text, &patches), sent);
    sent
}

#[test]
fn a_mark_stands_on_its_last_text() {
    let five = json!({ "type": "ephemeral" });
    let with = |text: &str, mark: &Value| json!({ "type": "text", "text": text, "cache_control": mark });
    let system = |system: Value| json!({ "system": system, "messages": [user("hi")] });
    let sent = |request: Value, block| marked(&request, block, false)["system"].clone();
    assert_eq!(sent(system(json!("rules")), None), json!([with("rules", &five)]));
    assert_eq!(sent(system(json!("rules")), Some("notes")), json!([with("rules\n\nnotes", &five)]));
    assert_eq!(sent(system(json!([text("a"), text("b"), text(" ")])), None), json!([text("a"), with("b", &five), text(" ")]));
    assert_eq!(sent(system(json!([text("a")])), Some("notes")), json!([text("a"), with("notes", &five)]));
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    assert_eq!(marked(&system(json!("rules")), None, true)["system"], json!([with("rules", &hour)]));
    let own = system(json!([with("rules", &hour)]));
    assert_eq!(marked(&own, None, false), own, "the caller's stays as it is");
}

/// With no system prompt the tools are what stands first; one that is loaded later is no part of them.
#[test]
fn else_on_the_last_tool() {
    let tools = json!([{ "name": "a" }, { "name": "b" }, { "name": "c", "defer_loading": true }]);
    let sent = marked(&json!({ "tools": tools, "messages": [user("hi")] }), None, false);
    assert_eq!(
        sent["tools"],
        json!([{ "name": "a" }, { "name": "b", "cache_control": { "type": "ephemeral" } }, { "name": "c", "defer_loading": true }])
    );
    for empty in [
        json!({ "messages": [] }),
        json!({ "tools": [], "messages": [] }),
        json!({ "system": "", "tools": [], "messages": [] }),
        json!({ "system": [], "messages": [] }),
        json!({ "system": { "a": {} }, "tools": { "a": {} }, "messages": [] }),
    ] {
        assert_eq!(marked(&empty, None, false), empty);
    }
}
