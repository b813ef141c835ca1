//! What the documentation of Anthropic Messages says is answered with 400, as far as a history is concerned.
//!
//! Faults name the message and not the block, so that those of a request and of what became of it can be held against each other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::is_thinking;

/// What is wrong with a request.
pub fn faults(request: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let messages: &[Value] = request["messages"].as_array().map_or(&[], Vec::as_slice);
    if messages.is_empty() {
        faults.push("there are no messages".to_owned());
    }
    if messages.first().is_some_and(|first| first["role"] != "user") {
        faults.push("the first message is not the user's".to_owned());
    }
    for (at, message) in messages.iter().enumerate() {
        let of_message = message_faults(message, at + 1 == messages.len(), at.checked_sub(1).map(|before| &messages[before]));
        faults.extend(of_message.into_iter().map(|fault| format!("messages[{at}]: {fault}")));
    }
    faults.extend(system_faults(&request["system"]));
    faults.extend(pairing(messages));
    faults.extend(mark_faults(request));
    faults.extend(open_loop(request, messages));
    faults
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

fn message_faults(message: &Value, is_last: bool, before: Option<&Value>) -> Vec<String> {
    let mut faults = Vec::new();
    let role = message["role"].as_str().unwrap_or("");
    match role {
        "user" | "assistant" => {}
        "system" if before.is_some_and(|before| before["role"] == "user") => {}
        _ => faults.push(format!("no {role:?} here")),
    }
    let prefilled = is_last && role == "assistant";
    match &message["content"] {
        Value::String(text) if text.trim().is_empty() && !prefilled => faults.push("an empty content".into()),
        Value::Array(blocks) if blocks.is_empty() && !prefilled => faults.push("an empty content".into()),
        Value::String(_) | Value::Array(_) => {}
        other => faults.push(format!("no content: {other}")),
    }
    faults.extend(blocks(message).iter().flat_map(|block| block_faults(block, role)));
    if blocks(message).last().is_some_and(is_thinking) && role == "assistant" {
        faults.push("it ends with thinking".into());
    }
    faults
}

fn block_faults(block: &Value, role: &str) -> Vec<String> {
    let theirs = |whose: &str| if role == whose { Vec::new() } else { vec![format!("{} is not the {role}'s", block["type"])] };
    match block["type"].as_str().unwrap_or("") {
        "text" if is_blank(&block["text"]) => vec!["an empty text".into()],
        "text" | "image" | "document" => Vec::new(),
        "search_result" => search_faults(block),
        "tool_result" => [theirs("user"), result_faults(&block["content"])].concat(),
        "tool_use" if !block["input"].is_object() || is_blank(&block["id"]) => vec!["a call without input or id".into()],
        "thinking" if is_blank(&block["signature"]) => vec!["thinking without a signature".into()],
        "redacted_thinking" if is_blank(&block["data"]) => vec!["redacted thinking without data".into()],
        "compaction" if block["content"] == "" => vec!["an empty compaction".into()],
        "tool_use" | "thinking" | "redacted_thinking" | "compaction" | "server_tool_use" | "mcp_tool_use" => theirs("assistant"),
        kind if kind.ends_with("_tool_result") => theirs("assistant"),
        "container_upload" | "mid_conv_system" => theirs("user"),
        kind => vec![format!("no block is a {kind:?}")],
    }
}

fn result_faults(content: &Value) -> Vec<String> {
    let of_item = |item: &Value| match item["type"].as_str().unwrap_or("") {
        "text" if is_blank(&item["text"]) => vec!["an empty text in a result".to_owned()],
        "text" | "image" | "document" | "tool_reference" => Vec::new(),
        "search_result" => search_faults(item),
        kind => vec![format!("no result holds a {kind:?}")],
    };
    match content {
        Value::Null | Value::String(_) => Vec::new(),
        Value::Array(items) => items.iter().flat_map(of_item).collect(),
        _ => vec!["a result is a text or blocks".into()],
    }
}

fn search_faults(result: &Value) -> Vec<String> {
    let texts = blocks(result);
    let all_texts = !texts.is_empty() && texts.iter().all(|text| text["type"] == "text" && !is_blank(&text["text"]));
    if all_texts && result["source"].is_string() && result["title"].is_string() { Vec::new() } else { vec!["a search result without texts".into()] }
}

fn system_faults(system: &Value) -> Vec<String> {
    match system {
        Value::Null | Value::String(_) => Vec::new(),
        Value::Array(blocks) if blocks.iter().all(|block| block["type"] == "text" && !is_blank(&block["text"])) => Vec::new(),
        _ => vec!["system: a text, or texts that say something".into()],
    }
}

/// A turn: messages of one role that follow each other are one to the provider. A string among its blocks is a text.
fn turns(messages: &[Value]) -> Vec<(&str, Vec<&Value>)> {
    let mut turns: Vec<(&str, Vec<&Value>)> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or("");
        let said = blocks(message).iter().chain(Some(&message["content"]).filter(|content| content.is_string()));
        match turns.last_mut().filter(|(last, _)| *last == role) {
            Some((_, all)) => all.extend(said),
            None => turns.push((role, said.collect())),
        }
    }
    turns
}

