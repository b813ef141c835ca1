//! Bodies that real clients have sent, as `tests/js/clients.test.ts` records them: each passes the validator of its format.

use std::path::Path;
use std::{env, fs};

use serde_json::{Value, json};
use warmfold::Format;

use crate::twin::{ai_sdk, anthropic, gemini, openai_chat, openai_responses};

/// Names a folder of files `<format>.<client>.<number>.json`.
const FOLDER: &str = "WARMFOLD_RECORDED";

#[test]
fn bodies_pass() {
    let Some(folder) = env::var_os(FOLDER) else {
        return println!("skipped: recorded bodies: {FOLDER} names no folder of them; tests/js/clients.test.ts sets it");
    };
    let files = fs::read_dir(&folder).expect("the folder can be read").map(|entry| entry.expect("an entry can be read").path());
    let checked: Vec<Vec<String>> = files.map(|path| faults_of(&path)).collect();
    let faults: Vec<&String> = checked.iter().flatten().collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(!checked.is_empty(), "nothing is recorded in {}", folder.display());
    println!("recorded: {} bodies pass", checked.len());
}

fn faults_of(path: &Path) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let body = fs::read(path).expect("a body can be read");
    faults(&name, &body).into_iter().map(|fault| format!("{name}: {fault}")).collect()
}

fn faults(name: &str, body: &[u8]) -> Vec<String> {
    let request: Value = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return vec![error.to_string()],
    };
    let format = name.split('.').next().and_then(|name| Format::NAMES.iter().find(|(known, _)| *known == name));
    match format.map(|(_, format)| format) {
        Some(Format::OpenaiChat) => openai_chat::validator::faults(&request),
        Some(Format::Anthropic) => anthropic::validator::faults(&request),
        Some(Format::OpenaiResponses) => {
            openai_responses::validator::faults(&request).into_iter().map(|(what, at)| format!("input[{at}]: {what}")).collect()
        }
        Some(Format::AiSdk) => match request["messages"].as_array() {
            Some(messages) => ai_sdk::validator::faults(messages),
            None => vec!["there are no messages".to_owned()],
        },
        Some(Format::Gemini) => gemini::validator::faults(&request),
        Some(Format::AiSdkUi) | None => vec!["nothing validates it".to_owned()],
    }
}

/// A validator that is not asked finds nothing.
#[test]
fn each_format_is_asked() {
    let orphans = [
        ("openai-chat", json!({ "messages": [{ "role": "tool", "tool_call_id": "a", "content": "x" }] })),
        ("anthropic", json!({ "messages": [{ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "x" }] }] })),
        ("openai-responses", json!({ "input": [{ "type": "function_call_output", "call_id": "a", "output": "x" }] })),
        (
            "ai-sdk",
            json!({ "messages": [{ "role": "tool", "content": [{ "type": "tool-result", "toolCallId": "a", "toolName": "t", "output": { "type": "text", "value": "x" } }] }] }),
        ),
        ("gemini", json!({ "contents": [{ "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": {} } }] }] })),
        ("ai-sdk", json!({ "prompt": [] })),
        ("openai", json!({ "messages": [{ "role": "user", "content": "hi" }] })),
    ];
    for (format, request) in orphans {
        assert_eq!(faults(&format!("{format}.client.1.json"), request.to_string().as_bytes()).len(), 1, "{format}: {request}");
    }
    assert_eq!(faults("anthropic.client.1.json", b"{").len(), 1);
}
