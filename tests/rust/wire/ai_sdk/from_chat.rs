//! Chat messages as the model messages that say the same.

use serde_json::{Value, json};

/// How what Chat has in one way is written where the AI SDK has several.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Results that follow each other share a message, as the AI SDK writes them.
    pub joined: bool,
    /// Results that are JSON are values.
    pub json: bool,
}

/// The request with its messages converted. The tools schema stays.
pub fn from_chat(request: &Value, ways: Ways) -> Value {
    let chat = request["messages"].as_array().expect("a request has messages");
    let mut messages: Vec<Value> = Vec::new();
    for message in chat {
        let converted = one(message, messages.as_slice(), ways);
        let joins = ways.joined && converted["role"] == "tool";
        match messages.last_mut().filter(|last| joins && last["role"] == "tool") {
            Some(last) => {
                let parts = last["content"].as_array_mut().expect("a tool message has parts");
                parts.extend(converted["content"].as_array().cloned().unwrap_or_default());
            }
            None => messages.push(converted),
        }
    }
    let mut request = request.clone();
    request["messages"] = messages.into();
    if let Some(name) = request["tool_choice"]["function"]["name"].as_str().or(request["tool_choice"]["name"].as_str()) {
        request["tool_choice"] = json!({ "type": "tool", "toolName": name });
    }
    request
}

fn one(message: &Value, before: &[Value], ways: Ways) -> Value {
    match message["role"].as_str() {
        Some("system" | "developer") => json!({ "role": "system", "content": message["content"] }),
        Some("user") => json!({ "role": "user", "content": content(&message["content"], image) }),
        Some("assistant") => assistant(message),
        Some("tool") => json!({ "role": "tool", "content": [result(&message["tool_call_id"], message, before, ways)] }),
        Some("function") => json!({ "role": "tool", "content": [result(&message["name"], message, before, ways)] }),
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
    json!({ "type": "image", "image": part["image_url"]["url"], "providerOptions": { "openai": { "imageDetail": "low" } }, "detail": "low" })
}

fn assistant(message: &Value) -> Value {
    let thoughts = ["reasoning", "reasoning_content", "reasoning_details"].iter().filter(|key| !message[**key].is_null());
    let thoughts: Vec<Value> = thoughts.map(|key| json!({ "type": "reasoning", "text": message[*key].to_string() })).collect();
    let legacy = &message["function_call"];
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| (&call["id"], &call["function"]));
    let calls = calls.chain(legacy.is_object().then_some((&legacy["name"], legacy)));
    let calls: Vec<Value> = calls
        .map(|(id, body)| {
            let input: Value = body["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            json!({ "type": "tool-call", "toolCallId": id, "toolName": body["name"], "input": input })
        })
        .collect();
    let file = |part: &Value| json!({ "type": "file", "mediaType": "image/png", "data": part["image_url"]["url"], "detail": "low" });
    if thoughts.is_empty() && calls.is_empty() {
        return json!({ "role": "assistant", "content": content(&message["content"], file) });
    }
    let parts = [thoughts, parts(&message["content"], file), calls].concat();
    json!({ "role": "assistant", "content": parts })
}

fn result(id: &Value, message: &Value, before: &[Value], ways: Ways) -> Value {
    let calls = before.iter().rev().flat_map(|message| message["content"].as_array().into_iter().flatten());
    let tool = calls.filter(|part| part["type"] == "tool-call").find(|part| part["toolCallId"] == *id);
    let output = match &message["content"] {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) if ways.json && value.to_string().as_str() == text => json!({ "type": "json", "value": value }),
            _ => json!({ "type": "text", "value": text }),
        },
        list => {
            json!({ "type": "content", "value": parts(list, |_| json!({ "type": "image-data", "data": "iVBORw0KGgo=", "mediaType": "image/png", "detail": "low" })) })
        }
    };
    json!({ "type": "tool-result", "toolCallId": id, "toolName": tool.map_or("", |tool| tool["toolName"].as_str().unwrap_or("")), "output": output })
}