/// Every call has its result at the start of the next turn, every result its call in the turn before.
fn pairing(messages: &[Value]) -> Vec<String> {
    let turns = turns(messages);
    let mut faults = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    fn of_kind<'v>(blocks: &[&'v Value], kind: &str, id: &str) -> Vec<&'v Value> {
        blocks.iter().filter(|block| block["type"] == kind).map(|block| &block[id]).collect()
    }
    for (at, (role, blocks)) in turns.iter().enumerate() {
        let calls = if *role == "assistant" { of_kind(blocks, "tool_use", "id") } else { Vec::new() };
        for id in &calls {
            *seen.entry(id.as_str().unwrap_or("")).or_default() += 1;
        }
        if blocks.iter().skip_while(|block| block["type"] != "tool_use").any(|block| block["type"] == "text" || block.is_string())
            && !calls.is_empty()
        {
            faults.push(format!("turn {at}: text behind a call"));
        }
        let next = turns.get(at + 1).filter(|(role, _)| *role == "user").map_or(&[][..], |(_, blocks)| blocks);
        let answers: Vec<&&Value> = next.iter().take_while(|block| block["type"] == "tool_result").collect();
        let unanswered = calls.iter().filter(|id| !answers.iter().any(|answer| &&answer["tool_use_id"] == *id)).count();
        faults.extend(std::iter::repeat_n(format!("turn {at}: a call without its result in the next turn"), unanswered));
        let before = at.checked_sub(1).map_or(&[][..], |before| turns[before].1.as_slice());
        let asked = of_kind(before, "tool_use", "id");
        let results = if *role == "user" { of_kind(blocks, "tool_result", "tool_use_id") } else { Vec::new() };
        let orphans = results.iter().filter(|id| !asked.contains(id)).count();
        faults.extend(std::iter::repeat_n(format!("turn {at}: a result without its call in the turn before"), orphans));
        let twice = results.iter().enumerate().filter(|(nth, id)| results[..*nth].contains(id)).count();
        faults.extend(std::iter::repeat_n(format!("turn {at}: two results of one call"), twice));
    }
    faults.extend(seen.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| format!("the id {id:?} names two calls")));
    faults
}

/// Every value that a mark may stand on, in the order in which the provider reads: tools, system, messages.
fn marks(request: &Value) -> Vec<(&Value, &Value)> {
    fn walk<'v>(value: &'v Value, found: &mut Vec<(&'v Value, &'v Value)>) {
        for block in value.as_array().into_iter().flatten() {
            walk(&block["content"], found);
            found.extend(block.get("cache_control").filter(|mark| !mark.is_null()).map(|mark| (block, mark)));
        }
    }
    let mut found = Vec::new();
    walk(&request["tools"], &mut found);
    walk(&request["system"], &mut found);
    walk(&request["messages"], &mut found);
    found.extend(request.get("cache_control").filter(|mark| mark.is_object()).map(|mark| (request, mark)));
    found
}

fn mark_faults(request: &Value) -> Vec<String> {
    let marks = marks(request);
    let mut faults = Vec::new();
    if marks.len() > 4 {
        faults.push(format!("{} marks", marks.len()));
    }
    let hours: Vec<bool> = marks.iter().map(|(_, mark)| mark["ttl"] == "1h").collect();
    if hours.windows(2).any(|two| !two[0] && two[1]) {
        faults.push("an hour behind five minutes".into());
    }
    for (block, mark) in marks {
        let ttl = mark.get("ttl").is_none_or(|ttl| ttl == "1h" || ttl == "5m");
        if mark["type"] != "ephemeral" || !ttl {
            faults.push(format!("no mark: {mark}"));
        }
        if is_thinking(block) || (block["type"] == "text" && is_blank(&block["text"])) || block["defer_loading"] == true {
            faults.push(format!("a mark on {}", block["type"]));
        }
    }
    faults
}

/// With thinking on, an answer that has asked for tools and waits for their results begins with what was thought.
fn open_loop(request: &Value, messages: &[Value]) -> Option<String> {
    if request["thinking"]["type"] != "enabled" {
        return None;
    }
    let turns = turns(messages);
    let [.., (_, answer), ("user", results)] = &turns[..] else { return None };
    let is_open = results.iter().any(|block| block["type"] == "tool_result");
    let begins = answer.first().is_some_and(|block| is_thinking(block));
    (is_open && !begins).then(|| "the open tool loop has lost its thinking".to_owned())
}
