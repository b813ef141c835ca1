//! `wire`: OpenAI Responses, what is particular to it. Laws and cases run on it through its [`twin`](crate::twin::openai_responses).

use serde_json::{Value, json};

use crate::support::{Carry, Sent, send};

mod cases;
mod items;
mod marks;

// It has property tests.
#[cfg(not(target_arch = "wasm32"))]
mod laws;

/// Items alone, as a new conversation.
pub fn fold_items(items: &[Value], options: &Value) -> Sent {
    send(&json!({ "input": items }), options, &Carry::New)
}

pub fn call(id: &str, tool: &str, arguments: Value) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": tool, "arguments": arguments.to_string() })
}

pub fn output(id: &str, text: impl Into<Value>) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": text.into() })
}

pub fn thought(id: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [{ "type": "summary_text", "text": "Let me look." }], "encrypted_content": "Z2VoZWlt" })
}
