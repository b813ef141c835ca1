//! Contents of Gemini's `generateContent`, as REST takes them and as the parameters of `@google/genai`, in either spelling of the keys.
//!
//! **Contents.** `contents` may be a list of contents, one content, or what the SDK makes a content of the user's of: a text, a part, a list of
//! both, of which each is read as a message. Parts beside contents are refused, as the SDK does.
//!
//! **Parts.** A part has its index in `parts`. Of a function response each text directly under `response` may be shortened, and further down,
//! to a depth of six, each of 120 bytes and more; everything else of it stays, so that `response` is the object that it was. The first
//! of these texts is the part of its response; further ones have the numbers from `parts.length` on, through the whole message. Media of a
//! response is sent as it is.
//!
//! **Roles.** A user content of function responses only is a tool's. Contents of the model's that follow each other are one answer, since
//! the SDK keeps a streamed one in pieces.
//!
//! **Pairs.** A response answers the call of its id, or else the first unanswered one of its name in the nearest content that has one. With
//! an `error` that says something, or `isError`, it has failed.
//!
//! **Thoughts.** Summaries (`thought: true`) without a signature are one entry of a message, at the first of them, which may go unless nothing
//! else is said. Whatever has a `thoughtSignature` stays, as it is and with its part, be that empty.
//!
//! **Cache.** Gemini finds prefixes by itself, so no mark is ever written; breakpoints say where one would stand. What `cachedContent` holds stands
//! before all that is here: it is neither counted nor shortened.
//!
//! ```
//! use warmfold::{Format, history::{EntryKind, Role}, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": [
//!     {"role": "user", "parts": [{"text": "what is in a.txt?"}]},
//!     {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": "a.txt"}}, "thoughtSignature": "c2ln"}]},
//!     {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": "hello"}}}]}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::Gemini);
//! let view = Format::Gemini.read(&request, None)?;
//! assert_eq!((view.messages[2].role, view.entries[1].kind), (Role::Tool, EntryKind::Result));
//! assert_eq!(view.tool_of(&view.entries[1]), Some("read"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::patch::Step;
use super::reading::{python_json_bytes, size_of};
use super::{Request, Wire};
use crate::history::Size;
use crate::tape::{Kind, Node};
use crate::tokens::Estimator;

mod apply;
mod read;
mod request;

pub(super) use request::request;

/// What a request calls its contents.
pub(super) const LIST: &str = "contents";

/// Between the system prompt and the context block.
const BLOCK_GAP: &str = "\n\n";

/// A text of a response that lies deeper than the first level is a part of its own from so many bytes on.
const LONG: usize = 120;

/// How far down texts of a response are looked for.
const DEPTH: usize = 6;

const CALL: [&str; 2] = ["functionCall", "function_call"];
const RESPONSE: [&str; 2] = ["functionResponse", "function_response"];
const SIGNATURE: [&str; 2] = ["thoughtSignature", "thought_signature"];
const CODE: [&str; 2] = ["executableCode", "executable_code"];
const RESULT: [&str; 2] = ["codeExecutionResult", "code_execution_result"];
const MEDIA: [[&str; 2]; 2] = [["inlineData", "inline_data"], ["fileData", "file_data"]];

/// The format.
pub(super) const WIRE: Wire = Wire { foreign, is_unlike: |_| true, read: read::read, append: read::append, apply: apply::apply, scored_bytes };

/// The scorer knows Chat only: function calls and images cost what they cost there.
fn scored_bytes(request: &Request<'_>) -> crate::Result<Vec<u64>> {
    let of_part = |part: &Node<'_>| match field(*part, CALL) {
        Some(_) => python_json_bytes(*part),
        None if media_of(*part).is_some_and(|media| media_type(media).starts_with("image")) => 300 * 4,
        None => 0,
    };
    Ok(contents(request)?.into_iter().map(|content| parts(content).iter().map(of_part).sum()).collect())
}

