//! Anthropic Messages: results of one batch share a user message, and the system prompt stands apart.

use serde_json::{Value, json};
use warmfold::Format;

use super::openai_chat::{behind, is_at_the_end};
use super::{Slot, Twin};

pub mod from_chat;
pub mod validator;

pub const TWIN: Twin = Twin {
    name: "anthropic",
    format: Format::Anthropic,
    sayable: <[Value]>::to_vec,
    from_chat: |request| from_chat::from_chat(request, false),
    texts,
    put: |text, shortened| *text = shortened.into(),
    drop_reasoning,
    put_block,
    faults: validator::faults,
};

/// A block's text has its index; what a result says first has that of its block, and its further texts stand behind all blocks.
fn texts(message: &Value) -> Vec<Slot> {
    let slot = |part: usize, pointer: String| {
        let text = message.pointer(&pointer).and_then(Value::as_str).unwrap_or("").to_owned();
        Slot { part, pointer, text }
    };
    let Some(blocks) = message["content"].as_array() else {
        return message["content"].is_string().then(|| slot(0, "/content".to_owned())).into_iter().collect();
    };
    let mut texts = Vec::new();
    let mut further = blocks.len();
    for (at, block) in blocks.iter().enumerate() {
        if block["type"] == "tool_result" && message["role"] != "assistant" {
            let mut inside = inside(&block["content"]).into_iter().map(|inside| format!("/content/{at}/content{inside}"));
            texts.extend(inside.next().map(|first| slot(at, first)));
            inside.for_each(|pointer| {
                texts.push(slot(further, pointer));
                further += 1;
            });
        } else if block.is_string() {
            texts.push(slot(at, format!("/content/{at}")));
        } else if block["type"] == "text" && block["text"].is_string() {
            texts.push(slot(at, format!("/content/{at}/text")));
        }
    }
    texts
}

/// The texts of a result, from its content on.
fn inside(content: &Value) -> Vec<String> {
    let of_item = |(at, item): (usize, &Value)| match item["type"].as_str() {
        _ if item.is_string() => vec![format!("/{at}")],
        Some("text") if item["text"].is_string() => vec![format!("/{at}/text")],
        Some("search_result") => {
            let texts = item["content"].as_array().into_iter().flatten().enumerate().filter(|(_, inner)| inner["text"].is_string());
            texts.map(|(inner, _)| format!("/{at}/content/{inner}/text")).collect()
        }
        Some("document") if item["source"]["type"] == "text" && item["source"]["data"].is_string() && item["citations"]["enabled"] != true => {
            vec![format!("/{at}/source/data")]
        }
        _ => Vec::new(),
    };
    match content {
        Value::String(_) => vec![String::new()],
        content => content.as_array().into_iter().flatten().enumerate().flat_map(of_item).collect(),
    }
}

pub fn is_thinking(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn drop_reasoning(message: &mut Value) {
    message["content"].as_array_mut().expect("thinking is a block").retain(|block| !is_thinking(block));
}

/// At the end of the system prompt, which it may be alone.
fn put_block(request: &mut Value, block: &str) {
    let system = &mut request["system"];
    let last = system.as_str().or_else(|| system.as_array()?.last()?["text"].as_str());
    if last.is_some_and(|text| is_at_the_end(text, block)) {
        return;
    }
    match system {
        Value::Array(blocks) => blocks.push(json!({ "type": "text", "text": block })),
        system => *system = behind(system, block),
    }
}
