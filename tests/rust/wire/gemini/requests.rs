//! Requests of every shape: how they are recognised, what stands beside the contents, and what is refused.

use serde_json::{Value, json};
use warmfold::wire::Request;
use warmfold::{Format, Tape};

use super::{read, spliced};
use crate::support::{Carry, eager, lines, merged, send, try_send};

fn recognised(request: &Value) -> Result<Format, String> {
    let tape = Tape::from_json(request.to_string()).unwrap();
    Format::recognise(&Request::of(tape.root())).map_err(|error| error.to_string())
}

fn said(text: &str) -> Value {
    json!({ "role": "user", "parts": [{ "text": text }] })
}

#[test]
fn it_is_recognised() {
    let model = json!({ "role": "model", "parts": [{ "text": "ok" }] });
    let typed = json!({ "role": "user", "parts": [{ "type": "text", "text": "hi" }] });
    for contents in [
        json!([said("hi"), model]),
        json!([said("hi")]),
        json!([{ "role": "user", "parts": { "text": "hi" } }]),
        json!([said("hi"), { "role": "model" }]),
    ] {
        assert_eq!(recognised(&json!({ "contents": contents })), Ok(Format::Gemini));
        assert_eq!(recognised(&json!({ "messages": contents })), Ok(Format::Gemini), "{contents}");
    }
    assert_eq!(recognised(&json!({ "contents": "hi" })), Ok(Format::Gemini));
    assert_eq!(recognised(&json!({ "messages": [typed, { "role": "assistant", "parts": [] }] })), Ok(Format::AiSdkUi));
    assert_eq!(recognised(&json!({ "messages": [{ "role": "user", "parts": [] }, model] })), Ok(Format::Gemini));
    for mixed in [json!([said("hi"), typed]), json!([said("hi"), { "role": "assistant", "content": "ok" }]), json!([typed, model])] {
        let error = recognised(&json!({ "messages": mixed })).unwrap_err();
        assert!(error.contains("\"gemini\"") && error.contains("it has the parts of Gemini"), "{error}");
    }
}

/// What the SDK makes a content of the user's of.
#[test]
fn contents_may_be_less_than_a_list_of_contents() {
    let part = json!({ "text": "hi" });
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "aGk=" } });
    for contents in [json!("hi"), part.clone(), said("hi"), json!(["hi"]), json!([part, "there", image])] {
        let request = json!({ "model": "gemini-3-pro", "contents": contents, "config": {} });
        read(&request, |view| assert!(view.entries[0].text() == "hi" && view.messages.iter().all(|message| message.authored)));
        let call = send(&request, &merged(&eager(), &json!({ "contextBlock": "notes" })), &Carry::New);
        let expected =
            json!({ "model": "gemini-3-pro", "contents": contents, "config": { "systemInstruction": { "parts": [{ "text": "notes" }] } } });
        assert_eq!(call.body, expected);
        assert_eq!(spliced(&request.to_string(), &call.outcome.patches), expected);
    }
}

#[test]
fn what_is_neither_is_refused_with_its_path() {
    let function = json!({ "functionCall": { "name": "x" } });
    for (contents, path, words) in [
        (json!([said("hi"), { "text": "there" }]), "contents[1]", "parts do not go beside contents"),
        (json!(["hi", said("there")]), "contents[1]", "parts do not go beside contents"),
        (json!([function]), "contents[0].role", "expected a content"),
        (function, "contents[0].role", "expected a content"),
        (json!([{ "content": "hi" }]), "contents[0].role", "expected a content"),
        (json!([said("hi"), 1]), "contents[1]", "expected a content object"),
        (json!([{ "role": "user", "parts": "hi" }]), "contents[0].parts", "expected an array of parts"),
        (json!(1), "contents", "expected an array"),
    ] {
        let error = try_send(&json!({ "contents": contents }), &json!({}), &Carry::New).err().unwrap();
        assert_eq!(error.path(), path);
        assert!(error.message().contains(words), "{error}");
    }
}

