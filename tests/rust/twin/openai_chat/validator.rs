//! What the documentation of Chat Completions says is answered with 400, as far as a history is concerned, and of what OpenRouter adds, the
//! marks.
//!
//! Faults name the message and not the part, so that those of a request and of what became of it can be held against each other.

use serde_json::{Value, json};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// What is wrong with a request.
pub fn faults(request: &Value) -> Vec<String> {
    let messages: &[Value] = request["messages"].as_array().map_or(&[], Vec::as_slice);
    let mut faults = Vec::new();
    if messages.is_empty() {
        faults.push("there are no messages".to_owned());
    }
    for (at, message) in messages.iter().enumerate() {
        let of_message = [message_faults(message), call_faults(message), breakpoint_faults(message)].concat();
        faults.extend(of_message.into_iter().map(|fault| format!("messages[{at}]: {fault}")));
    }
    faults.extend(pairing(messages));
    faults.extend(too_many_breakpoints(messages));
    faults.extend(mark_faults(request));
    faults
}

fn parts(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

fn calls(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map_or(&[], Vec::as_slice)
}

fn message_faults(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or("");
    let takes: &[&str] = match role {
        "system" | "developer" | "tool" => &["text"],
        "user" => &["text", "image_url", "input_audio", "file"],
        "assistant" => &["text", "refusal"],
        "function" => &[],
        _ => return vec![format!("no {role:?} here")],
    };
    let may_be_silent = match role {
        "assistant" => ["tool_calls", "function_call", "audio"].iter().any(|key| !message[*key].is_null()),
        role => role == "function",
    };
    let mut faults = match &message["content"] {
        Value::Null if may_be_silent => Vec::new(),
        Value::String(_) => Vec::new(),
        Value::Array(parts) if parts.is_empty() => vec!["an empty list of parts".to_owned()],
        Value::Array(parts) => parts.iter().flat_map(|part| part_fault(part, takes)).collect(),
        other => vec![format!("no content: {other}")],
    };
    let named = match role {
        "tool" => &message["tool_call_id"],
        "function" => &message["name"],
        _ => return faults,
    };
    if !named.is_string() {
        faults.push("a result that says not of what".to_owned());
    }
    faults
}

fn part_fault(part: &Value, takes: &[&str]) -> Option<String> {
    let kind = part["type"].as_str().unwrap_or("");
    let is_whole = match kind {
        _ if !takes.contains(&kind) => return Some(format!("invalid part {kind:?}")),
        "image_url" => part["image_url"]["url"].is_string(),
        "input_audio" => part["input_audio"]["data"].is_string() && part["input_audio"]["format"].is_string(),
        "file" => part["file"].is_object(),
        kind => part[kind].is_string(), // a text or a refusal
    };
    (!is_whole).then(|| format!("a part that lacks its {kind}"))
}

fn call_faults(message: &Value) -> Vec<String> {
    if message["tool_calls"].is_null() {
        return Vec::new();
    }
    if calls(message).is_empty() {
        return vec!["an empty list of calls".to_owned()];
    }
    let mut faults = Vec::new();
    for (nth, call) in calls(message).iter().enumerate() {
        let is_whole = match call["type"].as_str() {
            Some("function") => call["function"]["name"].is_string() && call["function"]["arguments"].is_string(),
            Some("custom") => call["custom"]["name"].is_string() && call["custom"]["input"].is_string(),
            _ => false,
        };
        if !is_whole || !call["id"].is_string() {
            faults.push("a call without id, name or arguments".to_owned());
        }
        if calls(message)[..nth].iter().any(|earlier| earlier["id"] == call["id"]) {
            faults.push("two calls of one id".to_owned());
        }
    }
    if message["role"] != "assistant" {
        faults.push("only the assistant calls".to_owned());
    }
    faults
}

/// The results of an answer's calls follow it, in any order, before anything else does. An id may come again in a later answer.
fn pairing(messages: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: Vec<&Value> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            match open.iter().position(|id| **id == message["tool_call_id"]) {
                Some(found) => drop(open.remove(found)),
                None => faults.push(format!("messages[{at}]: a result without its call before it")),
            }
            continue;
        }
        faults.extend(open.drain(..).map(|_| format!("messages[{at}]: a call has no result before it")));
        open.extend(calls(message).iter().map(|call| &call["id"]));
    }
    faults.extend(open.iter().map(|_| "a call has no result at the end".to_owned()));
    faults
}

/// OpenAI's: on parts of what is not the model's.
fn breakpoint_faults(message: &Value) -> Vec<String> {
    let lifetime = |mark: &Value| mark.get("ttl").is_none_or(|ttl| ttl == "30m" || ttl == "12h");
    let is_one = |mark: &Value| mark["mode"] == "explicit" && lifetime(mark);
    let on_message = message.get("prompt_cache_breakpoint").map(|_| "a breakpoint that stands on no part".to_owned());
    let on_parts = parts(message).iter().filter_map(|part| part.get("prompt_cache_breakpoint"));
    let faulty = on_parts.filter(|mark| message["role"] == "assistant" || !is_one(mark)).map(|mark| format!("no breakpoint: {mark}"));
    on_message.into_iter().chain(faulty).collect()
}

