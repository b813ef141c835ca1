//! A Chat request as a Responses request that says the same.

use serde_json::{Value, json};

use crate::twin::{Converted, Home, unknown_fields};

pub fn from_chat(request: &Value) -> Converted {
    let (mut items, mut homes) = (Vec::new(), Vec::new());
    for message in request["messages"].as_array().expect("a request has messages") {
        let first = items.len();
        let role = message["role"].as_str().unwrap_or("");
        match role {
            "assistant" => assistant(message, &mut items),
            "tool" => items.push(output(message["tool_call_id"].as_str().unwrap_or(""), message)),
            "function" => items.push(output(&legacy_id(&message["name"]), message)),
            _ => items.push(json!({ "type": "message", "role": role, "content": content(&message["content"], "input_text") })),
        }
        let made = items[first..].iter_mut().filter_map(Value::as_object_mut).find(|item| !item.contains_key("call_id"));
        made.into_iter().for_each(|made| made.extend(unknown_fields(message)));
        homes.push(Home { messages: first..items.len(), block: None });
    }
    let mut converted = json!({ "input": items });
    if let Some(system) = request.get("system") {
        converted["instructions"] = system.clone();
    }
    if let Some(tools) = request.get("tools") {
        converted["tools"] = tools.as_array().into_iter().flatten().map(tool).collect();
    }
    if let Some(choice) = request.get("tool_choice") {
        let name = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
        converted["tool_choice"] = name.map_or_else(|| choice.clone(), |name| json!({ "type": "function", "name": name }));
    }
    Converted { request: converted, homes }
}

fn tool(tool: &Value) -> Value {
    let description = tool["function"].get("description").or_else(|| tool.get("description"));
    json!({ "type": "function", "name": tool["function"]["name"], "parameters": tool["function"]["parameters"], "description": description })
}

fn legacy_id(name: &Value) -> String {
    format!("legacy {}", name.as_str().unwrap_or(""))
}

fn assistant(message: &Value, items: &mut Vec<Value>) {
    let begin = items.len();
    let thought = ["reasoning", "reasoning_content"].iter().find_map(|key| message[*key].as_str());
    if let Some(thought) = thought {
        let summary = json!([{ "type": "summary_text", "text": thought }]);
        items.push(json!({ "type": "reasoning", "id": format!("rs_{begin}"), "summary": summary, "encrypted_content": "Z2VoZWlt" }));
    }
    let calls: Vec<&Value> = message["tool_calls"].as_array().into_iter().flatten().collect();
    let legacy = Some(&message["function_call"]).filter(|call| call.is_object());
    if !message["content"].is_null() || (calls.is_empty() && legacy.is_none()) {
        items.push(
            json!({ "type": "message", "id": format!("msg_{begin}"), "role": "assistant", "content": content(&message["content"], "output_text") }),
        );
    }
    let call = |id: &str, of: &Value| json!({ "type": "function_call", "call_id": id, "name": of["name"], "arguments": of["arguments"] });
    items.extend(calls.into_iter().map(|made| call(made["id"].as_str().unwrap_or(""), &made["function"])));
    items.extend(legacy.map(|made| call(&legacy_id(&made["name"]), made)));
}

fn output(id: &str, of: &Value) -> Value {
    let said = &of["content"];
    let output = if said.is_null() { json!([]) } else { content(said, "input_text") }; // what says nothing has no text at all
    let mut made = json!({ "type": "function_call_output", "call_id": id, "output": output });
    if of["is_error"] == true || of["status"] == "error" {
        made["status"] = "failed".into();
    }
    made
}

/// A string stays one, and each part stays where it is.
fn content(content: &Value, kind: &str) -> Value {
    let part = |part: &Value| match (part.as_str().or_else(|| part["text"].as_str()), part["type"].as_str()) {
        (Some(text), _) => {
            let mut made = json!({ "type": kind, "text": text });
            if let Some(mark) = part.get("cache_control") {
                made["cache_control"] = mark.clone();
            }
            made
        }
        (None, Some("image_url")) if kind == "input_text" => {
            json!({ "type": "input_image", "image_url": part["image_url"]["url"], "detail": part["image_url"]["detail"] })
        }
        _ => json!({ "type": "refusal", "refusal": "I cannot show this." }),
    };
    match content {
        Value::Array(parts) => parts.iter().map(part).collect(),
        Value::String(text) => text.as_str().into(),
        _ => "".into(),
    }
}
