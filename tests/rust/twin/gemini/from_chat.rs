//! Chat messages as the contents that say the same.

use serde_json::{Value, json};

use crate::oracle::tools_of;
use crate::twin::{Converted, Home, unknown_fields};

/// How what Chat has in one way is written where Gemini has several.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Calls and responses have ids.
    pub ids: bool,
    /// The parameters of the SDK; else a REST body.
    pub sdk: bool,
    /// Keys as Python has them.
    pub snake: bool,
}

/// The request.
pub fn from_chat(request: &Value, ways: Ways) -> Converted {
    let chat = request["messages"].as_array().expect("a request has messages");
    let lead = chat.iter().take_while(|message| is_system(message)).count();
    let mut writer = Writer { contents: Vec::new(), of_results: false, ways };
    let answered = tools_of(chat);
    let before_all = chat[..lead].iter().map(|_| Home { messages: 0..0, block: None });
    let homes = before_all.chain((lead..chat.len()).map(|at| writer.message(&chat[at], answered[at].as_deref()))).collect();
    let mut beside = json!({});
    let system: Vec<Value> = chat[..lead].iter().flat_map(|message| parts(&message["content"])).collect();
    if lead > 0 {
        beside["systemInstruction"] = json!({ "parts": system });
    } else if let Some(system) = request.get("system") {
        beside["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    if !request["tools"].is_null() {
        beside["tools"] = json!([{ "functionDeclarations": request["tools"].as_array().into_iter().flatten().map(tool).collect::<Vec<_>>() }]);
    }
    let choice = &request["tool_choice"];
    if let Some(name) = choice["function"]["name"].as_str().or(choice["name"].as_str()) {
        beside["toolConfig"] = json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": [name] } });
    }
    let mut made = json!({ "contents": writer.contents });
    if ways.sdk {
        made["model"] = "gemini-3-pro".into();
        made["config"] = beside;
    } else {
        made.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
    }
    Converted { request: if ways.snake { snake(&made) } else { made }, homes }
}

fn legacy_id(name: &Value) -> Value {
    format!("legacy {}", name.as_str().unwrap_or("")).into()
}

fn tool(tool: &Value) -> Value {
    let description = tool["function"].get("description").or_else(|| tool.get("description"));
    json!({ "name": tool["function"]["name"], "description": description, "parameters": tool["function"]["parameters"] })
}

fn is_system(message: &Value) -> bool {
    message["role"] == "system" || message["role"] == "developer"
}

/// The keys that are known, in the other spelling.
fn snake(value: &Value) -> Value {
    let key = |key: &str| {
        let is_known = ["functionCall", "functionResponse", "thoughtSignature", "inlineData", "mimeType", "systemInstruction", "toolConfig"];
        let is_choice = ["functionCallingConfig", "allowedFunctionNames", "functionDeclarations"];
        if !is_known.contains(&key) && !is_choice.contains(&key) {
            return key.to_owned();
        }
        key.chars().flat_map(|letter| [letter.is_uppercase().then_some('_'), Some(letter.to_ascii_lowercase())]).flatten().collect()
    };
    match value {
        Value::Array(items) => items.iter().map(snake).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (key(name), if name == "response" { value.clone() } else { snake(value) })).collect()
        }
        value => value.clone(),
    }
}

struct Writer {
    contents: Vec<Value>,
    /// Whether the last content holds results.
    of_results: bool,
    ways: Ways,
}

impl Writer {
    /// Writes a Chat message, which may be the result of a tool; returns where it went.
    fn message(&mut self, message: &Value, tool: Option<&str>) -> Home {
        let follows_results = std::mem::replace(&mut self.of_results, matches!(message["role"].as_str(), Some("tool" | "function")));
        match message["role"].as_str() {
            Some("assistant") => self.answer(message),
            Some("tool" | "function") => {
                let part = self.response(message, tool);
                if !follows_results {
                    self.contents.push(json!({ "role": "user", "parts": [] }));
                }
                let parts = self.contents.last_mut().and_then(|content| content["parts"].as_array_mut()).expect("results are parts");
                parts.push(part);
                let part = parts.len() - 1;
                return Home::in_part(self.contents.len() - 1, "parts", part);
            }
            Some("developer") => self.contents.push(json!({ "role": "system", "parts": parts(&message["content"]) })),
            role => self.contents.push(json!({ "role": role, "parts": parts(&message["content"]) })),
        }
        let part = self.contents.last_mut().and_then(|content| content["parts"].as_array_mut()?.last_mut()?.as_object_mut());
        part.into_iter().for_each(|part| part.extend(unknown_fields(message)));
        Home::alone(self.contents.len() - 1)
    }

    fn answer(&mut self, message: &Value) {
        let thoughts = ["reasoning", "reasoning_content"].iter().filter_map(|key| message[*key].as_str()).filter(|text| !text.is_empty());
        let details = message["reasoning_details"].as_array().into_iter().flatten().filter_map(|detail| detail["text"].as_str());
        let thoughts = thoughts.chain(details);
        let mut made: Vec<Value> = thoughts.map(|text| json!({ "text": text, "thought": true })).collect();
        made.extend(parts(&message["content"]));
        let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| (&call["id"], &call["function"]));
        let legacy = legacy_id(&message["function_call"]["name"]);
        let legacy = Some((&legacy, &message["function_call"])).filter(|(_, body)| body.is_object());
        for (nth, (id, body)) in calls.chain(legacy).enumerate() {
            let args: Value = body["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let mut call = json!({ "name": body["name"], "args": args });
            if self.ways.ids && id.is_string() {
                call["id"] = id.clone();
            }
            let mut part = json!({ "functionCall": call });
            if nth == 0 {
                part["thoughtSignature"] = "c2lnbmVk".into(); // of parallel calls the first has it
            }
            made.push(part);
        }
        self.contents.push(json!({ "role": "model", "parts": made }));
    }

    /// A result of no call has no name that a call has.
    fn response(&self, message: &Value, tool: Option<&str>) -> Value {
        let id = if message["role"] == "function" { &legacy_id(&message["name"]) } else { &message["tool_call_id"] };
        let name = tool.unwrap_or("unknown");
        let (texts, media): (Vec<Value>, Vec<Value>) = parts(&message["content"]).into_iter().partition(|part| part["text"].is_string());
        let texts: Vec<&str> = texts.iter().filter_map(|part| part["text"].as_str()).collect();
        let response = match texts[..] {
            [text] if text.starts_with("Error") || message["is_error"] == true || message["status"] == "error" => json!({ "error": text }),
            [text] => json!({ "output": text }),
            _ => texts.iter().enumerate().map(|(nth, text)| (format!("output_{nth}"), json!(text))).collect(),
        };
        let mut made = json!({ "name": name, "response": response });
        if !media.is_empty() {
            made["parts"] = media.into();
        }
        if self.ways.ids && id.is_string() {
            made["id"] = id.clone();
        }
        json!({ "functionResponse": made })
    }
}

fn parts(content: &Value) -> Vec<Value> {
    let part = |part: &Value| match part {
        Value::String(text) => json!({ "text": text }),
        part if part["type"] == "text" => json!({ "text": part["text"] }),
        part => {
            let mut data = json!({ "mimeType": "image/png", "data": part["image_url"]["url"] });
            if !part["image_url"]["detail"].is_null() {
                data["detail"] = part["image_url"]["detail"].clone(); // what such an image costs
            }
            json!({ "inlineData": data })
        }
    };
    match content {
        Value::String(_) => vec![part(content)],
        _ => content.as_array().into_iter().flatten().map(part).collect(),
    }
}
