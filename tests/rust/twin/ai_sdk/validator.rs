//! What makes the AI SDK, or the provider behind it, refuse messages: the documented rules, read from the JSON alone.

//!
//! Faults name no message, so that those of a request and of what became of it can be held against each other.

use serde_json::Value;

/// Roles, parts, pairs, marks and reasoning.
pub fn faults(messages: &[Value]) -> Vec<String> {
    let mut faults: Vec<String> = messages.iter().flat_map(content_faults).collect();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let parts = || message["content"].as_array().into_iter().flatten();
        let has = |kind: &str| parts().any(|part| part["type"] == kind);
        if message["role"] != "tool" {
            faults.extend(open.drain(..).map(|id| format!("a call without its result before others speak: {id}")));
        }
        match message["role"].as_str() {
            Some("assistant") => {
                if parts().all(|part| part["type"] == "reasoning") && !message["content"].is_string() {
                    faults.push("an answer that says nothing".to_owned());
                }
                if has("tool-result") && !has("tool-call") {
                    faults.push("a provider's result without its call".to_owned());
                }
                let calls = parts().filter(|part| part["type"] == "tool-call" && part["providerExecuted"] != true);
                open.extend(calls.filter_map(|part| part["toolCallId"].as_str()));
            }
            Some("tool") => {
                for part in parts().filter(|part| part["type"] == "tool-result") {
                    let id = part["toolCallId"].as_str().unwrap_or("");
                    match open.iter().position(|call| *call == id) {
                        Some(answered) => drop(open.remove(answered)),
                        None => faults.push(format!("a result without its call: {id}")),
                    }
                }
            }
            _ => {}
        }
    }
    faults.extend(open.into_iter().map(|id| format!("a call without its result: {id}")));
    faults.extend(mark_faults(messages));
    faults
}

fn content_faults(message: &Value) -> Vec<String> {
    let (role, content) = (message["role"].as_str().unwrap_or(""), &message["content"]);
    let allowed: &[&str] = match role {
        "system" if content.is_string() => return Vec::new(),
        "system" => return vec!["a system message is a string".to_owned()],
        "user" => &["text", "image", "file"],
        "assistant" => &["text", "file", "reasoning", "tool-call", "tool-result", "tool-approval-request", "reasoning-file", "custom"],
        "tool" => &["tool-result", "tool-approval-response"],
        _ => return vec![format!("there is no role {role:?}")],
    };
    let Some(parts) = content.as_array() else {
        let is_text = content.is_string() && role != "tool";
        return if is_text { Vec::new() } else { vec!["a content that is no list".to_owned()] };
    };
    let fault = |part: &Value| match part["type"].as_str().unwrap_or("") {
        kind if !allowed.contains(&kind) => Some(format!("{kind:?} in a message of {role}")),
        "text" | "reasoning" if !part["text"].is_string() => Some("a text without text".to_owned()),
        "tool-result" if !is_whole(&part["output"]) => Some(format!("an output that is none: {}", part["output"])),
        _ => None,
    };
    parts.iter().filter_map(fault).collect()
}

fn is_whole(output: &Value) -> bool {
    let value = &output["value"];
    match output["type"].as_str() {
        Some("text" | "error-text") => value.is_string(),
        Some("json" | "error-json") => output.get("value").is_some(),
        Some("execution-denied") => true,
        Some("content") => value.as_array().is_some_and(|items| items.iter().all(|item| item["type"] != "text" || item["text"].is_string())),
        _ => false,
    }
}

/// A mark, by its provider: on what it stands, and whether it asks for an hour.
fn mark(node: &Value) -> Option<bool> {
    let mark = &node["providerOptions"]["anthropic"]["cacheControl"];
    mark.is_object().then(|| mark["ttl"] == "1h")
}

/// At most four, an hour before five minutes, none on blank texts or reasoning.
fn mark_faults(messages: &[Value]) -> Vec<String> {
    let (mut faults, mut hours) = (Vec::new(), Vec::new());
    for message in messages {
        let parts: Vec<&Value> = message["content"].as_array().into_iter().flatten().collect();
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.iter().enumerate() {
            let items = part["output"]["value"].as_array().into_iter().flatten();
            let inner = mark(&part["output"]).or_else(|| items.filter_map(mark).next());
            let Some(hour) = mark(part).or(inner).or(if at == last { mark(message) } else { None }) else { continue };
            let is_blank = part["type"] == "text" && part["text"].as_str().is_none_or(|text| text.trim().is_empty());
            if is_blank || part["type"] == "reasoning" {
                faults.push(format!("a mark on {part}"));
            }
            hours.push(hour);
        }
        if let Some(hour) = mark(message).filter(|_| parts.is_empty()) {
            if message["content"].as_str().is_none_or(|text| text.trim().is_empty()) {
                faults.push(format!("a mark on {message}"));
            }
            hours.push(hour);
        }
    }
    if hours.len() > 4 {
        faults.push(format!("{} marks", hours.len()));
    }
    if !hours.is_sorted_by(|before, after| before >= after) {
        faults.push("an hour behind five minutes".to_owned());
    }
    faults
}

#[test]
fn it_can_fail() {
    use serde_json::json;
    let call = json!({ "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "1", "toolName": "t", "input": {} }] });
    let output =
        |output: Value| json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "1", "toolName": "t", "output": output }] });
    let result = output(json!({ "type": "text", "value": "x" }));
    let user = json!({ "role": "user", "content": "hi" });
    assert_eq!(faults(&[user.clone(), call.clone(), result.clone()]), Vec::<String>::new());
    let marked = |ttl: &str| json!({ "role": "user", "content": "hi", "providerOptions": { "anthropic": { "cacheControl": { "type": "ephemeral", "ttl": ttl } } } });
    let broken = [
        vec![call.clone()],
        vec![call.clone(), user.clone()],
        vec![result.clone()],
        vec![call.clone(), result.clone(), result.clone()],
        vec![json!({ "role": "assistant", "content": [] })],
        vec![json!({ "role": "assistant", "content": [{ "type": "reasoning", "text": "t" }] })],
        vec![json!({ "role": "assistant", "content": [{ "type": "image", "image": "x" }] })],
        vec![json!({ "role": "system", "content": [] })],
        vec![json!({ "role": "critic", "content": "x" })],
        vec![json!({ "role": "tool", "content": "x" })],
        vec![call.clone(), output(json!({ "type": "text", "value": {} }))],
        vec![call, output(json!({ "value": "x" }))],
        vec![marked("5m"); 5],
        vec![marked("5m"), marked("1h")],
        vec![json!({ "role": "user", "content": [{ "type": "text", "text": " ", "providerOptions": marked("5m")["providerOptions"] }] })],
    ];
    for messages in broken {
        assert!(!faults(&messages).is_empty(), "{messages:?}");
    }
}
