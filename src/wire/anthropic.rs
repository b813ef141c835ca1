//! Anthropic Messages: content blocks, several tool results in one user message, a system prompt that stands apart.
//!
//! **Parts.** A block is the part that its index in `content` says; a string content is part 0. What a tool result says first is the part of
//! its block; its further texts have the numbers from `content.length` on, through the whole message. So a part below it is always that
//! block, and no edit or mark moves one. Texts of a tool result are its string, its text blocks, the text blocks of search results in it and
//! plain-text documents that are not cited by character. Images and all other documents beside them are sent as they are.
//!
//! **Roles.** A user message of tool results only is a tool's; where the user says something beside them it is the user's.
//!
//! **What the provider runs itself** (web search and fetch, code execution, MCP, compaction) stands in the assistant's message and is sent as
//! it is, results and all: what is encrypted or cited there must come back. What the model asked of it counts as written by the model.
//!
//! **Thinking** of one message is one entry, at the part of its first block: all of it stays or all of it goes, signatures untouched. It is
//! required where it is all that the message says, and beside tool calls as long as their loop is open: until the user speaks with no result
//! beside it.
//!
//! **Compaction.** The API passes over what stands before a `compaction` block: those messages are counted no more, and not shortened.
//!
//! **Marks** are `cache_control` whatever the dialect asked for, as the API knows no other and routers translate it: on the last block of a
//! message that can hold one, which for a result is its whole block. The part that is told of a mark is the index of its block.
//!
//! ```
//! use warmfold::{Format, history::{EntryKind, Role}, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"system": "Be brief.", "messages": [
//!     {"role": "user", "content": "what is in a.txt?"},
//!     {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read", "input": {"path": "a.txt"}}]},
//!     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "hello"}]}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::Anthropic);
//! let view = Format::Anthropic.read(&request, None)?;
//! assert_eq!((view.messages[2].role, view.entries[1].kind), (Role::Tool, EntryKind::Result));
//! assert_eq!(view.tool_of(&view.entries[1]), Some("read"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::patch::Step;
use super::reading::{has_parts, has_tools, python_json_bytes};
use super::{Request, Wire, ai_sdk, openai_responses};
use crate::tape::{Kind, Node};

mod apply;
mod read;

/// Between the system prompt and the context block.
const BLOCK_GAP: &str = "\n\n";

/// The format.
pub(super) const WIRE: Wire = Wire {
    foreign,
    is_unlike: |request| has_tools(request, &["function", "inputSchema"]),
    read: read::read,
    append: read::append,
    apply: apply::apply,
    scored_bytes,
};

/// The scorer knows Chat only: tool calls and images cost what they cost there.
fn scored_bytes(request: &Request<'_>) -> crate::Result<Vec<u64>> {
    let of_block = |block: Node<'_>| match kind_of(block) {
        "tool_use" => python_json_bytes(block),
        "image" => 300 * 4,
        _ => 0,
    };
    let of_message = |message: Node<'_>| {
        let blocks = || message.get("content").into_iter().flat_map(Node::children);
        let inside = blocks().filter_map(|block| block.get("content")).flat_map(Node::children);
        blocks().chain(inside).map(of_block).sum::<u64>()
    };
    Ok(request.message_array()?.children().map(of_message).collect())
}

