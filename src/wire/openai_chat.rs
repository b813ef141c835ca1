//! OpenAI Chat Completions messages, with what routers add to them (`reasoning`, `reasoning_details`, `cache_control`).
//!
//! Parts of a message: a string content is part 0, an array's items have their index, and reasoning comes after them, whatever
//! fields it is spread over.

use super::reading::{has_parts, has_tools, is_anthropic_block};
use super::{Wire, ai_sdk, openai_responses};
use crate::tape::{Kind, Node};

mod apply;
mod read;
mod scored;

const REASONING: [&str; 3] = ["reasoning", "reasoning_content", "reasoning_details"];

/// Between a system message and the context block.
const BLOCK_GAP: &str = "\n\n";

/// The format.
pub(super) const WIRE: Wire = Wire {
    foreign,
    is_unlike: |request| request.system.is_some() || has_tools(request, &["input_schema", "inputSchema"]),
    read: read::read,
    append: read::append,
    apply: apply::apply,
    scored_bytes: scored::scored_bytes,
};

/// Why a message cannot be a Chat message, if it cannot. A conflict only: what several formats share is none.
fn foreign(message: Node<'_>) -> Option<&'static str> {
    let content = message.get("content");
    if let Some(whose) = has_parts(message) {
        return Some(whose);
    }
    if message.get("type").and_then(Node::text).is_some_and(openai_responses::is_item) {
        return Some("it is an item of OpenAI Responses");
    }
    if ai_sdk::is_own(message) {
        return Some("it has parts or options of the AI SDK");
    }
    let parts = content.filter(|content| content.kind() == Kind::Array)?;
    parts.children().filter_map(|part| part.get("type").and_then(Node::text)).find_map(|kind| match kind {
        kind if is_anthropic_block(kind) => Some("it has blocks of Anthropic Messages"),
        "input_text" | "output_text" | "input_image" | "input_file" => Some("it has parts of OpenAI Responses"),
        _ => None,
    })
}
