//! Each shape that model messages have, by hand.

use serde_json::{Value, json};
use warmfold::history::{BlockPlace, EntryKind, Role, View};
use warmfold::options::Marks;
use warmfold::wire::patch::Patch;
use warmfold::wire::{Changes, Request};
use warmfold::{Format, Tape};

use crate::support::{Carry, Sent, eager, lines, merged, try_send};
use crate::twin::ai_sdk::{TWIN, validator::faults};

fn asks(id: &str, tool: &str, input: Value) -> Value {
    json!({ "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": id, "toolName": tool, "input": input }] })
}

fn gives(id: &str, tool: &str, output: Value) -> Value {
    json!({ "role": "tool", "content": [part(id, tool, output)] })
}

fn part(id: &str, tool: &str, output: Value) -> Value {
    json!({ "type": "tool-result", "toolCallId": id, "toolName": tool, "output": output })
}

fn says(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn asked(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn eagerly(messages: &[Value]) -> Sent {
    let call = TWIN.send(&json!({ "messages": messages }), &eager(), &Carry::New);
    assert_eq!(faults(call.input()), Vec::<String>::new());
    assert_eq!(faults(call.output()), Vec::<String>::new());
    call
}

/// One exchange whose result is this output, long past; what becomes of the output.
fn output_of(output: Value) -> Value {
    let messages = [asked("go"), asks("1", "run_job", json!({})), gives("1", "run_job", output), says("done"), asked("next")];
    eagerly(&messages).output[2]["content"][0]["output"].clone()
}

fn read<T>(request: &Value, told: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(request.to_string()).unwrap();
    told(&Format::AiSdk.read(&Request::of(tape.root()), request["block"].as_str()).unwrap())
}

#[test]
fn texts_are_shortened_where_they_stand() {
    let options = json!({ "anthropic": { "kept": true } });
    for kind in ["text", "error-text"] {
        let output = output_of(json!({ "type": kind, "value": lines("out", 100), "providerOptions": options, "more": 1 }));
        assert!(output["value"].as_str().unwrap().contains(" elided"), "{output}");
        assert_eq!((&output["type"], &output["providerOptions"], &output["more"]), (&json!(kind), &options, &json!(1)));
    }
}

/// What is sent of a value is its JSON text; what is left of it is text.
#[test]
fn values_become_texts() {
    let options = json!({ "anthropic": {} });
    for (kind, expected) in [("json", "text"), ("error-json", "error-text")] {
        let value = json!({ "stdout": lines("out", 100), "code": 0 });
        let output = output_of(json!({ "type": kind, "value": value, "providerOptions": options }));
        let text = output["value"].as_str().unwrap();
        assert!(text.contains("\n{\"code\":0,\"stdout\":\"out, line 0: ") && text.contains(" elided"), "{text}");
        assert_eq!((&output["type"], &output["providerOptions"]), (&json!(expected), &options));
    }
    let short = json!({ "type": "json", "value": { "ok": 1.0 } });
    assert_eq!(output_of(short.clone()), short);
}

#[test]
fn of_a_list_the_texts_are_shortened() {
    let media = [
        json!({ "type": "media", "data": "aGk=".repeat(900), "mediaType": "image/png" }),
        json!({ "type": "file-data", "data": "aGk=".repeat(900), "mediaType": "application/pdf" }),
        json!({ "type": "image-url", "url": "https://example.com/a.png" }),
        json!({ "type": "file", "mediaType": "image/png", "data": { "type": "data", "data": "aGk=" } }),
        json!({ "type": "custom", "providerOptions": { "anthropic": { "type": "tool-reference" } } }),
    ];
    let text = |about: &str| json!({ "type": "text", "text": lines(about, 50), "providerOptions": { "x": {} } });
    let items = [vec![text("first")], media.to_vec(), vec![text("second")]].concat();
    let output = output_of(json!({ "type": "content", "value": items }));
    let shortened = output["value"].as_array().unwrap();
    assert_eq!(shortened[1..6], media);
    for at in [0, 6] {
        assert!(shortened[at]["text"].as_str().unwrap().contains(" elided"), "{}", shortened[at]);
        assert_eq!(shortened[at]["providerOptions"], json!({ "x": {} }));
    }
}

/// Parallel calls: results in one message, each by its own call, in whatever order, beside approvals.
#[test]
fn results_of_one_message_are_entries_of_their_own() {
    let call = |id: &str, tool: &str| json!({ "type": "tool-call", "toolCallId": id, "toolName": tool, "input": { "path": id } });
    let request = |id: &str| json!({ "type": "tool-approval-request", "approvalId": "p", "toolCallId": id });
    let content = json!([
        { "type": "tool-approval-response", "approvalId": "p", "approved": true },
        part("b", "run_job", json!({ "type": "text", "value": lines("b", 60) })),
        part("c", "run_job", json!({ "type": "execution-denied", "reason": "no" })),
        part("a", "read_file", json!({ "type": "content", "value": [{ "type": "text", "text": lines("a", 60) }, { "type": "text", "text": "end" }] })),
    ]);
    let messages = [
        asked("go"),
        json!({ "role": "assistant", "content": [call("a", "read_file"), call("b", "run_job"), request("b"), call("c", "run_job")] }),
        json!({ "role": "tool", "content": content }),
        says("done"),
        asked("next"),
    ];
    read(&json!({ "messages": messages }), |view| {
        let results: Vec<_> =
            view.entries.iter().filter(|entry| entry.kind == EntryKind::Result).map(|entry| (entry.part, view.tool_of(entry))).collect();
        assert_eq!(results, [(1, Some("run_job")), (3, Some("read_file")), (4, Some("read_file"))]);
        assert_eq!(view.messages[2].role, Role::Tool);
    });
    let call = eagerly(&messages);
    let parts = &call.output[2]["content"];
    assert!(
        parts[1]["output"]["value"].as_str().unwrap().contains(" elided")
            && parts[3]["output"]["value"][0]["text"].as_str().unwrap().contains("call read_file again")
    );
    assert_eq!((&parts[0], &parts[2], &parts[3]["output"]["value"][1]), (&content[0], &content[2], &content[3]["output"]["value"][1]));
    assert_eq!(call.edits().iter().map(|edit| edit.part).collect::<Vec<_>>(), [1, 3]);
}

/// What the provider's own tools gave goes back as it came: it is signed, or encrypted.
#[test]
fn results_of_the_provider_stay() {
    let searched = json!({ "role": "assistant", "content": [
        { "type": "tool-call", "toolCallId": "s", "toolName": "web_search", "input": { "query": "x" }, "providerExecuted": true },
        part("s", "web_search", json!({ "type": "json", "value": [{ "encryptedContent": lines("secret", 100) }] })),
        { "type": "text", "text": "found" }
    ] });
    let messages = [asked("go"), searched, asked("and?"), says("done"), asked("next")];
    let call = eagerly(&messages);
    assert_eq!(call.output(), messages);
    read(&json!({ "messages": messages }), |view| assert!(view.messages[1].fixed.bytes > 2000 && view.by_id.clone().answer("s").is_none()));
}

/// Only where nothing hangs on it.
#[test]
fn reasoning_goes_where_the_provider_can_do_without() {
    let thought = |options: Value| json!({ "type": "reasoning", "text": lines("thought", 30), "providerOptions": options });
    let text = json!({ "type": "text", "text": "done" });
    let signed = || thought(json!({ "anthropic": { "signature": "c2ln" } }));
    let message = |content: &[Value]| json!({ "role": "assistant", "content": content });
    let of = |content: &[Value]| {
        let mut messages = vec![asked("go"), message(content)];
        if content.iter().any(|part| part["type"] == "tool-call") {
            messages.push(gives("1", "read_file", json!({ "type": "text", "value": "x" })));
        }
        messages.extend([asked("more"), says("ok"), asked("next")]);
        let call = eagerly(&messages);
        call.output[1]["content"].clone()
    };
    assert_eq!(of(&[signed(), text.clone(), signed()]), json!([text]));
    let call = json!({ "type": "tool-call", "toolCallId": "1", "toolName": "read_file", "input": {} });
    let item = thought(json!({ "openai": { "itemId": "rs_1", "reasoningEncryptedContent": null } }));
    let file = json!({ "type": "reasoning-file", "data": "aGk=", "mediaType": "image/png" });
    assert_eq!(of(&[signed(), call.clone()]), json!([call]), "the user has ended the loop of calls");
    let foreign = thought(json!({ "groq": {} }));
    let stay: [&[Value]; 4] = [&[foreign.clone(), call.clone()], &[signed(), foreign, call], &[item, text.clone()], &[file, text]];
    for content in stay {
        assert_eq!(of(content), json!(content));
    }
    let alone = [asked("go"), message(&[signed()]), asked("more"), says("ok"), asked("next")];
    let call = TWIN.send(&json!({ "messages": alone }), &eager(), &Carry::New);
    assert_eq!(call.output(), alone, "a message is never left empty");
}

#[test]
fn files_weigh_what_they_weigh() {
    let base64 = "A".repeat(400_000);
    let weight = |part: Value| read(&json!({ "messages": [{ "role": "user", "content": [part] }] }), |view| view.messages[0].fixed.tokens);
    let image = weight(json!({ "type": "image", "image": base64 }));
    assert!((500..2000).contains(&image), "{image}");
    assert_eq!(weight(json!({ "type": "file", "mediaType": "image/png", "data": base64 })), image);
    assert_eq!(weight(json!({ "type": "file", "mediaType": "image", "data": { "type": "url", "url": "https://example.com" } })), image);
    for media_type in ["application/pdf", "audio/mp3"] {
        let tokens = weight(json!({ "type": "file", "mediaType": media_type, "data": base64 }));
        assert!((100..20_000).contains(&tokens), "{media_type}: {tokens}");
    }
}

fn anthropic() -> Value {
    json!({ "cacheControl": { "type": "ephemeral" } })
}

fn marked(messages: &[Value], options: Value) -> Sent {
    let call = TWIN.send(&json!({ "messages": messages }), &merged(&json!({ "marks": "anthropic", "milestoneTokens": 5 }), &options), &Carry::New);
    assert_eq!(faults(call.output()), Vec::<String>::new());
    call
}

/// On the message where its content is a string, else on the last part that can hold one; other options stay.
#[test]
fn marks_are_provider_options() {
    let own = json!({ "anthropic": { "effort": "low" }, "openai": { "x": 1 } });
    let messages = [
        json!({ "role": "system", "content": "rules" }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "hi", "providerOptions": own }, { "type": "file", "data": "x", "mediaType": "image/png" }] }),
        asks("1", "read_file", json!({})),
        gives("1", "read_file", json!({ "type": "json", "value": { "a": 1 } })),
    ];
    let call = marked(&messages, json!({}));
    assert_eq!(call.output[0], json!({ "role": "system", "content": "rules", "providerOptions": { "anthropic": anthropic() } }));
    let merged = json!({ "anthropic": { "effort": "low", "cacheControl": { "type": "ephemeral" } }, "openai": { "x": 1 } });
    assert_eq!(call.output[1]["content"][0]["providerOptions"], merged);
    assert_eq!(call.output[2], messages[2], "tool calls hold none");
    assert_eq!(call.output[3]["content"][0]["providerOptions"], json!({ "anthropic": anthropic() }));
    assert_eq!(call.output[3]["content"][0]["output"], messages[3]["content"][0]["output"]);
    let hour = marked(&messages[..2], json!({ "cache": "anthropic-1h" }));
    assert_eq!(hour.output[0]["providerOptions"]["anthropic"]["cacheControl"]["ttl"], "1h");
}