/// Why a message cannot be of Anthropic Messages, if it cannot. A conflict only: what several formats share is none.
fn foreign(message: Node<'_>) -> Option<&'static str> {
    let content = message.get("content");
    let filled = |name| message.get(name).is_some_and(|field| field.kind() != Kind::Null);
    match message.get("role").and_then(Node::text) {
        Some("tool" | "function" | "developer") => return Some("it has a role of OpenAI Chat"),
        _ if filled("tool_calls") || filled("function_call") => return Some("it has tool calls of OpenAI Chat"),
        _ if message.get("type").and_then(Node::text).is_some_and(openai_responses::is_item) => return Some("it is an item of OpenAI Responses"),
        _ if ai_sdk::is_own(message) => return Some("it has parts or options of the AI SDK"),
        _ => {}
    }
    if let Some(whose) = has_parts(message) {
        return Some(whose);
    }
    content.filter(|content| content.kind() == Kind::Array)?.children().map(kind_of).find_map(|kind| match kind {
        "image_url" | "input_audio" => Some("it has parts of OpenAI Chat"),
        "input_text" | "output_text" | "input_image" | "input_file" => Some("it has parts of OpenAI Responses"),
        _ => None,
    })
}

/// The type of a block; empty where it has none.
fn kind_of(block: Node<'_>) -> &str {
    block.get("type").and_then(Node::text).unwrap_or("")
}

/// What a tool result holds.
enum Leaf<'t> {
    /// A text that may be shortened.
    Text(&'t str),
    /// What is sent as it is.
    Sent(Node<'t>),
}

/// What a tool result holds, in order, each with the way to it from the block.
fn leaves<'t>(result: Node<'t>, each: &mut dyn FnMut(&[Step], Leaf<'t>)) {
    use Step::{Index, Key};
    let Some(content) = result.get("content") else { return };
    if let Some(text) = content.text() {
        return each(&[Key("content")], Leaf::Text(text));
    }
    for (at, item) in content.children().enumerate() {
        let here = [Key("content"), Index(at)];
        let text_in = |node: Node<'t>, name| node.get(name).and_then(Node::text);
        match (item.text(), kind_of(item)) {
            (Some(text), _) => each(&here, Leaf::Text(text)),
            (None, "text") => match text_in(item, "text") {
                Some(text) => each(&[Key("content"), Index(at), Key("text")], Leaf::Text(text)),
                None => each(&here, Leaf::Sent(item)),
            },
            (None, "search_result") => {
                for field in item.children().filter(|field| !field.has_key("content")) {
                    each(&here, Leaf::Sent(field));
                }
                for (inner, block) in item.get("content").into_iter().flat_map(Node::children).enumerate() {
                    match text_in(block, "text") {
                        Some(text) => each(&[Key("content"), Index(at), Key("content"), Index(inner), Key("text")], Leaf::Text(text)),
                        None => each(&here, Leaf::Sent(block)),
                    }
                }
            }
            (None, "document") => match item.get("source").filter(|_| !is_cited(item)).filter(|source| kind_of(*source) == "text") {
                Some(source) if text_in(source, "data").is_some() => {
                    for field in item.children().filter(|field| !field.has_key("source")) {
                        each(&here, Leaf::Sent(field));
                    }
                    each(&[Key("content"), Index(at), Key("source"), Key("data")], Leaf::Text(text_in(source, "data").unwrap_or("")));
                }
                _ => each(&here, Leaf::Sent(item)),
            },
            _ => each(&here, Leaf::Sent(item)),
        }
    }
}

/// Whether answers may point into a document, by character.
fn is_cited(document: Node<'_>) -> bool {
    document.get("citations").and_then(|citations| citations.get("enabled")).is_some_and(|enabled| enabled.kind() == Kind::True)
}

/// Whether a mark can stand on a block: on no thinking, and on nothing that is empty.
fn holds_mark(block: Node<'_>) -> bool {
    let is_said = |text: &str| !text.trim_ascii().is_empty();
    match kind_of(block) {
        "text" => block.get("text").and_then(Node::text).is_some_and(is_said),
        "tool_result" => {
            let mut says = false;
            leaves(block, &mut |_, leaf| says |= !matches!(leaf, Leaf::Text(text) if !is_said(text)));
            says
        }
        "image" | "document" | "search_result" | "tool_use" => true,
        _ => false,
    }
}

/// Whether a tool stands before the messages: one that is loaded later is no part of what is cached.
fn is_sent(tool: Node<'_>) -> bool {
    tool.kind() == Kind::Object && tool.get("defer_loading").is_none_or(|deferred| deferred.kind() != Kind::True)
}
