//! OpenAI Responses: each thought, message, call and output is an item.

use serde_json::{Value, json};
use warmfold::Format;

use super::openai_chat::{behind, is_at_the_end};
use super::{Slot, Twin, separated};

pub mod from_chat;
pub mod validator;

pub const TWIN: Twin = Twin {
    name: "openai_responses",
    format: Format::OpenaiResponses,
    sayable: separated,
    from_chat: from_chat::from_chat,
    texts,
    put: |text, shortened| *text = shortened.into(),
    drop_reasoning: |_| {}, // it never goes
    put_block,
    faults: |request| validator::faults(request).into_iter().map(|(fault, _)| fault).collect(),
};

/// A string is part 0; of a list each part has its index, and of a shell's chunks each is two, `stdout` and `stderr`.
fn texts(item: &Value) -> Vec<Slot> {
    let kind = item["type"].as_str().unwrap_or("message");
    let key = match kind {
        "message" => "content",
        kind if kind.ends_with("_output") && item["execution"] != "server" => "output",
        _ => return Vec::new(),
    };
    let slot = |part: usize, pointer: String| {
        let text = item.pointer(&pointer)?.as_str()?.to_owned();
        Some(Slot { part, pointer, text })
    };
    let parts = item[key].as_array().into_iter().flatten().enumerate();
    let whole = slot(0, format!("/{key}"));
    let of_part = |(at, part): (usize, &Value)| match (kind, part["type"].as_str()) {
        ("shell_call_output", _) => [slot(2 * at, format!("/{key}/{at}/stdout")), slot(2 * at + 1, format!("/{key}/{at}/stderr"))],
        _ if part.is_string() => [slot(at, format!("/{key}/{at}")), None],
        (_, Some("input_text" | "output_text" | "text")) => [slot(at, format!("/{key}/{at}/text")), None],
        _ => [None, None],
    };
    whole.into_iter().chain(parts.flat_map(of_part).flatten()).collect()
}

/// At the end of the leading system messages, else of the instructions, else in a message of its own.
fn put_block(request: &mut Value, block: &str) {
    let list = crate::support::list_of(request);
    let lead = request[list].as_array().map_or(0, |items| items.iter().take_while(|item| is_system(item)).count());
    let is_message = |at: &usize| request[list][at]["type"].as_str().is_none_or(|kind| kind == "message");
    let last = (0..lead).rfind(is_message);
    let texts = (0..lead).flat_map(|at| texts(&request[list][at])).map(|slot| slot.text);
    let mut texts = texts.chain(request["instructions"].as_str().map(str::to_owned));
    if texts.any(|text| is_at_the_end(&text, block)) {
        return;
    }
    if let Some(last) = last {
        match &mut request[list][last]["content"] {
            Value::Array(parts) => parts.push(json!({ "type": "input_text", "text": block })),
            content => *content = behind(content, block),
        }
    } else if request["instructions"].is_string() || request[list].is_string() {
        request["instructions"] = behind(&request["instructions"], block);
    } else if let Some(items) = request[list].as_array_mut() {
        items.insert(0, json!({ "role": "system", "content": block }));
    }
}

fn is_system(item: &Value) -> bool {
    matches!(item["role"].as_str(), Some("system" | "developer"))
}