/// Blank texts, reasoning and pictures hold none.
#[test]
fn marks_stand_on_what_says_something() {
    let content = json!([{ "type": "reasoning", "text": "t" }, { "type": "text", "text": "hi" }, { "type": "text", "text": " " }, { "type": "file", "data": "x", "mediaType": "image/png" }]);
    let call = marked(&[asked("go"), json!({ "role": "assistant", "content": content })], json!({}));
    let marks: Vec<_> = call.output[1]["content"].as_array().unwrap().iter().map(|part| part.get("providerOptions").is_some()).collect();
    assert_eq!(marks, [false, true, false, false]);
}

/// OpenAI's provider reads a system message's options, else those of parts, and of a list those of its items.
#[test]
fn openai_has_its_own_marks() {
    let item = |text: &str| json!({ "type": "text", "text": text });
    let messages = [
        json!({ "role": "system", "content": "rules" }),
        asked("hi"),
        asks("1", "read_file", json!({})),
        gives("1", "read_file", json!({ "type": "content", "value": [item("a"), { "type": "image-url", "url": "https://example.com" }] })),
        says("ok"),
        asked("next"),
    ];
    let call = marked(&messages, json!({ "marks": "openai", "milestoneTokens": 1 }));
    let options = json!({ "openai": { "promptCacheBreakpoint": { "mode": "explicit" } } });
    assert_eq!(call.output[0]["providerOptions"], options);
    assert_eq!(call.output[1]["content"], json!([{ "type": "text", "text": "hi", "providerOptions": options }]));
    assert_eq!(call.output[3]["content"][0]["output"]["value"][0]["providerOptions"], options);
    assert_eq!(call.output[3]["content"][0].get("providerOptions"), None);
    assert_eq!(call.output[5], messages[5], "the last one is set by OpenAI");
}