fn too_many_breakpoints(messages: &[Value]) -> Option<String> {
    let count = messages.iter().flat_map(parts).filter(|part| part.get("prompt_cache_breakpoint").is_some()).count();
    (count > 4).then(|| format!("{count} breakpoints"))
}

/// OpenRouter's, which go on to Anthropic: at most four, on texts that say something and on tools, an hour before five minutes.
fn mark_faults(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().into_iter().flatten();
    let on_parts = request["messages"].as_array().into_iter().flatten().flat_map(parts);
    let marked: Vec<&Value> = tools.chain(on_parts).filter(|value| value["cache_control"].is_object()).collect();
    let mut faults = Vec::new();
    if marked.len() > 4 {
        faults.push(format!("{} marks", marked.len()));
    }
    let hours = marked.iter().map(|value| value["cache_control"]["ttl"] == "1h");
    if !hours.is_sorted_by(|before, after| before >= after) {
        faults.push("an hour behind five minutes".to_owned());
    }
    for value in marked {
        let mark = &value["cache_control"];
        let ttl = mark.get("ttl").is_none_or(|ttl| ttl == "1h" || ttl == "5m");
        let says_something = |text: &Value| text.as_str().is_some_and(|text| !text.trim().is_empty());
        if mark["type"] != "ephemeral" || !ttl {
            faults.push(format!("no mark: {mark}"));
        }
        if value.get("function").is_none() && !says_something(&value["text"]) {
            faults.push(format!("a mark on {}", value["type"]));
        }
    }
    faults
}

#[test]
fn it_can_fail() {
    let user = json!({ "role": "user", "content": "hi" });
    let call = |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let asks = |calls: &[Value]| json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "ok" });
    let of_part = |role: &str, part: Value| json!({ "role": role, "content": [part] });
    let marked = |mark: Value| of_part("user", json!({ "type": "text", "text": "hi", "cache_control": mark }));
    let (five, hour) = (json!({ "type": "ephemeral" }), json!({ "type": "ephemeral", "ttl": "1h" }));
    let explicit = |role: &str| of_part(role, json!({ "type": "text", "text": "hi", "prompt_cache_breakpoint": { "mode": "explicit" } }));
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } });

    let two = asks(&[call("a"), call("b")]);
    let good = [
        &user,
        &two,
        &result("b"),
        &result("a"),
        &two,
        &result("a"),
        &result("b"),
        &of_part("user", image.clone()),
        &marked(hour.clone()),
        &marked(five.clone()),
        &explicit("tool"),
    ];
    let of = |messages: &[&Value]| faults(&json!({ "messages": messages }));
    assert_eq!(of(&good[..10]), Vec::<String>::new());

    assert_eq!(of(&[]), ["there are no messages"]);
    assert_eq!(of(&[&json!({ "role": "critic", "content": "x" })]), ["messages[0]: no \"critic\" here"]);
    assert_eq!(of(&[&json!({ "role": "user" })]), ["messages[0]: no content: null"]);
    assert_eq!(of(&[&json!({ "role": "assistant", "content": null })]), ["messages[0]: no content: null"]);
    assert_eq!(of(&[&json!({ "role": "user", "content": [] })]), ["messages[0]: an empty list of parts"]);
    assert_eq!(of(&[&of_part("system", image)]), ["messages[0]: invalid part \"image_url\""]);
    assert_eq!(of(&[&of_part("user", json!({ "type": "text" }))]), ["messages[0]: a part that lacks its text"]);
    assert_eq!(of(&[&asks(&[])]), ["messages[0]: an empty list of calls"]);
    assert_eq!(of(&[&asks(&[call("a"), call("a")]), &result("a"), &result("a")]), ["messages[0]: two calls of one id"]);
    assert_eq!(of(&[&asks(&[json!({ "id": "a", "type": "function" })]), &result("a")]), ["messages[0]: a call without id, name or arguments"]);
    assert_eq!(
        of(&[&two, &result("a"), &user, &result("b")]),
        ["messages[2]: a call has no result before it", "messages[3]: a result without its call before it"]
    );
    assert_eq!(of(&[&two]), ["a call has no result at the end"; 2]);
    assert_eq!(of(&[&asks(&[call("a")]), &result("a"), &result("a")]), ["messages[2]: a result without its call before it"]);
    assert_eq!(of(&[&explicit("assistant")]), ["messages[0]: no breakpoint: {\"mode\":\"explicit\"}"]);
    assert_eq!(of(&[&explicit("user"); 5]), ["5 breakpoints"]);
    assert_eq!(of(&[&marked(five.clone()); 5]), ["5 marks"]);
    assert_eq!(of(&[&marked(five.clone()), &marked(hour)]), ["an hour behind five minutes"]);
    assert_eq!(of(&[&marked(json!({ "type": "lasting" }))]), ["no mark: {\"type\":\"lasting\"}"]);
    assert_eq!(of(&[&of_part("user", json!({ "type": "text", "text": " ", "cache_control": five }))]), ["a mark on \"text\""]);
}
