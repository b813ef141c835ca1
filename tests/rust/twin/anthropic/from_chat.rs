//! Chat histories as Anthropic Messages: what a router does with them, in the simplest way that loses nothing.

use serde_json::{Value, json};

use crate::twin::{Converted, Home, unknown_fields};

/// The request; `merged` puts what the user says behind results into their message.
pub fn from_chat(request: &Value, merged: bool) -> Converted {
    let chat = request["messages"].as_array().expect("a request has messages");
    let lead = chat.iter().take_while(|message| is_system(message)).count();
    let mut out = json!({ "messages": [] });
    match &chat[..lead] {
        [] if request.get("system").is_some() => out["system"] = request["system"].clone(),
        [] => {}
        [one] if one["content"].is_string() => out["system"] = one["content"].clone(),
        all => out["system"] = all.iter().flat_map(|message| blocks(&message["content"])).collect(),
    }
    if let Some(tools) = request["tools"].as_array() {
        out["tools"] = tools.iter().map(tool).collect();
    }
    match &request["tool_choice"] {
        Value::Null => {}
        Value::String(mode) => out["tool_choice"] = json!({ "type": mode }),
        choice => {
            let name = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
            out["tool_choice"] = json!({ "type": "tool", "name": name });
        }
    }
    let mut writer = Writer { messages: Vec::new(), merged, of_results: false };
    let before_all = chat[..lead].iter().map(|_| Home { messages: 0..0, block: None });
    let homes = before_all.chain(chat[lead..].iter().map(|message| writer.message(message))).collect();
    out["messages"] = writer.messages.into();
    Converted { request: out, homes }
}

fn is_system(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("system" | "developer"))
}

fn tool(tool: &Value) -> Value {
    let mut made = json!({ "name": tool["function"]["name"], "input_schema": tool["function"]["parameters"] });
    if let Some(description) = tool["function"].get("description").or_else(|| tool.get("description")) {
        made["description"] = description.clone();
    }
    if !tool["cache_control"].is_null() {
        made["cache_control"] = tool["cache_control"].clone();
    }
    made
}

struct Writer {
    messages: Vec<Value>,
    merged: bool,
    /// Whether the last message holds results, and nothing was said since.
    of_results: bool,
}

impl Writer {
    /// Writes a Chat message; returns where it went.
    fn message(&mut self, message: &Value) -> Home {
        let content = &message["content"];
        let role = message["role"].as_str().unwrap_or("");
        let follows_results = std::mem::replace(&mut self.of_results, matches!(role, "tool" | "function"));
        match role {
            "tool" | "function" => {
                let id = if role == "tool" { message["tool_call_id"].clone() } else { legacy_id(&message["name"]) };
                let mut result = json!({ "type": "tool_result", "tool_use_id": id });
                if !content.is_null() {
                    result["content"] = if content.is_string() { content.clone() } else { blocks(content).into() };
                }
                let failed = message["is_error"] == true || message["status"] == "error";
                if failed || content.as_str().is_some_and(|text| text.starts_with("Error")) {
                    result["is_error"] = true.into();
                }
                if !follows_results {
                    self.messages.push(json!({ "role": "user", "content": [] }));
                }
                let into = self.last_blocks();
                into.push(result);
                let block = into.len() - 1;
                return Home::in_part(self.messages.len() - 1, "content", block);
            }
            "assistant" => {
                let mut made = thinking(message);
                made.extend(blocks(content).into_iter().filter(|block| block["text"] != ""));
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                made.extend(calls.map(|call| tool_use(&call["id"], &call["function"])));
                if message["function_call"].is_object() {
                    made.push(tool_use(&legacy_id(&message["function_call"]["name"]), &message["function_call"]));
                }
                let is_plain = content.is_string() && made.iter().all(|block| block["type"] == "text");
                let content = if is_plain { content.clone() } else { made.into() };
                self.messages.push(json!({ "role": "assistant", "content": content }));
            }
            "user" if self.merged && follows_results && blocks(content).iter().any(|block| block["text"] != "") => {
                let said = blocks(content);
                let from = self.last_blocks().len();
                self.last_blocks().extend(said);
                return Home::in_part(self.messages.len() - 1, "content", from); // further ones stand behind it
            }
            "user" => {
                let content = if content.is_string() { content.clone() } else { blocks(content).into() };
                self.messages.push(json!({ "role": "user", "content": content }));
            }
            _ if is_system(message) => self.messages.push(json!({ "role": "system", "content": content })),
            _ => self.messages.push(message.clone()),
        }
        let made = self.messages.last_mut().and_then(Value::as_object_mut).expect("a message is an object");
        made.extend(unknown_fields(message));
        Home::alone(self.messages.len() - 1)
    }

    fn last_blocks(&mut self) -> &mut Vec<Value> {
        self.messages.last_mut().and_then(|message| message["content"].as_array_mut()).expect("results are blocks")
    }
}

fn legacy_id(name: &Value) -> Value {
    format!("legacy {}", name.as_str().unwrap_or("")).into()
}

fn tool_use(id: &Value, function: &Value) -> Value {
    let input: Value = serde_json::from_str(function["arguments"].as_str().unwrap_or("")).unwrap_or_else(|_| json!({}));
    json!({ "type": "tool_use", "id": id, "name": function["name"], "input": input })
}

fn thinking(message: &Value) -> Vec<Value> {
    let signed = message["reasoning_details"].as_array().into_iter().flatten().filter_map(|detail| detail["text"].as_str());
    let said = ["reasoning", "reasoning_content"].into_iter().find_map(|key| message[key].as_str());
    let said = signed.chain(said.filter(|_| message["reasoning_details"].is_null())).filter(|text| !text.is_empty());
    said.map(|text| json!({ "type": "thinking", "thinking": text, "signature": "c2lnbmVk" })).collect()
}

/// The blocks of a content.
fn blocks(content: &Value) -> Vec<Value> {
    let block = |part: &Value| {
        let mark = part.get("cache_control").map(|mark| ("cache_control".to_owned(), mark.clone()));
        let mut block = match part {
            Value::String(text) => json!({ "type": "text", "text": text }),
            part if part["type"] == "text" => json!({ "type": "text", "text": part["text"] }),
            _ => json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" } }),
        };
        block.as_object_mut().expect("a block is an object").extend(mark);
        block
    };
    match content {
        Value::Array(parts) => parts.iter().map(block).collect(),
        Value::String(_) => vec![block(content)],
        _ => Vec::new(),
    }
}