#[test]
fn the_callers_marks_count() {
    let own = json!({ "anthropic": anthropic() });
    let mark = |mut node: Value| {
        node["providerOptions"] = own.clone();
        node
    };
    let messages = [
        mark(json!({ "role": "system", "content": "rules" })),
        json!({ "role": "user", "content": [mark(json!({ "type": "text", "text": "hi" }))] }),
        asks("1", "read_file", json!({})),
        json!({ "role": "tool", "content": [mark(part("1", "read_file", json!({ "type": "text", "value": "x" })))] }),
        says("ok"),
        asked("one"),
        says("two"),
        asked("three"),
    ];
    let count = |call: &Sent| call.output.to_string().matches("cacheControl").count();
    assert_eq!(count(&marked(&messages, json!({}))), 4);
    let request = json!({ "messages": &messages[4..], "system": mark(json!({ "role": "system", "content": "rules" })), "tools": [mark(json!({ "name": "t" }))] });
    let call = TWIN.send(&request, &json!({ "marks": "anthropic", "milestoneTokens": 1 }), &Carry::New);
    assert_eq!(count(&call), 2);
}

/// What the caller set for several providers is one mark.
#[test]
fn options_for_several_providers_are_one_mark() {
    let options = json!({ "anthropic": anthropic(), "bedrock": { "cachePoint": { "type": "default" } }, "openai": { "promptCacheBreakpoint": { "mode": "explicit" } } });
    read(&json!({ "messages": [{ "role": "user", "content": "hi", "providerOptions": options }] }), |view| assert_eq!(view.host_marks.len(), 1));
}

