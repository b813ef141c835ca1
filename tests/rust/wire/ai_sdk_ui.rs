//! UI messages of the AI SDK are read as the model messages that they become, and never written.

use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::planner::Given;
use warmfold::wire::Request;
use warmfold::{Format, Options, Tape};

use crate::support::{eager, lines};

fn decided(messages: &Value) -> Outcome {
    let tape = Tape::from_json(json!({ "messages": messages }).to_string()).unwrap();
    let request = Request::of(tape.root());
    fold::decide(&request, &Options::from_json(eager()).unwrap(), Given::New).unwrap()
}

/// A session with every kind of part, and what `convertToModelMessages` makes of it.
fn session() -> [Value; 2] {
    let (long, listing) = (lines("out", 80), json!({ "files": ["a", "b"], "text": lines("file", 60) }));
    let ui = json!([
        { "id": "1", "role": "system", "parts": [{ "type": "text", "text": "rules" }] },
        { "id": "2", "role": "user", "parts": [{ "type": "text", "text": "go" }, { "type": "file", "mediaType": "image/png", "url": "data:" }, { "type": "data-note", "data": {} }] },
        { "id": "3", "role": "assistant", "parts": [
            { "type": "step-start" },
            { "type": "reasoning", "text": "hm", "state": "done" },
            { "type": "tool-run_job", "toolCallId": "a", "state": "output-available", "input": { "n": 1 }, "output": long },
            { "type": "dynamic-tool", "toolName": "list_all", "toolCallId": "b", "state": "output-available", "input": {}, "output": listing },
            { "type": "source-url", "sourceId": "s", "url": "https://example.com" },
            { "type": "step-start" },
            { "type": "tool-run_job", "toolCallId": "c", "state": "output-error", "input": {}, "errorText": "no such job" },
            { "type": "tool-run_job", "toolCallId": "d", "state": "output-denied", "input": {}, "approval": { "id": "p", "approved": false } },
            { "type": "step-start" },
            { "type": "tool-run_job", "toolCallId": "e", "state": "input-streaming", "input": {} },
            { "type": "step-start" },
            { "type": "text", "text": "done", "state": "done" }
        ] },
        { "id": "4", "role": "user", "parts": [{ "type": "text", "text": "next" }] }
    ]);
    let call = |id: &str, tool: &str, input: Value| json!({ "type": "tool-call", "toolCallId": id, "toolName": tool, "input": input });
    let result = |id: &str, tool: &str, output: Value| json!({ "type": "tool-result", "toolCallId": id, "toolName": tool, "output": output });
    let model = json!([
        { "role": "system", "content": "rules" },
        { "role": "user", "content": [{ "type": "text", "text": "go" }, { "type": "file", "mediaType": "image/png", "data": "data:" }] },
        { "role": "assistant", "content": [{ "type": "reasoning", "text": "hm" }, call("a", "run_job", json!({ "n": 1 })), call("b", "list_all", json!({}))] },
        { "role": "tool", "content": [result("a", "run_job", json!({ "type": "text", "value": long })), result("b", "list_all", json!({ "type": "json", "value": listing }))] },
        { "role": "assistant", "content": [call("c", "run_job", json!({})), call("d", "run_job", json!({})), { "type": "tool-approval-request", "approvalId": "p", "toolCallId": "d" }] },
        { "role": "tool", "content": [
            result("c", "run_job", json!({ "type": "error-text", "value": "no such job" })),
            { "type": "tool-approval-response", "approvalId": "p", "approved": false },
            result("d", "run_job", json!({ "type": "error-text", "value": "Tool call execution denied." }))
        ] },
        { "role": "assistant", "content": [{ "type": "text", "text": "done" }] },
        { "role": "user", "content": [{ "type": "text", "text": "next" }] }
    ]);
    [ui, model]
}

#[test]
fn it_decides_what_is_decided_of_the_request() {
    let [ui, model] = session().map(|messages| decided(&messages));
    assert_eq!((ui.plan.format, model.plan.format), (Format::AiSdkUi, Format::AiSdk));
    let edits = |outcome: &Outcome| serde_json::to_value(&outcome.plan).unwrap()["edits"].clone();
    assert_eq!(edits(&ui), edits(&model));
    assert!(edits(&ui).as_array().unwrap().len() >= 2);
}

#[test]
fn both_read_the_same() {
    let told = |messages: &Value| {
        let tape = Tape::from_json(json!({ "messages": messages }).to_string()).unwrap();
        let request = Request::of(tape.root());
        let view = Format::recognise(&request).unwrap().read(&request, None).unwrap();
        let entries = view
            .entries
            .iter()
            .map(|entry| (entry.message, entry.part, entry.text().to_owned(), entry.failed, view.tool_of(entry).map(str::to_owned)));
        (entries.collect::<Vec<_>>(), view.messages.iter().map(|message| (message.role, message.blocks)).collect::<Vec<_>>())
    };
    let [ui, model] = session().map(|messages| told(&messages));
    assert_eq!(ui, model);
}

#[test]
fn it_is_never_written() {
    let [ui, _] = session();
    let tape = Tape::from_json(json!({ "messages": ui }).to_string()).unwrap();
    let error = fold::fold(&Request::of(tape.root()), &Options::default(), Given::New).unwrap_err();
    assert!(error.to_string().contains("convertToModelMessages"), "{error}");
}

#[test]
fn what_is_no_ui_message_is_refused() {
    let refused = |message: Value| {
        let tape = Tape::from_json(json!({ "messages": [message] }).to_string()).unwrap();
        Format::AiSdkUi.read(&Request::of(tape.root()), None).map(|_| ()).unwrap_err().path().to_owned()
    };
    assert_eq!(refused(json!(1)), "messages[0]");
    assert_eq!(refused(json!({ "parts": [] })), "messages[0].role");
    assert_eq!(refused(json!({ "role": "user", "parts": {} })), "messages[0].parts");
}
