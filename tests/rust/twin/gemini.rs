//! Gemini: contents of parts, answers that go on over several contents, and no ids where a name does.

use serde_json::{Value, json};
use warmfold::Format;

use super::openai_chat::{behind, is_at_the_end};
use super::{Slot, Twin, separated};
use from_chat::{Ways, from_chat};

pub mod from_chat;
pub mod validator;

pub const TWIN: Twin = Twin {
    name: "gemini",
    format: Format::Gemini,
    sayable: separated,
    from_chat: |request| from_chat(request, Ways { ids: true, sdk: false, snake: false }),
    texts,
    put: |text, shortened| *text = shortened.into(),
    drop_reasoning,
    put_block,
    faults: validator::faults,
};

/// A part's text has its index; of what a function gave the first text has that of its part, and further ones stand behind all parts.
fn texts(content: &Value) -> Vec<Slot> {
    let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let is_models = content["role"] == "model";
    let mut texts = Vec::new();
    let mut further = parts.len();
    for (at, part) in parts.iter().enumerate() {
        let spelt = |keys: [&'static str; 2]| keys.into_iter().find(|key| part[*key].is_object());
        if let Some(text) = part["text"].as_str().filter(|_| !is_models || part["thought"] != true) {
            texts.push(Slot { part: at, pointer: format!("/parts/{at}/text"), text: text.to_owned() });
        } else if let Some(key) = spelt(["functionResponse", "function_response"]).filter(|_| !is_models) {
            let mut found = Vec::new();
            collect(&part[key]["response"], format!("/parts/{at}/{key}/response"), 0, &mut found);
            for (nth, (pointer, text)) in found.into_iter().enumerate() {
                let number = if nth == 0 { at } else { further };
                further += usize::from(nth > 0);
                texts.push(Slot { part: number, pointer, text });
            }
        }
    }
    texts
}

/// Texts directly under the response, and long ones further down.
fn collect(value: &Value, pointer: String, depth: usize, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if depth < 2 || text.len() >= 120 => texts.push((pointer, text.clone())),
        Value::Array(items) if depth < 6 => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{pointer}/{at}"), depth + 1, texts));
        }
        Value::Object(fields) if depth < 6 => {
            let key = |key: &str| key.replace('~', "~0").replace('/', "~1");
            fields.iter().for_each(|(name, field)| collect(field, format!("{pointer}/{}", key(name)), depth + 1, texts));
        }
        _ => {}
    }
}

/// Summaries without a signature.
fn drop_reasoning(content: &mut Value) {
    let is_signed = |part: &Value| part["thoughtSignature"].is_string() || part["thought_signature"].is_string();
    content["parts"].as_array_mut().expect("a thought is a part").retain(|part| part["thought"] != true || is_signed(part));
}

/// At the end of the system prompt, which it may be alone: a content, parts or a text.
fn put_block(request: &mut Value, block: &str) {
    let beside = if request["config"].is_object() { &mut request["config"] } else { request };
    let key = if beside.get("system_instruction").is_some() { "system_instruction" } else { "systemInstruction" };
    let mut system = &mut beside[key];
    if system.is_null() {
        *system = json!({ "parts": [] });
    }
    if system.is_object() {
        let is_part = system.get("parts").is_none() && system.get("text").is_some();
        system = &mut system[if is_part { "text" } else { "parts" }];
    }
    let part = json!({ "text": block });
    match system {
        Value::Array(parts) if parts.last().and_then(text_of).is_some_and(|text| is_at_the_end(text, block)) => {}
        Value::Object(_) if text_of(system).is_some_and(|text| is_at_the_end(text, block)) => {}
        Value::String(text) if is_at_the_end(text, block) => {}
        Value::Array(parts) => parts.push(part),
        Value::Object(_) => *system = json!([system, part]),
        Value::String(_) => *system = behind(system, block),
        _ => *system = json!([part]),
    }
}

fn text_of(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part["text"].as_str())
}