/// The patches of what stands before the messages, carried out on the request.
fn before(request: &Value, mark_system: bool) -> (BlockPlace, Value) {
    read(request, |view| {
        let changes = Changes {
            edits: &[],
            segments: &[],
            block: request["block"].as_str(),
            marks: &[],
            mark_block: false,
            mark_system,
            dialect: Marks::Anthropic,
            hour: false,
        };
        let (patches, _): (Vec<Patch>, _) = Format::AiSdk.apply(view, &changes).unwrap();
        let mut sent = request.clone();
        patches.iter().for_each(|patch| patch.apply_to(&mut sent));
        (view.block, sent)
    })
}

/// A text, a system message, or several.
#[test]
fn a_system_prompt_that_stands_apart_takes_block_and_mark() {
    let system = |text: &str| json!({ "role": "system", "content": text });
    let options = json!({ "anthropic": anthropic() });
    let with = |mut message: Value| {
        message["providerOptions"] = options.clone();
        message
    };
    let cases = [
        (json!("rules"), json!("rules\n\nblock"), with(system("rules\n\nblock"))),
        (system("rules"), system("rules\n\nblock"), with(system("rules\n\nblock"))),
        (json!([system("a"), system("b")]), json!([system("a"), system("b\n\nblock")]), json!([system("a"), with(system("b\n\nblock"))])),
    ];
    for (prompt, blocked, both) in cases {
        let request = json!({ "system": prompt, "messages": [asked("hi")], "block": "block" });
        assert_eq!(before(&request, false), (BlockPlace::Apart, merged(&request, &json!({ "system": blocked }))));
        assert_eq!(before(&request, true).1["system"], both);
        assert_eq!(before(&merged(&request, &json!({ "system": blocked })), false).0, BlockPlace::Nowhere, "it is there");
    }
    let tools = json!([{ "name": "a" }, { "name": "b" }]);
    let request = json!({ "tools": tools, "messages": [asked("hi")] });
    assert_eq!(before(&request, true).1["tools"], json!([{ "name": "a" }, { "name": "b", "providerOptions": options }]));
}

