//! OpenAI Responses: each item of `input` is a message of the view, and an answer of the model is a run of them.
//!
//! **Parts.** A string is part 0; in an array each part has its index. Of the output of a `shell_call` each chunk is two parts, `stdout` and
//! `stderr`. Only what a tool of the host's says is ever shortened: outputs of functions, custom tools, shells and patches.
//!
//! **Answers.** What the model writes and what the provider runs for it in between (web search, MCP, code) is one answer, as far as it
//! stands in a row. Calls that a host lists each with its result are taken for as many answers.
//!
//! **Reasoning** goes back as it came, always: the provider refuses a call, and a message that has its id, without the reasoning before it,
//! and reasoning without what follows.
//!
//! **What the provider keeps.** With `previous_response_id`, `conversation`, `prompt` or an `item_reference` only what stands in the request
//! is counted and can be shortened, which the report says; a result whose call stands elsewhere is left as it is.
//!
//! `input` may be a text: it is a message of the user's, and there is nothing to shorten.
//!
//! ```
//! use warmfold::{Format, history::{EntryKind, Role}, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"instructions": "Be brief.", "input": [
//!     {"role": "user", "content": "what is in a.txt?"},
//!     {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z2VoZWlt"},
//!     {"type": "function_call", "call_id": "1", "name": "read", "arguments": "{\"path\": \"a.txt\"}"},
//!     {"type": "function_call_output", "call_id": "1", "output": "hello"}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::OpenaiResponses);
//! let view = Format::OpenaiResponses.read(&request, None)?;
//! assert_eq!((view.messages[2].role, view.messages[2].continues), (Role::Assistant, true));
//! assert_eq!(view.entries[2].kind, EntryKind::Result);
//! assert_eq!(view.tool_of(&view.entries[2]), Some("read"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::reading::{has_parts, has_tools, is_anthropic_block, python_json_bytes};
use super::{Request, Wire, ai_sdk};
use crate::tape::{Kind, Node};
use item::Item;

mod apply;
mod item;
mod read;

pub(super) use item::is_item;

/// What a request calls its items.
pub(super) const LIST: &str = "input";

/// What it calls its system prompt.
pub(super) const SYSTEM: &str = "instructions";

/// Fields that name what the provider keeps and adds to a request.
pub(super) const ELSEWHERE: [&str; 3] = ["previous_response_id", "conversation", "prompt"];

/// Between the system prompt and the context block.
const BLOCK_GAP: &str = "\n\n";

/// The format.
pub(super) const WIRE: Wire = Wire {
    foreign,
    is_unlike: |request| has_tools(request, &["function", "input_schema", "inputSchema"]),
    read: read::read,
    append: read::append,
    apply: apply::apply,
    scored_bytes,
};

/// The scorer knows Chat only: tool calls and images cost what they cost there.
fn scored_bytes(request: &Request<'_>) -> crate::Result<Vec<u64>> {
    let is_image = |node: &Node<'_>| node.get("type").and_then(Node::text).is_some_and(|kind| kind.contains("image") || kind.contains("screenshot"));
    let of_item = |node: Node<'_>| match Item::of(node) {
        Some(item) if item.is_call() => python_json_bytes(node),
        Some(item) => {
            item.content.into_iter().flat_map(|content| [content].into_iter().chain(content.children())).filter(is_image).count() as u64 * 1200
        }
        None => 0,
    };
    let items = request.messages.filter(|items| items.kind() == Kind::String).map_or_else(|| request.message_array().map(Some), |_| Ok(None))?;
    Ok(items.map_or_else(|| vec![0], |items| items.children().map(of_item).collect()))
}

/// Why an item cannot be one of Responses, if it cannot. A conflict only: what several formats share is none.
fn foreign(item: Node<'_>) -> Option<&'static str> {
    let filled = |name| item.get(name).is_some_and(|field| field.kind() != Kind::Null);
    let content = item.get("content");
    match item.get("role").and_then(Node::text) {
        Some("tool" | "function") => return Some("it has a role of OpenAI Chat, or of the AI SDK"),
        Some(_) if filled("tool_calls") || filled("function_call") => return Some("it has tool calls of OpenAI Chat"),
        _ if ai_sdk::is_own(item) => return Some("it has parts or options of the AI SDK"),
        _ => {}
    }
    if let Some(whose) = has_parts(item) {
        return Some(whose);
    }
    let parts = content.filter(|content| content.kind() == Kind::Array)?;
    parts.children().filter_map(|part| part.get("type").and_then(Node::text)).find_map(|kind| match kind {
        "text" | "image_url" => Some("it has parts of OpenAI Chat"),
        kind if is_anthropic_block(kind) => Some("it has blocks of Anthropic Messages"),
        _ => None,
    })
}