/// Why a message cannot be a content, if it cannot. A conflict only: what several formats share is none.
fn foreign(content: Node<'_>) -> Option<&'static str> {
    let filled = |name| content.get(name).is_some_and(|field| field.kind() != Kind::Null);
    if filled("content") || filled("tool_calls") {
        return Some("it has a content, and no parts");
    }
    let is_theirs = matches!(content.get("role").and_then(Node::text), Some("assistant" | "developer"));
    let is_typed = parts(content).iter().any(|part| part.get("type").is_some());
    (is_theirs || is_typed).then_some("it has a role or parts of the AI SDK's UI messages")
}

/// What a node holds under a key, in either spelling, with the key.
fn spelt<'t>(node: Node<'t>, keys: [&'static str; 2]) -> Option<(&'static str, Node<'t>)> {
    keys.into_iter().find_map(|key| Some((key, node.get(key).filter(|field| field.kind() != Kind::Null)?)))
}

fn field<'t>(node: Node<'t>, keys: [&'static str; 2]) -> Option<Node<'t>> {
    spelt(node, keys).map(|(_, field)| field)
}

/// The contents of a request; one, or what becomes one, may stand without a list.
fn contents<'t>(request: &Request<'t>) -> crate::Result<Vec<Node<'t>>> {
    match request.messages {
        Some(alone) if request.list == LIST && matches!(alone.kind(), Kind::String | Kind::Object) => Ok(vec![alone]),
        _ => request.message_array().map(listed),
    }
}

/// The parts of a content, however it is given: as a content, as a list of parts, as a part, or as a text.
fn parts(content: Node<'_>) -> Vec<Node<'_>> {
    listed(content.get("parts").unwrap_or(content))
}

/// What a list holds, or what stands in its place.
fn listed(held: Node<'_>) -> Vec<Node<'_>> {
    match held.kind() {
        Kind::Array => held.children().collect(),
        Kind::String | Kind::Object => vec![held],
        _ => Vec::new(),
    }
}

/// The text of a part.
fn text_of(part: Node<'_>) -> Option<&str> {
    part.text().or_else(|| part.get("text")?.text())
}

fn is_signed(part: Node<'_>) -> bool {
    field(part, SIGNATURE).is_some_and(|signature| signature.text() != Some(""))
}

/// Whether it is a summary of the model's thoughts.
fn is_thought(part: Node<'_>) -> bool {
    part.get("thought").is_some_and(|thought| thought.kind() == Kind::True) && text_of(part).is_some()
}

/// Whether a part holds several things, which the API takes for none: it is sent as it is.
fn is_mixed(part: Node<'_>) -> bool {
    let own = [CALL, RESPONSE, CODE, RESULT].into_iter().filter(|keys| field(part, *keys).is_some()).count();
    own + usize::from(media_of(part).is_some()) + usize::from(text_of(part).is_some()) > 1
}

/// What a part holds of media.
fn media_of(part: Node<'_>) -> Option<Node<'_>> {
    MEDIA.into_iter().find_map(|keys| field(part, keys))
}

fn media_type(media: Node<'_>) -> &str {
    field(media, ["mimeType", "mime_type"]).and_then(Node::text).unwrap_or("")
}

/// The texts of a function response that may be shortened, in order, each with the way to it from the response; returns what all else
/// of it costs.
fn leaves<'t>(estimator: Estimator, response: Node<'t>, each: &mut dyn FnMut(&[Step], &'t str)) -> Size {
    if let Some(text) = response.text() {
        each(&[], text);
        return Size::default();
    }
    walk(estimator, response, &mut Vec::new(), each)
}

fn walk<'t>(estimator: Estimator, node: Node<'t>, way: &mut Vec<Step>, each: &mut dyn FnMut(&[Step], &'t str)) -> Size {
    let mut size = Size::default();
    for (at, child) in node.children().enumerate() {
        let key = child.key();
        let is_named = key.is_none_or(|key| !key.contains(char::REPLACEMENT_CHARACTER)); // else it may be another key that is read so
        let is_leaf = child.text().is_some_and(|text| way.is_empty() || text.len() >= LONG);
        let is_deeper = matches!(child.kind(), Kind::Array | Kind::Object) && way.len() + 1 < DEPTH;
        if !is_named || (!is_leaf && !is_deeper) {
            size += size_of(estimator, child);
            continue;
        }
        let key_bytes = key.map_or(0, str::len) as u32;
        size += Size { tokens: 2 + key_bytes / 4, bytes: 4 + key_bytes };
        way.push(key.map_or(Step::Index(at), |key| Step::Named(key.into())));
        match child.text() {
            Some(text) => each(way, text),
            None => size += walk(estimator, child, way, each),
        }
        way.pop();
    }
    size
}
