//! Where texts stand, read a second time: from the JSON alone, without the wire.

use std::collections::BTreeMap;
use warmfold::fold::{Mark, Place};
use warmfold::history::Front;

use serde_json::{Value, json};

use crate::oracle::rendered;
use crate::support::Edit;

/// The texts of the tool results of a message, as JSON pointers by part.
pub fn results(message: &Value) -> BTreeMap<usize, String> {
    let Some(blocks) = message["content"].as_array().filter(|_| message["role"] != "assistant") else { return BTreeMap::new() };
    let mut places = BTreeMap::new();
    let mut further = blocks.len();
    for (block, result) in blocks.iter().enumerate().filter(|(_, block)| block["type"] == "tool_result") {
        for (nth, inside) in inside(&result["content"]).into_iter().enumerate() {
            let part = if nth == 0 { block } else { further + nth - 1 };
            places.insert(part, format!("/content/{block}/content{inside}"));
        }
        further += inside(&result["content"]).len().saturating_sub(1);
    }
    places
}

fn inside(content: &Value) -> Vec<String> {
    let of_item = |(at, item): (usize, &Value)| match item["type"].as_str() {
        _ if item.is_string() => vec![format!("/{at}")],
        Some("text") => vec![format!("/{at}/text")],
        Some("search_result") => {
            let texts = item["content"].as_array().into_iter().flatten().enumerate().filter(|(_, inner)| inner["text"].is_string());
            texts.map(|(inner, _)| format!("/{at}/content/{inner}/text")).collect()
        }
        Some("document") if item["source"]["type"] == "text" && item["citations"]["enabled"] != true => vec![format!("/{at}/source/data")],
        _ => Vec::new(),
    };
    match content {
        Value::String(_) => vec![String::new()],
        content => content.as_array().into_iter().flatten().enumerate().flat_map(of_item).collect(),
    }
}

/// The messages with edits in them.
pub fn edited(messages: &[Value], edits: &[Edit]) -> Vec<Value> {
    let mut messages = messages.to_vec();
    for edit in edits {
        let message = &mut messages[edit.message];
        if edit.rule == "reasoning" {
            let blocks = message["content"].as_array_mut().expect("thinking is a block");
            blocks.retain(|block| !is_thinking(block));
            continue;
        }
        let place = results(message)[&edit.part].clone();
        let text = message.pointer_mut(&place).expect("it was found there");
        *text = rendered(text.as_str().expect("it is a text"), &edit.pieces).into();
    }
    messages
}

pub fn is_thinking(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

/// A request without the marks that a call has written.
pub fn unmarked(sent: &Value, given: &Value, marks: &[Mark]) -> Value {
    let mut sent = sent.clone();
    let mark = |block: &mut Value| drop(block.as_object_mut().expect("a mark stands in an object").remove("cache_control"));
    for place in marks {
        let Some(part) = place.part else { continue };
        let (content, was) = match place.at {
            Place::Message(at) => (&mut sent["messages"][at]["content"], &given["messages"][at]["content"]),
            Place::Front(front) => {
                let field = if front == Front::System { "system" } else { "tools" };
                let is_ours = |(block, was): (&Value, Option<&Value>)| {
                    block.get("cache_control").is_some() && was.is_none_or(|was| was.get("cache_control").is_none())
                };
                let Some(blocks) = sent[field].as_array() else { continue }; // it was the block's
                let was = given[field].as_array();
                let ours = (0..blocks.len()).rfind(|at| is_ours((&blocks[*at], was.and_then(|was| was.get(*at)))));
                let Some(ours) = ours else { continue }; // it stood on the block
                if was.is_none() {
                    sent[field] = blocks[0]["text"].clone();
                } else {
                    mark(&mut sent[field][ours]);
                }
                continue;
            }
        };
        if was.is_array() {
            mark(&mut content[part as usize]);
        } else {
            *content = json!(content[0]["text"]);
        }
    }
    sent
}
