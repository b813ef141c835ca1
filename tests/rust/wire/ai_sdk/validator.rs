//! What makes the AI SDK, or the provider behind it, refuse messages: the documented rules, read from the JSON alone.

use serde_json::Value;

use crate::oracle::{Checked, ensure};

/// Roles, parts, pairs, marks and reasoning.
pub fn valid(messages: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        content_is_of_its_role(at, role, &message["content"])?;
        let parts = || message["content"].as_array().into_iter().flatten();
        match role {
            "user" | "system" => ensure!(open.is_empty(), "message {at}: calls without results before it: {open:?}"),
            "assistant" => {
                ensure!(open.is_empty(), "message {at}: calls without results before it: {open:?}");
                let only_thinks = parts().next().is_some() && parts().all(|part| part["type"] == "reasoning");
                ensure!(!only_thinks && message["content"] != Value::Array(Vec::new()), "message {at}: says nothing");
                open.extend(
                    parts()
                        .filter(|part| part["type"] == "tool-call" && part["providerExecuted"] != true)
                        .filter_map(|part| part["toolCallId"].as_str()),
                );
                let has = |kind: &str| parts().any(|part| part["type"] == kind);
                ensure!(!has("tool-result") || has("tool-call"), "message {at}: a provider's result without its call");
            }
            _ => {
                for part in parts().filter(|part| part["type"] == "tool-result") {
                    let id = part["toolCallId"].as_str().unwrap_or("");
                    let answered = open.iter().position(|call| *call == id);
                    let Some(answered) = answered else { return Err(format!("message {at}: a result without its call: {id}")) };
                    open.remove(answered);
                }
            }
        }
    }
    ensure!(open.is_empty(), "calls without results at the end: {open:?}");
    marks_stand(messages)
}

fn content_is_of_its_role(at: usize, role: &str, content: &Value) -> Checked {
    let allowed: &[&str] = match role {
        "system" => {
            ensure!(content.is_string(), "message {at}: a system message is a string");
            return Ok(());
        }
        "user" => &["text", "image", "file"],
        "assistant" => &["text", "file", "reasoning", "tool-call", "tool-result", "tool-approval-request", "reasoning-file", "custom"],
        "tool" => &["tool-result", "tool-approval-response"],
        _ => return Err(format!("message {at}: there is no role {role:?}")),
    };
    if content.is_string() && role != "tool" {
        return Ok(());
    }
    let Some(parts) = content.as_array() else { return Err(format!("message {at}: its content is no list")) };
    for part in parts {
        let kind = part["type"].as_str().unwrap_or("");
        ensure!(allowed.contains(&kind), "message {at}: {kind:?} in a message of {role}");
        ensure!(kind != "text" && kind != "reasoning" || part["text"].is_string(), "message {at}: a text without text");
        if kind == "tool-result" {
            output_is_whole(&part["output"]).map_err(|what| format!("message {at}: {what}"))?;
        }
    }
    Ok(())
}

fn output_is_whole(output: &Value) -> Checked {
    let value = &output["value"];
    let is_whole = match output["type"].as_str() {
        Some("text" | "error-text") => value.is_string(),
        Some("json" | "error-json") => output.get("value").is_some(),
        Some("execution-denied") => true,
        Some("content") => value.as_array().is_some_and(|items| items.iter().all(|item| item["type"] != "text" || item["text"].is_string())),
        _ => false,
    };
    ensure!(is_whole, "an output that is none: {output}");
    Ok(())
}

/// A mark, by its provider: on what it stands, and whether it asks for an hour.
fn mark(node: &Value) -> Option<bool> {
    let mark = &node["providerOptions"]["anthropic"]["cacheControl"];
    mark.is_object().then(|| mark["ttl"] == "1h")
}

/// At most four, an hour before five minutes, none on blank texts or reasoning.
fn marks_stand(messages: &[Value]) -> Checked {
    let mut hours = Vec::new();
    for message in messages {
        let parts: Vec<&Value> = message["content"].as_array().into_iter().flatten().collect();
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.iter().enumerate() {
            let items = part["output"]["value"].as_array().into_iter().flatten();
            let inner = mark(&part["output"]).or_else(|| items.filter_map(mark).next());
            let Some(hour) = mark(part).or(inner).or(if at == last { mark(message) } else { None }) else { continue };
            let is_blank = part["type"] == "text" && part["text"].as_str().is_none_or(|text| text.trim().is_empty());
            ensure!(!is_blank && part["type"] != "reasoning", "a mark on {part}");
            hours.push(hour);
        }
        if parts.is_empty()
            && let Some(hour) = mark(message)
        {
            ensure!(message["content"].as_str().is_some_and(|text| !text.trim().is_empty()), "a mark on {message}");
            hours.push(hour);
        }
    }
    ensure!(hours.len() <= 4, "{} marks", hours.len());
    ensure!(hours.is_sorted_by(|before, after| before >= after), "five minutes before an hour: {hours:?}");
    Ok(())
}

#[test]
fn it_can_fail() {
    use serde_json::json;
    let call = json!({ "role": "assistant", "content": [{ "type": "tool-call", "toolCallId": "1", "toolName": "t", "input": {} }] });
    let output =
        |output: Value| json!({ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "1", "toolName": "t", "output": output }] });
    let result = output(json!({ "type": "text", "value": "x" }));
    let user = json!({ "role": "user", "content": "hi" });
    assert_eq!(valid(&[user.clone(), call.clone(), result.clone()]), Ok(()));
    let marked = |ttl: &str| json!({ "role": "user", "content": "hi", "providerOptions": { "anthropic": { "cacheControl": { "type": "ephemeral", "ttl": ttl } } } });
    let broken = [
        vec![call.clone()],
        vec![call.clone(), user.clone()],
        vec![result.clone()],
        vec![call.clone(), result.clone(), result.clone()],
        vec![json!({ "role": "assistant", "content": [] })],
        vec![json!({ "role": "assistant", "content": [{ "type": "reasoning", "text": "t" }] })],
        vec![json!({ "role": "assistant", "content": [{ "type": "image", "image": "x" }] })],
        vec![json!({ "role": "system", "content": [] })],
        vec![json!({ "role": "critic", "content": "x" })],
        vec![json!({ "role": "tool", "content": "x" })],
        vec![call.clone(), output(json!({ "type": "text", "value": {} }))],
        vec![call, output(json!({ "value": "x" }))],
        vec![marked("5m"); 5],
        vec![marked("5m"), marked("1h")],
        vec![json!({ "role": "user", "content": [{ "type": "text", "text": " ", "providerOptions": marked("5m")["providerOptions"] }] })],
    ];
    for messages in broken {
        assert!(valid(&messages).is_err(), "{messages:?}");
    }
}
