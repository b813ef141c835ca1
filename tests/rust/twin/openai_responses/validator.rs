//! What the provider answers 400 to, as far as its documentation and its users tell.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::support::list_of;

/// Everything that is wrong with a request, in the order of its items; what it is, and at which item.
pub fn faults(request: &Value) -> Vec<(String, usize)> {
    let mut faults = Vec::new();
    let none = Vec::new();
    let items = request[list_of(request)].as_array().unwrap_or(&none);
    let mut open: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    let mut marks = 0;
    for (at, item) in items.iter().enumerate() {
        let mut fault = |what: &str| faults.push((what.to_owned(), at));
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "message" => message(item, &mut fault),
            "reasoning" => {
                let next = items.get(at + 1).map(|next| (next["type"].as_str().unwrap_or("message"), next["role"].as_str()));
                let is_answer = |(kind, role): (&str, Option<&str>)| role.map_or(!kind.ends_with("_output"), |role| role == "assistant");
                if next.is_some_and(|next| !is_answer(next)) {
                    fault("reasoning was provided without its required following item");
                }
                if !item["summary"].is_array() {
                    fault("reasoning needs a summary");
                }
            }
            kind if kind.ends_with("_call_output") => {
                let id = item["call_id"].as_str().or(item["id"].as_str()).unwrap_or("");
                let asked = kind.strip_suffix("_output").unwrap_or("");
                let answered = open.get_mut(id).and_then(|calls| calls.iter().rposition(|(_, kind)| *kind == asked).map(|found| calls.remove(found)));
                if answered.is_none() {
                    fault("no tool call found for the output");
                }
                result(item, kind, &mut fault);
            }
            kind if kind.ends_with("_call") => {
                if let Some(id) = item["call_id"].as_str().filter(|_| item["execution"] != "server") {
                    let id = if kind == "local_shell_call" { item["id"].as_str().unwrap_or(id) } else { id };
                    open.entry(id).or_default().push((at, kind));
                }
                if kind == "function_call" && !(item["name"].is_string() && item["arguments"].is_string()) {
                    fault("a function call needs name and arguments");
                }
            }
            _ => {}
        }
        for part in [&item["content"], &item["output"]].into_iter().filter_map(Value::as_array).flatten() {
            let Some(mark) = part.get("prompt_cache_breakpoint") else { continue };
            marks += 1;
            let takes = matches!(part["type"].as_str(), Some("input_text" | "input_image" | "input_file")) && item["role"] != "assistant";
            if !takes || mark["mode"] != "explicit" {
                fault("a breakpoint where none can stand");
            }
        }
        if item.get("prompt_cache_breakpoint").is_some() {
            fault("a breakpoint where none can stand");
        }
    }
    faults.extend(open.values().flatten().map(|(at, _)| ("no tool output found for the call".to_owned(), *at)));
    if marks > 4 {
        faults.push(("more than four breakpoints".to_owned(), items.len()));
    }
    if request["instructions"].is_array() || request["instructions"].is_object() {
        faults.push(("instructions are a text".to_owned(), 0));
    }
    faults.sort();
    faults
}

fn message(item: &Value, fault: &mut impl FnMut(&str)) {
    let takes: &[&str] = match item["role"].as_str() {
        Some("user" | "system" | "developer") => &["input_text", "input_image", "input_file"],
        Some("assistant") => &["output_text", "refusal"],
        _ => return fault("unknown role"),
    };
    content(&item["content"], takes, fault);
}

fn result(item: &Value, kind: &str, fault: &mut impl FnMut(&str)) {
    match kind {
        "function_call_output" | "custom_tool_call_output" => content(&item["output"], &["input_text", "input_image", "input_file"], fault),
        "shell_call_output" => {
            let is_chunk = |chunk: &Value| chunk["stdout"].is_string() && chunk["stderr"].is_string() && chunk["outcome"].is_object();
            if !item["output"].as_array().is_some_and(|chunks| chunks.iter().all(is_chunk)) {
                fault("a shell's output is a list of chunks");
            }
        }
        "computer_call_output" if item["output"]["type"] != "computer_screenshot" => fault("a computer's output is a screenshot"),
        "local_shell_call_output" if !item["output"].is_string() => fault("a local shell's output is a text"),
        "apply_patch_call_output" if !(item["output"].is_string() || item.get("output").is_none()) => fault("a patch's output is a text"),
        _ => {}
    }
}

fn content(content: &Value, takes: &[&str], fault: &mut impl FnMut(&str)) {
    match content {
        Value::String(_) => {}
        Value::Array(parts) if parts.is_empty() => fault("an empty list of parts"),
        Value::Array(parts) => {
            for part in parts {
                let kind = part["type"].as_str().unwrap_or("");
                if !takes.contains(&kind) {
                    fault(&format!("invalid part {kind:?}"));
                } else if kind.ends_with("_text") && !part["text"].is_string() {
                    fault("a text part without its text");
                }
            }
        }
        _ => fault("content is neither a text nor a list of parts"),
    }
}

#[test]
fn it_can_fail() {
    use crate::wire::openai_responses::{call, output, thought};
    let say = |role: &str, kind: &str| json!({ "role": role, "content": [{ "type": kind, "text": "hi" }] });
    let user = json!({ "role": "user", "content": "hi" });
    let marked = |mark: Value| json!({ "role": "user", "content": [{ "type": "input_text", "text": "hi", "prompt_cache_breakpoint": mark }] });
    let explicit = marked(json!({ "mode": "explicit" }));
    let of = |items: &[&Value]| faults(&json!({ "input": items })).into_iter().map(|(what, _)| what).collect::<Vec<_>>();
    assert_eq!(of(&[&user, &thought("1"), &call("a", "f", json!({})), &output("a", "ok"), &say("assistant", "output_text")]), Vec::<String>::new());
    assert_eq!(of(&[&user, &output("a", "ok")]), ["no tool call found for the output"]);
    assert_eq!(of(&[&output("a", "ok"), &call("a", "f", json!({}))]), ["no tool call found for the output", "no tool output found for the call"]);
    assert_eq!(of(&[&thought("1"), &user]), ["reasoning was provided without its required following item"]);
    assert_eq!(of(&[&say("assistant", "input_text")]), ["invalid part \"input_text\""]);
    assert_eq!(of(&[&say("user", "text")]), ["invalid part \"text\""]);
    assert_eq!(of(&[&say("tool", "input_text")]), ["unknown role"]);
    assert_eq!(of(&[&json!({ "role": "user", "content": [] })]), ["an empty list of parts"]);
    assert_eq!(of(&[&marked(json!({ "type": "ephemeral" }))]), ["a breakpoint where none can stand"]);
    assert_eq!(of(&[&explicit; 5]), ["more than four breakpoints"]);
}
