//! Every kind of item: who it is from, what of it can be shortened, what it costs.

use serde_json::{Value, json};
use warmfold::Format;
use warmfold::history::{EntryKind, Role};
use warmfold::tape::Tape;
use warmfold::wire::Request;

use super::{call, fold_items, output, thought};
use crate::support::{Carry, Sent, eager, lines, merged, send, try_send, user};
use crate::twin::openai_responses::{TWIN, validator::faults};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Reads one item; its role, how many texts it has, the name of the tool that it asks for, and its tokens.
fn read(item: Value) -> (Role, usize, Option<String>, u32) {
    let tape = Tape::from_json(json!({ "input": [item] }).to_string()).unwrap();
    let view = Format::OpenaiResponses.read(&Request::of(tape.root()), None).unwrap();
    let name = view.tool_calls.first().map(|call| call.name.to_owned());
    (view.messages[0].role, view.entries.len(), name, view.size().tokens)
}

/// Who it is from, how many texts it has, and the tool that it asks for.
type Is = (Role, usize, Option<&'static str>);

fn known_items() -> Vec<(Value, Is)> {
    use Role::{Assistant, Other, System, Tool, User};
    let part = |kind: &str| json!([{ "type": kind, "text": "hi" }]);
    let known = [
        (json!({ "role": "user", "content": "hi" }), User, 1, None),
        (json!({ "type": "message", "role": "developer", "content": part("input_text") }), System, 1, None),
        (json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": part("output_text"), "phase": "commentary" }), Assistant, 1, None),
        (json!({ "role": "assistant", "content": [{ "type": "refusal", "refusal": "no" }] }), Assistant, 0, None),
        (json!({ "role": "critic", "content": "hm" }), Other, 1, None),
        (thought("1"), Assistant, 1, None),
        (call("a", "read", json!({})), Assistant, 0, Some("read")),
        (output("a", "ok"), Tool, 1, None),
        (json!({ "type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "x" }), Assistant, 0, Some("patch")),
        (
            json!({ "type": "local_shell_call", "id": "1", "call_id": "a", "action": { "type": "exec", "command": ["ls"] } }),
            Assistant,
            0,
            Some("local_shell"),
        ),
        (json!({ "type": "shell_call", "call_id": "a", "action": { "commands": ["ls"] } }), Assistant, 0, Some("shell")),
        (
            json!({ "type": "shell_call_output", "call_id": "a", "output": [{ "stdout": "a", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } }] }),
            Tool,
            2,
            None,
        ),
        (
            json!({ "type": "apply_patch_call", "call_id": "a", "operation": { "type": "delete_file", "path": "a.rs" } }),
            Assistant,
            0,
            Some("apply_patch"),
        ),
        (json!({ "type": "apply_patch_call_output", "call_id": "a", "status": "completed" }), Tool, 0, None),
        (json!({ "type": "computer_call", "call_id": "a", "action": { "type": "screenshot" } }), Assistant, 0, Some("computer")),
        (json!({ "type": "web_search_call", "id": "1", "action": { "type": "search", "query": "x" } }), Assistant, 0, Some("web_search")),
        (json!({ "type": "file_search_call", "id": "1", "queries": ["x"], "results": [{ "text": "found" }] }), Assistant, 0, Some("file_search")),
        (
            json!({ "type": "code_interpreter_call", "id": "1", "code": "1+1", "outputs": [{ "type": "logs", "logs": "2" }] }),
            Assistant,
            0,
            Some("code_interpreter"),
        ),
        (json!({ "type": "mcp_list_tools", "server_label": "x", "tools": [] }), Assistant, 0, None),
        (json!({ "type": "mcp_call", "name": "find", "arguments": "{}", "output": "found" }), Assistant, 0, Some("find")),
        (json!({ "type": "mcp_approval_request", "name": "find", "arguments": "{}" }), Assistant, 0, None),
        (json!({ "type": "mcp_approval_response", "approval_request_id": "1", "approve": true }), User, 0, None),
        (json!({ "type": "tool_search_call", "execution": "client", "call_id": "a", "arguments": {} }), Assistant, 0, Some("tool_search")),
        (json!({ "type": "tool_search_output", "execution": "client", "call_id": "a", "tools": [] }), Tool, 0, None),
        (json!({ "type": "tool_search_output", "execution": "server", "tools": [] }), Assistant, 0, None),
        (json!({ "type": "additional_tools", "role": "developer", "tools": [] }), System, 0, None),
        (json!({ "type": "item_reference", "id": "msg_1" }), Assistant, 0, None),
        (json!({ "id": "msg_1" }), Assistant, 0, None),
        (json!({ "type": "compaction", "encrypted_content": "Z2VoZWlt" }), Assistant, 0, None),
        (json!({ "type": "of tomorrow", "content": "x" }), Other, 0, None),
    ];
    known.into_iter().map(|(item, role, texts, name)| (item, (role, texts, name))).collect()
}

/// Items of every kind, with long outputs.
#[cfg(not(target_arch = "wasm32"))]
pub fn every_item() -> Vec<Value> {
    let long = |(item, _): (Value, Is)| serde_json::from_str(&item.to_string().replace("\"ok\"", &json!(lines("x", 20)).to_string())).unwrap();
    known_items().into_iter().map(long).collect()
}

#[test]
fn what_each_item_is() {
    for (item, (role, texts, name)) in known_items() {
        let (read_role, read_texts, read_name, _) = read(item.clone());
        assert_eq!((read_role, read_texts, read_name.as_deref()), (role, texts, name), "{item}");
    }
}

/// Neither the length of their base64, nor nothing.
#[test]
fn images_and_files_have_a_size_of_their_own() {
    let url = |size: usize| format!("data:image/png;base64,{}", "A".repeat(size));
    let shots: [&dyn Fn(usize) -> Value; 5] = [
        &|size| json!({ "role": "user", "content": [{ "type": "input_image", "image_url": url(size) }] }),
        &|size| json!({ "type": "function_call_output", "call_id": "a", "output": [{ "type": "input_image", "image_url": url(size) }] }),
        &|size| json!({ "type": "computer_call_output", "call_id": "a", "output": { "type": "computer_screenshot", "image_url": url(size) } }),
        &|size| json!({ "type": "image_generation_call", "id": "1", "result": "A".repeat(size) }),
        &|size| json!({ "type": "code_interpreter_call", "id": "1", "code": "", "outputs": [{ "type": "image", "url": url(size) }] }),
    ];
    for shot in shots {
        let (small, large) = (read(shot(10)).3, read(shot(1_000_000)).3);
        assert!(small == large && (765..825).contains(&small), "{small} and {large}: {}", shot(10));
    }
    let file = read(json!({ "role": "user", "content": [{ "type": "input_file", "filename": "a.pdf", "file_data": url(60_000) }] })).3;
    assert!((1000..3000).contains(&file), "a page is {file}");
}

/// One call of a tool with a long output, and a later answer; folded.
fn shortened(asked: Value, answered: Value) -> Sent {
    let folded = fold_items(&[user("go"), asked, answered, json!({ "role": "assistant", "content": "done" }), user("so")], &eager());
    assert_eq!(faults(&folded.body), faults(&folded.request));
    folded
}

#[test]
fn texts_of_the_hosts_tools_are_shortened() {
    let text = || lines("x", 60);
    let cases = [
        (call("a", "run", json!({})), output("a", text()), 0),
        (call("a", "run", json!({})), output("a", json!([{ "type": "input_image", "image_url": "u" }, { "type": "input_text", "text": text() }])), 1),
        (
            json!({ "type": "custom_tool_call", "call_id": "a", "name": "exec", "input": "ls" }),
            json!({ "type": "custom_tool_call_output", "call_id": "a", "output": text() }),
            0,
        ),
        (
            json!({ "type": "local_shell_call", "id": "lsh_1", "call_id": "a", "status": "completed", "action": { "type": "exec", "command": ["cargo", "test"], "env": {} } }),
            json!({ "type": "local_shell_call_output", "id": "lsh_1", "output": text() }),
            0,
        ),
        (
            json!({ "type": "shell_call", "call_id": "a", "action": { "commands": ["cargo test"] } }),
            json!({ "type": "shell_call_output", "call_id": "a", "output": [
                { "stdout": "ok", "stderr": "", "outcome": { "type": "exit", "exit_code": 0 } },
                { "stdout": "", "stderr": text(), "outcome": { "type": "timeout" } }] }),
            3,
        ),
        (
            json!({ "type": "apply_patch_call", "call_id": "a", "status": "completed", "operation": { "type": "update_file", "path": "a.rs", "diff": "@@" } }),
            json!({ "type": "apply_patch_call_output", "call_id": "a", "status": "completed", "output": text() }),
            0,
        ),
    ];
    for (asked, answered, part) in cases {
        let folded = shortened(asked.clone(), answered.clone());
        let edits: Vec<(usize, usize)> = folded.edits().iter().map(|edit| (edit.message, edit.part)).collect();
        assert_eq!(edits, [(2, part)], "{asked}");
        let mut sent = folded.output[2].clone();
        let slot = (TWIN.texts)(&sent).into_iter().find(|slot| slot.part == part).unwrap();
        let cut = sent.pointer_mut(&slot.pointer).unwrap();
        assert!(cut.as_str().unwrap().contains(" elided"), "{cut}");
        *cut = text().into();
        assert_eq!(sent, answered, "nothing else has changed");
    }
}

/// What the provider ran, it knows; what the host was told of that is no result of the host's.
#[test]
fn what_the_provider_ran_is_sent_as_it_is() {
    let long = || lines("x", 60);
    let items = [
        user("go"),
        json!({ "type": "web_search_call", "id": "ws_1", "status": "completed", "action": { "type": "search", "query": long() } }),
        json!({ "type": "file_search_call", "id": "fs_1", "queries": ["x"], "results": [{ "text": long() }] }),
        json!({ "type": "code_interpreter_call", "id": "ci_1", "code": long(), "outputs": [{ "type": "logs", "logs": long() }] }),
        json!({ "type": "mcp_call", "id": "mcp_1", "name": "find", "arguments": "{}", "output": long() }),
        json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": long() }),
        json!({ "role": "assistant", "content": "done" }),
        user("so"),
        json!({ "role": "assistant", "content": "done" }),
        user("so"),
    ];
    let folded = fold_items(&items, &eager());
    assert!(folded.outcome.patches.is_empty());
    assert_eq!(folded.outcome.plan.edits.len(), 0);
}

/// The call is at the provider's: nothing tells what the result is about.
#[test]
fn a_result_whose_call_is_not_sent_stays() {
    let items = json!([output("a", lines("x", 60)), { "role": "assistant", "content": "done" }, user("so")]);
    let folded = send(&json!({ "previous_response_id": "resp_1", "input": items }), &eager(), &Carry::New);
    assert!(folded.outcome.patches.is_empty());
    assert!(folded.outcome.report.reasons.iter().any(|reason| reason.contains("without a tool call")));
}

/// What the provider adds is neither counted nor folded, so its count of tokens teaches nothing about ours.
#[test]
fn what_the_provider_keeps_is_said() {
    let items =
        json!([user("go"), call("a", "read", json!({})), output("a", lines("x", 60)), { "role": "assistant", "content": "done" }, user("so")]);
    let kept = [json!({ "previous_response_id": "resp_1" }), json!({ "conversation": { "id": "conv_1" } }), json!({ "prompt": { "id": "pmpt_1" } })];
    for more in kept {
        let request = merged(&json!({ "input": items }), &more);
        let name = more.as_object().unwrap().keys().next().unwrap();
        let first = send(&request, &json!({}), &Carry::New);
        assert!(
            first
                .outcome
                .report
                .reasons
                .contains(&format!("request: the provider adds what {name} names; only what stands in the request is counted and folded"))
        );
        let usage = json!({ "usage": { "inputTokens": 50_000, "upTo": 5 } });
        let next = send(&request, &usage, &first.next());
        assert!(next.outcome.report.reasons.contains(&"usage ignored: it counts what the provider keeps, too".to_owned()));
        assert_eq!(next.outcome.report.tokens_before, first.outcome.report.tokens_before);
    }
    let referring = json!([{ "type": "item_reference", "id": "msg_1" }, user("so")]);
    let folded = send(&json!({ "input": referring }), &json!({}), &Carry::New);
    assert!(folded.outcome.report.reasons.iter().any(|reason| reason.contains("item_reference")));
    let null = send(&json!({ "previous_response_id": null, "input": items }), &json!({}), &Carry::New);
    assert!(!null.outcome.report.reasons.iter().any(|reason| reason.starts_with("request:")));
}

#[test]
fn an_input_may_be_a_text() {
    let folded = send(&json!({ "input": "hi" }), &json!({ "marks": "openai" }), &Carry::New);
    assert_eq!((&folded.body, folded.outcome.plan.format), (&folded.request, Format::OpenaiResponses));
    assert!(folded.outcome.report.tokens_before > 0);
}

#[test]
fn faults_name_the_list_that_they_are_in() {
    let bad = json!([user("hi"), { "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}" }, 7]);
    let path = |request: Value| try_send(&request, &json!({}), &Carry::New).err().map(|error| (error.code().as_str(), error.path().to_owned()));
    assert_eq!(path(json!({ "input": bad })), Some(("invalid_message", "input[2]".to_owned())));
    assert_eq!(path(json!({ "messages": bad })), Some(("invalid_message", "messages[2]".to_owned())));
    assert_eq!(path(json!({ "input": [{}] })), Some(("missing_role", "input[0].type".to_owned())));
    assert_eq!(path(json!({ "input": [{ "role": "user", "content": 7 }] })), Some(("invalid_message", "input[0].content".to_owned())));
    assert_eq!(path(json!({ "input": null })), Some(("not_an_array", "input".to_owned())));
    assert_eq!(path(json!({ "input": 7 })), Some(("not_an_array", "input".to_owned())));
}

/// The name of the list decides, else the first item that only one format has.
#[test]
fn items_are_recognised() {
    let recognised = |request: Value| Format::recognise(&Request::of(Tape::from_json(request.to_string()).unwrap().root())).ok();
    let chat = Some(Format::OpenaiChat);
    let responses = Some(Format::OpenaiResponses);
    assert_eq!(recognised(json!({ "messages": [user("hi")] })), chat);
    assert_eq!(recognised(json!({ "input": [user("hi")] })), responses);
    assert_eq!(recognised(json!({ "input": "hi" })), responses);
    let ours = [
        call("a", "f", json!({})),
        output("a", ""),
        thought("1"),
        json!({ "type": "item_reference", "id": "x" }),
        json!({ "type": "message", "role": "user", "content": "hi" }),
    ];
    for item in ours {
        assert_eq!(recognised(json!({ "messages": [user("hi"), item] })), responses);
    }
    assert_eq!(recognised(json!({ "messages": [{ "role": "user", "content": [{ "type": "input_text", "text": "hi" }] }] })), responses);
    assert_eq!(recognised(json!({ "messages": [{ "role": "tool", "tool_call_id": "a", "content": "" }] })), chat);
    assert_eq!(recognised(json!({ "messages": [call("a", "f", json!({})), { "role": "tool", "tool_call_id": "a", "content": "" }] })), None);
}

/// An answer's items belong together: one turn, one call, one batch of tool calls.
#[test]
fn an_answer_is_a_run_of_items() {
    let answer = |id: &str| {
        [thought(id), json!({ "role": "assistant", "content": "so" }), call(id, "f", json!({ "n": id })), call(id, "f", json!({ "m": id }))]
    };
    let items =
        [vec![user("go")], answer("x").to_vec(), vec![output("x", "1"), output("x", "2")], answer("x").to_vec(), vec![output("x", "3")]].concat();
    let tape = Tape::from_json(json!({ "input": items }).to_string()).unwrap();
    let view = Format::OpenaiResponses.read(&Request::of(tape.root()), None).unwrap();
    assert_eq!(warmfold::history::turns::calls(&view), [1, 7, 12]);
    let answered: Vec<Option<usize>> = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result).map(|entry| entry.tool_call).collect();
    assert_eq!(answered, [Some(0), Some(1), Some(2)]);
    assert_eq!(warmfold::history::turns::Recent::new(&view, 1).protect_from(7), 1);
}