/// What is no tool holds no mark, and none is told of.
#[test]
fn a_list_of_no_tools_holds_no_mark() {
    for tools in [json!([null]), json!([]), json!([{ "name": "t" }, "t"])] {
        let request = json!({ "messages": [asked("hi")], "tools": tools });
        let sent = TWIN.send(&request, &json!({ "marks": "anthropic" }), &Carry::New);
        assert_eq!((sent.outcome.marks.len(), &sent.body["tools"]), (1, &tools));
    }
}

#[test]
fn the_format_is_told_from_its_shape() {
    let recognised = |messages: Value| {
        let request = json!({ "messages": messages });
        let tape = Tape::from_json(request.to_string()).unwrap();
        Format::recognise(&Request::of(tape.root())).map_err(|error| error.to_string())
    };
    assert_eq!(recognised(json!([asked("hi")])), Ok(Format::OpenaiChat));
    let shapes = [
        asks("1", "t", json!({})),
        gives("1", "t", json!({ "type": "text", "value": "x" })),
        json!({ "role": "user", "content": "hi", "providerOptions": {} }),
        json!({ "role": "user", "content": [{ "type": "image", "image": "x" }] }),
        json!({ "role": "user", "content": [{ "type": "file", "data": "x", "mediaType": "text/plain" }] }),
        json!({ "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "1", "approved": true }] }),
    ];
    for shape in shapes {
        assert_eq!(recognised(json!([asked("hi"), shape])), Ok(Format::AiSdk));
    }
    let chat = [
        json!({ "role": "tool", "tool_call_id": "1", "content": "x" }),
        json!({ "role": "user", "content": [{ "type": "file", "file": { "file_data": "x" } }] }),
        json!({ "role": "developer", "content": "x" }),
    ];
    for shape in chat {
        assert_eq!(recognised(json!([shape])), Ok(Format::OpenaiChat));
        assert!(recognised(json!([asks("1", "t", json!({})), shape])).is_err() || shape["role"] == "user");
    }
    assert_eq!(recognised(json!([{ "role": "user", "parts": [{ "text": "x" }] }])), Ok(Format::Gemini));
}

/// Broken messages are refused by name, never by a panic.
#[test]
fn what_is_no_message_is_refused() {
    let options = json!({ "format": "ai-sdk" });
    let refused = |message: Value| try_send(&json!({ "messages": [message] }), &options, &Carry::New).unwrap_err().to_string();
    assert!(refused(json!("x")).starts_with("messages[0]: "));
    assert!(refused(json!({ "content": "x" })).starts_with("messages[0].role: "));
    for message in [json!({ "role": "tool", "content": "x" }), json!({ "role": "system", "content": [] }), json!({ "role": "user", "content": 1 })] {
        assert!(refused(message).starts_with("messages[0].content: "));
    }
    let odd = json!([null, 1, "x", [], {}, { "type": "tool-result" }, { "type": "tool-result", "output": 1 }, { "type": "tool-result", "output": { "type": "json" } },
        { "type": "tool-result", "output": { "type": "content", "value": [null, { "type": "text" }] } }, { "type": "tool-call" }, { "type": "text", "text": 1 }]);
    for role in ["user", "assistant", "tool", "critic"] {
        let message = json!({ "role": role, "content": odd });
        let call = TWIN.send(&json!({ "messages": [message, asked("hi")] }), &eager(), &Carry::New);
        assert_eq!(call.output[0], message);
    }
}
