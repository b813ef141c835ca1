//! What parts of both kinds of the AI SDK's messages put into a draft.

use std::borrow::Cow;

use crate::history::{Required, Size};
use crate::tape::{Kind, Node};
use crate::tokens::Estimator;
use crate::wire::draft::Draft;
use crate::wire::reading::media;

impl<'t> Draft<'_, 't> {
    /// Texts that a tool gave, which answer the call of this id.
    pub(in crate::wire) fn gave(&mut self, texts: impl IntoIterator<Item = Cow<'t, str>>, id: Option<Node<'t>>, failed: bool) {
        let tool_call = id.and_then(Node::text).and_then(|id| self.view.by_id.answer(id));
        self.result(texts, tool_call, failed);
    }

    /// A tool call; what the provider's own tools give stands in the message of the model's and is no entry.
    pub(in crate::wire) fn asked(&mut self, part: Node<'t>, name: &'t str, size: Size) -> usize {
        let by_provider = is_by_provider(part);
        let message = self.view.messages.len();
        let call = self.call(name, part.get("input"), size);
        if let Some(id) = part.get("toolCallId").and_then(Node::text).filter(|_| !by_provider) {
            self.view.by_id.open(id, message, call);
        }
        call
    }

    /// A part of the model's reasoning. OpenAI keeps it, and what stands beside it, as items that are only taken together; beside tool calls
    /// Anthropic needs it as long as their loop is open, and others may need it always.
    pub(in crate::wire) fn reasoned(&mut self, part: Node<'t>) {
        self.thought(part, false);
        let is_item = |option: Node<'_>| option.children().any(|field| matches!(field.key(), Some("itemId" | "reasoningEncryptedContent")));
        if options(part).any(is_item) {
            self.needs_reasoning(Required::Always);
        }
        let is_anthropic = options(part).any(|option| option.has_key("anthropic"));
        self.calls_need_reasoning(if is_anthropic { Required::InLoop } else { Required::Always });
    }
}

/// Whether the provider runs the tool itself.
pub(in crate::wire) fn is_by_provider(call: Node<'_>) -> bool {
    call.get("providerExecuted").is_some_and(|executed| executed.kind() == Kind::True)
}

/// What providers have said of a part, each under its name.
fn options<'t>(part: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    ["providerOptions", "providerMetadata"].into_iter().filter_map(move |key| part.get(key)).flat_map(Node::children)
}

/// What an image or a file costs.
pub(in crate::wire) fn file(estimator: Estimator, part: Node<'_>) -> Size {
    let kind = part.get("type").and_then(Node::text).unwrap_or("");
    let media_type = part.get("mediaType").and_then(Node::text).unwrap_or("");
    let of_file = |kind: &str| kind == "media" || kind == "reasoning-file" || kind.starts_with("file");
    media(
        estimator,
        part,
        match kind {
            _ if kind.starts_with("image") => "image",
            _ if !of_file(kind) => kind,
            _ if media_type.starts_with("image") => "image",
            _ if media_type.starts_with("audio") => "input_audio",
            _ => "file",
        },
    )
}
