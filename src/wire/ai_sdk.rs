//! `ModelMessage`s of the Vercel AI SDK, versions 5 to 7.
//!
//! **Parts.** A part has its index in `content`; a string content is part 0. Of a tool output of type `content` the first text is the part of
//! its result; further texts have the numbers from `content.length` on, through the whole message. An output of type `json` is the text that
//! providers are sent, as `JSON.stringify` writes it: shortened, it becomes one of type `text`.
//!
//! **What the provider runs itself** stands in the assistant's message and is sent as it is, results and all.
//!
//! **Reasoning** of one message is one entry, at its first part. It is required where OpenAI keeps it as an item, and where it is all that
//! the message says. Beside tool calls Anthropic needs it as long as their loop is open; of other providers the message does not tell whether
//! they can do without, so there it is always required.
//!
//! **Marks** are provider options: of a string content on the message, else on its last part that says something. For OpenAI they stand where
//! its provider package reads them.
//!
//! ```
//! use warmfold::{Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [
//!     {"role": "user", "content": "what is in a.txt?"},
//!     {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "read", "input": {"path": "a.txt"}}]},
//!     {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "read", "output": {"type": "json", "value": {"lines": 1}}}]}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::AiSdk);
//! let view = Format::AiSdk.read(&request, None)?;
//! assert_eq!(view.entries[1].text(), r#"{"lines":1}"#);
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::reading::{has_parts, has_tools, is_anthropic_block, python_json_bytes};
use super::{Request, Wire};
use crate::tape::{Kind, Node};

mod apply;
pub(super) mod draft;
mod marks;
mod read;

/// Between a system message and the context block.
const BLOCK_GAP: &str = "\n\n";

/// The format.
pub(super) const WIRE: Wire = Wire {
    foreign,
    is_unlike: |request| has_tools(request, &["function", "input_schema"]),
    read: read::read,
    append: read::append,
    apply: apply::apply,
    scored_bytes,
};

/// The scorer knows Chat only: tool calls and images cost what they cost there.
fn scored_bytes(request: &Request<'_>) -> crate::Result<Vec<u64>> {
    let of_part = |part: Node<'_>| match kind_of(part) {
        "tool-call" => python_json_bytes(part),
        "image" => 300 * 4,
        _ => 0,
    };
    let of_message = |message: Node<'_>| message.get("content").into_iter().flat_map(Node::children).map(of_part).sum();
    Ok(request.message_array()?.children().map(of_message).collect())
}

fn foreign(message: Node<'_>) -> Option<&'static str> {
    let content = message.get("content");
    if let Some(whose) = has_parts(message) {
        return Some(whose);
    }
    let role = message.get("role").and_then(Node::text);
    if role.is_none() && message.get("type").is_some() {
        return Some("it is an item of OpenAI Responses");
    }
    let is_chat = matches!(role, Some("developer" | "function"))
        || ["tool_calls", "function_call", "tool_call_id"].iter().any(|key| message.get(key).is_some());
    if is_chat || (role == Some("tool") && content.is_some_and(|content| content.kind() == Kind::String)) {
        return Some("it is an OpenAI Chat message");
    }
    let parts = content.filter(|content| content.kind() == Kind::Array)?;
    parts.children().find_map(|part| match kind_of(part) {
        kind if is_anthropic_block(kind) => Some("it has blocks of Anthropic Messages"),
        "image_url" | "input_audio" => Some("it has parts of OpenAI Chat"),
        "input_text" | "output_text" | "input_image" | "input_file" => Some("it has parts of OpenAI Responses"),
        _ => None,
    })
}

/// Whether a message has what no other format has: provider options, or parts of its own kinds.
pub(super) fn is_own(message: Node<'_>) -> bool {
    let parts = message.get("content").filter(|content| content.kind() == Kind::Array);
    message.get("providerOptions").is_some() || parts.into_iter().flat_map(Node::children).any(is_own_part)
}

fn is_own_part(part: Node<'_>) -> bool {
    let is_file = part.get("image").is_some() || (part.get("mediaType").is_some() && part.get("data").is_some());
    let kind = kind_of(part);
    is_file || part.get("providerOptions").is_some() || kind.starts_with("tool-")
}

/// What kind of part, or output, it is.
fn kind_of(part: Node<'_>) -> &str {
    part.get("type").and_then(Node::text).unwrap_or("")
}

/// The text of a part, or of an item, that is one.
fn text_of(part: Node<'_>) -> Option<&str> {
    part.get("text").filter(|_| kind_of(part) == "text").and_then(Node::text)
}

/// Whether a value is sent as JSON.
fn is_json(output: Node<'_>) -> bool {
    matches!(kind_of(output), "json" | "error-json")
}

/// The items of an output of type `content`.
fn items(part: Node<'_>) -> Option<Node<'_>> {
    let output = part.get("output").filter(|output| kind_of(*output) == "content" && kind_of(part) == "tool-result")?;
    output.get("value").filter(|value| value.kind() == Kind::Array)
}
