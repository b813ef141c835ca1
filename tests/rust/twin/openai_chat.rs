//! Chat, which is its own twin.

use serde_json::{Value, json};
use warmfold::Format;

use super::{Converted, Home, Slot, Twin};

pub mod validator;

pub const TWIN: Twin = Twin {
    name: "openai_chat",
    format: Format::OpenaiChat,
    sayable: <[Value]>::to_vec,
    from_chat,
    texts,
    put: |text, shortened| *text = shortened.into(),
    drop_reasoning,
    put_block,
    faults: validator::faults,
};

pub const REASONING: [&str; 3] = ["reasoning", "reasoning_content", "reasoning_details"];

fn from_chat(request: &Value) -> Converted {
    let messages = request["messages"].as_array().map_or(0, Vec::len);
    Converted { request: request.clone(), homes: (0..messages).map(Home::alone).collect() }
}

/// A string content is part 0; of a list each part has its index.
fn texts(message: &Value) -> Vec<Slot> {
    let part = |(part, one): (usize, &Value)| {
        let field = if one.is_string() { "" } else { "/text" };
        let text = one.as_str().or_else(|| one["text"].as_str().filter(|_| one["type"] == "text"))?;
        Some(Slot { part, pointer: format!("/content/{part}{field}"), text: text.to_owned() })
    };
    match &message["content"] {
        Value::String(text) => vec![Slot { part: 0, pointer: "/content".to_owned(), text: text.clone() }],
        content => content.as_array().into_iter().flatten().enumerate().filter_map(part).collect(),
    }
}

fn drop_reasoning(message: &mut Value) {
    let message = message.as_object_mut().expect("a message is an object");
    REASONING.iter().for_each(|key| drop(message.remove(*key)));
}

/// At the end of the leading system messages, or in one of its own.
fn put_block(request: &mut Value, block: &str) {
    let messages = request["messages"].as_array_mut().expect("a request has messages");
    let lead = messages.iter().take_while(|message| matches!(message["role"].as_str(), Some("system" | "developer"))).count();
    if messages[..lead].iter().flat_map(texts).any(|slot| is_at_the_end(&slot.text, block)) {
        return;
    }
    match lead.checked_sub(1).map(|last| &mut messages[last]["content"]) {
        None => messages.insert(0, json!({ "role": "system", "content": block })),
        Some(Value::Array(parts)) => parts.push(json!({ "type": "text", "text": block })),
        Some(content) => *content = behind(content, block),
    }
}

/// Whether a text ends with the block, by itself.
pub fn is_at_the_end(text: &str, block: &str) -> bool {
    text.strip_suffix(block).is_some_and(|before| before.is_empty() || before.ends_with("\n\n"))
}

/// A text with the block behind it; the block where there is none.
pub fn behind(text: &Value, block: &str) -> Value {
    text.as_str().filter(|text| !text.is_empty()).map_or(block.into(), |text| format!("{text}\n\n{block}").into())
}
