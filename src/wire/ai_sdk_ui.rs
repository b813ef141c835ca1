//! `UIMessage`s of the Vercel AI SDK: what a chat shows, not what a model is sent. Read for statistics and previews only.
//!
//! One UI message may hold many model calls and what their tools gave. It is read as the messages that `convertToModelMessages` makes of
//! it, so figures and decisions are those of the request. What is decided cannot be put back into one: `fold` refuses with that advice.
//!
//! ```
//! use warmfold::{Format, Options, fold, planner::Given, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [
//!     {"id": "a", "role": "user", "parts": [{"type": "text", "text": "what is in a.txt?"}]},
//!     {"id": "b", "role": "assistant", "parts": [{"type": "step-start"},
//!         {"type": "tool-read", "toolCallId": "1", "state": "output-available", "input": {"path": "a.txt"}, "output": "hello"},
//!         {"type": "step-start"}, {"type": "text", "text": "hello"}]}]}"#)?;
//! let request = Request::of(tape.root());
//! assert_eq!(Format::recognise(&request)?, Format::AiSdkUi);
//! assert_eq!(Format::AiSdkUi.read(&request, None)?.messages.len(), 4);
//! assert!(fold::decide(&request, &Options::default(), Given::Derive).is_ok());
//! assert!(fold::fold(&request, &Options::default(), Given::Derive).is_err());
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::patch::Patch;
use super::{Changes, Request, Wire};
use crate::error::{Code, Error};
use crate::history::View;
use crate::tape::{Kind, Node};

mod read;

/// The format.
pub(super) const WIRE: Wire = Wire { foreign, is_unlike: |_| true, read: read::read, append: read::append, apply, scored_bytes };

fn scored_bytes(_: &Request<'_>) -> crate::Result<Vec<u64>> {
    Err(Error::new(Code::UnsupportedOption, "options.asScored", "not for UI messages: convert them with convertToModelMessages"))
}

fn foreign(message: Node<'_>) -> Option<&'static str> {
    let Some(parts) = message.get("parts").filter(|parts| parts.kind() == Kind::Array) else {
        return Some("it has no parts");
    };
    let is_typed = |part: Node<'_>| part.get("type").is_some_and(|kind| kind.kind() == Kind::String);
    let is_gemini = message.get("role").and_then(Node::text) == Some("model") || !parts.children().all(is_typed);
    is_gemini.then_some("it has the parts of Gemini")
}

fn apply(_: &View<'_>, _: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
    let what = "UI messages are what a chat shows: convert them with convertToModelMessages, and fold what is sent";
    Err(Error::new(Code::InvalidMessage, "messages", what))
}
