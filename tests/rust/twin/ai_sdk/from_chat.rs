//! Chat messages as the model messages that say the same.

use serde_json::{Value, json};

use crate::twin::{Converted, Home, unknown_fields};

/// Results that follow each other share a message, as the AI SDK writes them, and results that are JSON are values. The tools schema stays.
pub fn from_chat(request: &Value) -> Converted {
    let chat = request["messages"].as_array().expect("a request has messages");
    let mut messages: Vec<Value> = Vec::new();
    let mut homes = Vec::new();
    for message in chat {
        let mut converted = one(message, messages.as_slice());
        converted.as_object_mut().expect("a message is an object").extend(unknown_fields(message));
        let is_result = converted["role"] == "tool";
        match messages.last_mut().filter(|last| is_result && last["role"] == "tool") {
            Some(last) => {
                let parts = last["content"].as_array_mut().expect("a tool message has parts");
                parts.extend(converted["content"].as_array().cloned().unwrap_or_default());
            }
            None => messages.push(converted),
        }
        let at = messages.len() - 1;
        let parts = messages[at]["content"].as_array().map_or(0, Vec::len);
        homes.push(if is_result { Home::in_part(at, "content", parts - 1) } else { Home::alone(at) });
    }
    let mut request = request.clone();
    request["messages"] = messages.into();
    if let Some(name) = request["tool_choice"]["function"]["name"].as_str().or(request["tool_choice"]["name"].as_str()) {
        request["tool_choice"] = json!({ "type": "tool", "toolName": name });
    }
    Converted { request, homes }
}

fn one(message: &Value, before: &[Value]) -> Value {
    match message["role"].as_str() {
        Some("system" | "developer") => json!({ "role": "system", "content": message["content"] }),
        Some("user") => json!({ "role": "user", "content": content(&message["content"], image) }),
        Some("assistant") => assistant(message),
        Some("tool") => json!({ "role": "tool", "content": [result(&message["tool_call_id"], message, before)] }),
        Some("function") => json!({ "role": "tool", "content": [result(&message["name"], message, before)] }),
        _ => message.clone(),
    }
}

/// A string stays one; of a list the parts.
fn content(content: &Value, other: impl Fn(&Value) -> Value) -> Value {
    match content {
        Value::String(_) => content.clone(),
        _ => parts(content, other).into(),
    }
}

fn parts(content: &Value, other: impl Fn(&Value) -> Value) -> Vec<Value> {
    let text = |part: &Value| json!({ "type": "text", "text": part });
    let part = |part: &Value| match part {
        Value::String(_) => text(part),
        part if part["type"] == "text" => {
            let mut made = text(&part["text"]);
            if part["cache_control"].is_object() {
                made["providerOptions"] = json!({ "anthropic": { "cacheControl": part["cache_control"] } });
            }
            made
        }
        part => other(part),
    };
    match content {
        Value::String(_) => vec![text(content)],
        _ => content.as_array().into_iter().flatten().map(part).collect(),
    }
}

fn image(part: &Value) -> Value {
    let mut image = json!({ "type": "image", "image": part["image_url"]["url"], "providerOptions": { "openai": { "imageDetail": "low" } } });
    detail(part, &mut image);
    image
}

fn detail(part: &Value, made: &mut Value) {
    if !part["image_url"]["detail"].is_null() {
        made["detail"] = part["image_url"]["detail"].clone();
    }
}

/// What was thought; what Anthropic has signed is told by its signature.
fn thoughts(message: &Value) -> Vec<Value> {
    let plain = ["reasoning", "reasoning_content"].iter().filter_map(|key| message[*key].as_str()).filter(|text| !text.is_empty());
    let plain = plain.map(|text| json!({ "type": "reasoning", "text": text }));
    let signed = message["reasoning_details"].as_array().into_iter().flatten().map(|detail| {
        let mut thought = json!({ "type": "reasoning", "text": detail["text"] });
        if detail["format"].as_str().is_some_and(|format| format.starts_with("anthropic")) {
            thought["providerOptions"] = json!({ "anthropic": { "signature": detail["signature"] } });
        }
        thought
    });
    plain.chain(signed).collect()
}

fn assistant(message: &Value) -> Value {
    let thoughts = thoughts(message);
    let legacy = &message["function_call"];
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| (&call["id"], &call["function"]));
    let calls = calls.chain(legacy.is_object().then_some((&legacy["name"], legacy)));
    let calls: Vec<Value> = calls
        .map(|(id, body)| {
            let input: Value = body["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            json!({ "type": "tool-call", "toolCallId": id, "toolName": body["name"], "input": input })
        })
        .collect();
    let file = |part: &Value| {
        let mut file = json!({ "type": "file", "mediaType": "image/png", "data": part["image_url"]["url"] });
        detail(part, &mut file);
        file
    };
    if thoughts.is_empty() && calls.is_empty() {
        return json!({ "role": "assistant", "content": content(&message["content"], file) });
    }
    let parts = [thoughts, parts(&message["content"], file), calls].concat();
    json!({ "role": "assistant", "content": parts })
}

fn result(id: &Value, message: &Value, before: &[Value]) -> Value {
    let calls = before.iter().rev().flat_map(|message| message["content"].as_array().into_iter().flatten());
    let tool = calls.filter(|part| part["type"] == "tool-call").find(|part| part["toolCallId"] == *id);
    let error = if message["is_error"] == true || message["status"] == "error" { "error-" } else { "" };
    let output = match &message["content"] {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) if value.to_string().as_str() == text => json!({ "type": format!("{error}json"), "value": value }),
            _ => json!({ "type": format!("{error}text"), "value": text }),
        },
        list => {
            let image = |part: &Value| {
                let mut image = json!({ "type": "image-data", "data": part["image_url"]["url"], "mediaType": "image/png" });
                detail(part, &mut image);
                image
            };
            json!({ "type": "content", "value": parts(list, image) })
        }
    };
    json!({ "type": "tool-result", "toolCallId": id, "toolName": tool.map_or("", |tool| tool["toolName"].as_str().unwrap_or("")), "output": output })
}
