//! OpenAI Chat Completions messages, with what routers add to them (`reasoning`, `reasoning_details`, `cache_control`).
//!
//! Parts of a message: a string content is part 0, an array's items have their index, and reasoning comes after them, whatever
//! fields it is spread over.

use crate::error::{Code, Error};
use crate::tape::{Kind, Node};

mod apply;
mod read;
mod scored;

pub(super) use apply::apply;
pub(super) use read::{append, read};
pub(super) use scored::scored_bytes;

const REASONING: [&str; 3] = ["reasoning", "reasoning_content", "reasoning_details"];
const MARK_KEYS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// Between a system message and the context block.
const BLOCK_GAP: &str = "\n\n";

/// Why a message cannot be a Chat message, if it cannot. A conflict only: what several formats share is none.
pub(super) fn foreign(message: Node<'_>) -> Option<&'static str> {
    let content = message.get("content");
    if content.is_none() && message.get("parts").is_some_and(|parts| parts.kind() == Kind::Array) {
        return Some("it has the parts of Gemini, or of the AI SDK's UI messages");
    }
    if message.get("role").is_none() {
        let kind = message.get("type").and_then(Node::text);
        return kind.filter(|kind| RESPONSES.contains(kind)).map(|_| "it is an item of OpenAI Responses");
    }
    let parts = content.filter(|content| content.kind() == Kind::Array)?;
    parts.children().filter_map(|part| part.get("type").and_then(Node::text)).find_map(|kind| match kind {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" => Some("it has blocks of Anthropic Messages"),
        "tool-call" | "tool-result" => Some("it has parts of the AI SDK"),
        _ => None,
    })
}

const RESPONSES: [&str; 4] = ["function_call", "function_call_output", "reasoning", "item_reference"];

/// What cannot be edited without losing what we cannot see.
fn plain(node: Node<'_>, path: impl Fn() -> String) -> crate::Result<()> {
    if node.is_instance() {
        let what = "it is an instance of a class, whose other fields cannot be known: pass plain messages, or use the adapter of your framework";
        return Err(Error::new(Code::ClassInstance, path(), what));
    }
    Ok(())
}
