//! A message while its parts are read, one after the other.

use std::borrow::Cow;

use crate::history::{Content, Entry, EntryKind, HostMark, Known, Message, Required, Role, Size, ToolCall, View};
use crate::tape::{Kind, Node};
use crate::tokens;
use crate::wire::reading::{media, tree_bytes};

/// The end of a view, with the message that is being read.
pub(in crate::wire) struct Draft<'v, 't> {
    pub(in crate::wire) view: &'v mut View<'t>,
    message: Message,
    /// How many parts it has.
    length: u32,
    /// The part that is being read.
    part: u32,
    /// Entries that follow those of the parts: further texts of results.
    further: Vec<Entry<'t>>,
    /// The entry of its reasoning.
    reasoning: Option<usize>,
    /// Whether it makes tool calls.
    calls: bool,
    /// Whether it says something beside its reasoning.
    says: bool,
    /// Results that were read.
    results: u32,
}

impl<'v, 't> Draft<'v, 't> {
    pub(in crate::wire) fn new(view: &'v mut View<'t>, role: Role, length: usize) -> Draft<'v, 't> {
        let entries = view.entries.len()..view.entries.len();
        let fixed = Size { tokens: tokens::MESSAGE_OVERHEAD, bytes: 0 };
        let message = Message { role, entries, continues: false, authored: false, fixed, blocks: 0, markable: false };
        Draft { view, message, length: length as u32, part: 0, further: Vec::new(), reasoning: None, calls: false, says: false, results: 0 }
    }

    /// The part is read.
    pub(in crate::wire) fn next_part(&mut self) {
        self.part += 1;
    }

    /// A text that somebody authored.
    pub(in crate::wire) fn text(&mut self, text: &'t str) {
        self.message.authored |= self.message.role == Role::User && !text.is_empty();
        self.says |= !text.trim_ascii().is_empty();
        let entry = self.entry(EntryKind::Text, Content::Text(text.into()), text.len());
        self.view.entries.push(entry);
    }

    /// Texts that a tool gave, all of them its result.
    pub(in crate::wire) fn result(&mut self, texts: impl IntoIterator<Item = Cow<'t, str>>, id: Option<Node<'t>>, failed: bool) {
        let tool_call = id.and_then(Node::text).and_then(|id| self.view.by_id.answer(id));
        if self.results > 0 {
            self.message.fixed.tokens += tokens::MESSAGE_OVERHEAD; // it is sent as a message or a block of its own
        }
        self.results += 1;
        for (at, text) in texts.into_iter().enumerate() {
            let bytes = text.len();
            let entry = Entry { tool_call, failed, ..self.entry(EntryKind::Result, Content::Text(text), bytes) };
            match at {
                0 => self.view.entries.push(entry),
                _ => self.further.push(Entry { part: self.length + self.further.len() as u32, ..entry }),
            }
        }
    }

    /// A tool call; what the provider's own tools give stands in the same message and is no entry.
    pub(in crate::wire) fn call(&mut self, part: Node<'t>, name: &'t str, size: Size) {
        let at = self.view.messages.len();
        let by_provider = part.get("providerExecuted").is_some_and(|executed| executed.kind() == Kind::True);
        if let Some(id) = part.get("toolCallId").and_then(Node::text).filter(|_| !by_provider) {
            self.view.by_id.open(id, at, self.view.tool_calls.len());
        }
        self.view.tool_calls.push(ToolCall::new(at, name, part.get("input")));
        self.calls = true;
        self.fixed(size);
    }

    /// A part of the model's reasoning.
    pub(in crate::wire) fn thought(&mut self, part: Node<'t>) {
        let bytes = tree_bytes(part);
        match self.reasoning.and_then(|entry| self.view.entries.get_mut(entry)) {
            Some(Entry { content: Content::Values(parts), bytes: sum, .. }) => {
                parts.push(part);
                *sum += bytes;
            }
            _ => {
                self.reasoning = Some(self.view.entries.len());
                let entry = self.entry(EntryKind::Reasoning, Content::Values(vec![part]), bytes as usize);
                self.view.entries.push(entry);
            }
        }
    }

    /// Something that is sent as it is.
    pub(in crate::wire) fn fixed(&mut self, size: Size) {
        self.message.fixed += size;
        self.message.authored |= self.message.role == Role::User;
        self.says = true;
    }

    /// A part that can hold a mark.
    pub(in crate::wire) fn can_hold_mark(&mut self) {
        self.message.markable = true;
    }

    /// Marks that the caller has set in it.
    pub(in crate::wire) fn marked(&mut self, hour: Option<bool>) {
        let message = Some(self.view.messages.len());
        self.view.host_marks.extend(hour.map(|hour| HostMark { message, hour }));
    }

    /// The message is read; it stands in the request as this node.
    pub(in crate::wire) fn finish(mut self, node: Node<'t>) {
        if let Some(entry) = self.reasoning.and_then(|entry| self.view.entries.get_mut(entry)) {
            entry.required = match &entry.content {
                Content::Values(parts) if self.says => required(self.calls, parts),
                _ => Required::Always,
            };
        }
        self.view.entries.append(&mut self.further);
        self.message.blocks = self.part.max(1);
        self.message.entries.end = self.view.entries.len();
        self.view.messages.push(self.message);
        self.view.nodes.push(node);
    }

    fn entry(&self, kind: EntryKind, content: Content<'t>, bytes: usize) -> Entry<'t> {
        Entry {
            message: self.view.messages.len(),
            part: self.part,
            kind,
            content,
            bytes: bytes as u32,
            tool_call: None,
            failed: false,
            required: Required::Never,
            known: Known::default(),
        }
    }
}

/// Until when reasoning is needed. OpenAI keeps it, and what stands beside it, as items that are only taken together; beside tool calls
/// Anthropic needs it as long as their loop is open, and others may need it always.
fn required(calls: bool, reasoning: &[Node<'_>]) -> Required {
    let is_item = |option: Node<'_>| option.children().any(|field| matches!(field.key(), Some("itemId" | "reasoningEncryptedContent")));
    let is_anthropic = |part: &Node<'_>| options(*part).any(|option| option.has_key("anthropic"));
    match calls {
        _ if reasoning.iter().flat_map(|part| options(*part)).any(is_item) => Required::Always,
        false => Required::Never,
        true if reasoning.iter().all(is_anthropic) => Required::InLoop,
        true => Required::Always,
    }
}

/// What providers have said of a part, each under its name.
fn options<'t>(part: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    ["providerOptions", "providerMetadata"].into_iter().filter_map(move |key| part.get(key)).flat_map(Node::children)
}

/// What an image or a file costs.
pub(in crate::wire) fn file(part: Node<'_>) -> Size {
    let kind = part.get("type").and_then(Node::text).unwrap_or("");
    let media_type = part.get("mediaType").and_then(Node::text).unwrap_or("");
    let of_file = |kind: &str| kind == "media" || kind == "reasoning-file" || kind.starts_with("file");
    media(
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
