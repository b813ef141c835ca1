//! Model messages of the AI SDK: calls and results are parts, and results of one batch share a message.

use serde_json::{Value, json};
use warmfold::Format;

use super::openai_chat::{behind, is_at_the_end};
use super::{Slot, Twin};

pub mod from_chat;
pub mod validator;

pub const TWIN: Twin = Twin {
    name: "ai_sdk",
    format: Format::AiSdk,
    sayable: <[Value]>::to_vec,
    from_chat: from_chat::from_chat,
    texts,
    put,
    drop_reasoning,
    put_block,
    faults: |request| validator::faults(request["messages"].as_array().map_or(&[], Vec::as_slice)),
};

/// A part's text has its index; of what a result lists the first text has that of its part, and further ones stand behind all parts.
fn texts(message: &Value) -> Vec<Slot> {
    let slot = |part: usize, pointer: String, text: &Value| {
        let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        Slot { part, pointer, text }
    };
    let content = &message["content"];
    let Some(parts) = content.as_array() else {
        return content.is_string().then(|| slot(0, "/content".to_owned(), content)).into_iter().collect();
    };
    let mut texts = Vec::new();
    let mut further = parts.len();
    for (at, part) in parts.iter().enumerate() {
        let output = &part["output"];
        match (part["type"].as_str(), output["type"].as_str()) {
            (Some("text"), _) if part["text"].is_string() => texts.push(slot(at, format!("/content/{at}/text"), &part["text"])),
            (Some("tool-result"), Some(kind)) if message["role"] == "tool" => match kind {
                "content" => {
                    let items = output["value"].as_array().into_iter().flatten().enumerate();
                    for (nth, (inner, item)) in items.filter(|(_, item)| item["type"] == "text" && item["text"].is_string()).enumerate() {
                        let number = if nth == 0 { at } else { further };
                        further += usize::from(nth > 0);
                        texts.push(slot(number, format!("/content/{at}/output/value/{inner}/text"), &item["text"]));
                    }
                }
                "text" | "error-text" if output["value"].is_string() => texts.push(slot(at, format!("/content/{at}/output"), &output["value"])),
                "json" | "error-json" if output.get("value").is_some() => {
                    texts.push(Slot { text: output["value"].to_string(), ..slot(at, format!("/content/{at}/output"), output) });
                }
                _ => {}
            },
            _ => {}
        }
    }
    texts
}

/// What is left of a value is a text.
fn put(text: &mut Value, shortened: String) {
    match text["type"].as_str().map(|kind| kind.replace("json", "text")) {
        None => *text = shortened.into(),
        Some(kind) => (text["type"], text["value"]) = (kind.into(), shortened.into()),
    }
}

fn drop_reasoning(message: &mut Value) {
    message["content"].as_array_mut().expect("reasoning is a part").retain(|part| part["type"] != "reasoning");
}

/// At the end of the leading system messages, or in one of its own.
fn put_block(request: &mut Value, block: &str) {
    let messages = request["messages"].as_array_mut().expect("a request has messages");
    let lead = messages.iter().take_while(|message| message["role"] == "system").count();
    if messages[..lead].iter().any(|message| is_at_the_end(message["content"].as_str().unwrap_or(""), block)) {
        return;
    }
    match lead.checked_sub(1) {
        None => messages.insert(0, json!({ "role": "system", "content": block })),
        Some(last) => messages[last]["content"] = behind(&messages[last]["content"], block),
    }
}