/// The block goes behind what the system prompt says, in whatever shape and place that is; twice is once.
#[test]
fn a_context_block_goes_to_the_system_prompt() {
    let (notes, part) = (json!({ "text": "notes" }), json!({ "text": "Be brief." }));
    let made = [
        (json!("Be brief."), json!("Be brief.\n\nnotes")),
        (json!(""), json!("notes")),
        (part.clone(), json!({ "text": "Be brief.\n\nnotes" })),
        (json!([part]), json!([part, notes])),
        (json!(["Be brief."]), json!(["Be brief.", notes])),
        (json!({ "role": "system", "parts": [part] }), json!({ "role": "system", "parts": [part, notes] })),
        (json!({ "parts": part }), json!({ "parts": [part, notes] })),
        (json!({ "role": "system" }), json!({ "role": "system", "parts": [notes] })),
    ];
    let options = json!({ "contextBlock": "notes" });
    for (system, expected) in made {
        for (place, key) in
            [("", "systemInstruction"), ("", "system_instruction"), ("/config", "systemInstruction"), ("/config", "system_instruction")]
        {
            // The system prompt stands before the contents in one, and behind them in the other.
            let spelt = |system: &Value| match place {
                "" => json!({ "contents": [said("hi")], key: system }).to_string(),
                _ => format!("{{\"config\": {}, \"contents\": {}}}", json!({ key: system, "temperature": 1 }), json!([said("hi")])),
            };
            let (body, expected): (String, Value) = (spelt(&system), serde_json::from_str(&spelt(&expected)).unwrap());
            let request: Value = serde_json::from_str(&body).unwrap();
            let call = send(&request, &options, &Carry::New);
            assert_eq!(call.body, expected);
            assert_eq!(spliced(&body, &call.outcome.patches), expected);
            assert!(send(&expected, &options, &Carry::New).outcome.patches.is_empty(), "it is there: {expected}");
            assert!(call.outcome.report.tokens_before > send(&request, &json!({}), &Carry::New).outcome.report.tokens_before);
        }
    }
}

#[test]
fn where_a_block_has_no_place_is_said() {
    let options = json!({ "contextBlock": "notes" });
    let refused = |request: Value| try_send(&request, &options, &Carry::New).err().map(|error| error.to_string());
    let contents = json!([said("hi")]);
    let rest = json!({ "contents": contents, "model": "models/gemini-3-pro", "generationConfig": {} });
    assert_eq!(send(&rest, &options, &Carry::New).body["systemInstruction"], json!({ "parts": [{ "text": "notes" }] }));
    for request in [json!({ "contents": contents, "model": "gemini-3-pro" }), json!({ "contents": contents, "cachedContent": "cachedContents/1" })] {
        assert!(refused(request.clone()).is_some_and(|error| error.contains("there is no place for it")), "{request}");
    }
    assert!(refused(json!({ "contents": contents, "systemInstruction": 1 })).is_some_and(|error| error.contains("systemInstruction")));
}

#[test]
fn a_tool_that_must_be_called_is_kept() {
    let forced = |choice: Value| read(&json!({ "contents": [said("hi")], "toolConfig": choice }), |view| view.forced_tool.map(str::to_owned));
    let any = |names: Value| json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": names } });
    assert_eq!(forced(any(json!(["read"]))).as_deref(), Some("read"));
    assert_eq!(forced(any(json!(["read", "write"]))), None);
    assert_eq!(forced(json!({ "functionCallingConfig": { "mode": "AUTO", "allowedFunctionNames": ["read"] } })), None);
    let snake =
        json!({ "contents": [said("hi")], "tool_config": { "function_calling_config": { "mode": "any", "allowed_function_names": ["read"] } } });
    assert_eq!(read(&snake, |view| view.forced_tool.map(str::to_owned)).as_deref(), Some("read"));
}

/// Breakpoints are told, and nothing is written for them.
#[test]
fn marks_are_never_written() {
    let round = |at: usize| {
        [
            json!({ "role": "model", "parts": [{ "functionCall": { "name": "read", "args": { "at": at } }, "thoughtSignature": "c2ln" }] }),
            json!({ "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": { "output": lines("out", 100) } } }] }),
        ]
    };
    let contents: Vec<Value> = [said("go")].into_iter().chain((0..6).flat_map(round)).collect();
    let request = json!({ "contents": contents, "systemInstruction": { "parts": [{ "text": "Be brief." }] }, "tools": [{ "functionDeclarations": [{ "name": "read" }] }] });
    let plain = send(&request, &json!({ "milestoneTokens": 1000, "when": "never" }), &Carry::New);
    assert!(plain.outcome.breakpoints.len() == 4 && plain.outcome.breakpoints.last() == Some(&12), "{:?}", plain.outcome.breakpoints);
    for marks in ["anthropic", "openai"] {
        let marked = send(&request, &json!({ "milestoneTokens": 1000, "marks": marks, "when": "never" }), &Carry::New);
        assert_eq!(marked.body, request);
        assert!(!marked.outcome.marks.is_empty() && marked.outcome.marks.iter().all(|mark| mark.part.is_none()));
    }
}
