//! A message while its parts are read, one after the other.
//!
//! Part of a message is what has an index in its list. What a part says first has that number; further texts of a result have the numbers
//! from the length of the list on, through the whole message.

use std::borrow::Cow;

use crate::history::{Answer, Content, Entry, EntryKind, HostMark, Known, Message, Required, Role, Size, ToolCall, View};
use crate::tape::Node;
use crate::tokens;
use crate::wire::reading::tree_bytes;

/// The end of a view, with the message that is being read.
pub(super) struct Draft<'v, 't> {
    pub(super) view: &'v mut View<'t>,
    message: Message,
    /// How many parts it has.
    length: u32,
    /// The part that is being read.
    part: u32,
    /// Entries that follow those of the parts: further texts of results.
    further: Vec<Entry<'t>>,
    /// The entries of its reasoning: what may go, and what is required.
    reasoning: [Option<usize>; 2],
    /// Until when what it says is only taken together with its reasoning, and until when its tool calls are.
    needed: Required,
    needed_by_calls: Required,
    /// Whether it makes tool calls.
    calls: bool,
    /// Whether it says something beside its reasoning.
    says: bool,
    /// Results that were read.
    results: u32,
}

impl<'v, 't> Draft<'v, 't> {
    pub(super) fn new(view: &'v mut View<'t>, role: Role, length: usize) -> Draft<'v, 't> {
        let entries = view.entries.len()..view.entries.len();
        let fixed = Size { tokens: tokens::MESSAGE_OVERHEAD, bytes: 0 };
        let message = Message { role, entries, continues: false, authored: false, fixed, blocks: 0, markable: false, stays: false };
        let (needed, needed_by_calls) = (Required::Never, Required::Never);
        Draft {
            view,
            message,
            length: length as u32,
            part: 0,
            further: Vec::new(),
            reasoning: [None, None],
            needed,
            needed_by_calls,
            calls: false,
            says: false,
            results: 0,
        }
    }

    /// It belongs to the same answer as the message before; returns the message that begins it.
    pub(super) fn continues(&mut self, continues: bool) -> usize {
        self.message.continues = continues;
        let begun = continues.then(|| self.view.messages.iter().rposition(|message| !message.continues)).flatten();
        begun.unwrap_or(self.view.messages.len())
    }

    /// The part is read.
    pub(super) fn next_part(&mut self) {
        self.part += 1;
    }

    /// A text that somebody authored.
    pub(super) fn text(&mut self, text: &'t str) {
        self.message.authored |= self.message.role == Role::User && !text.is_empty();
        self.says |= !text.trim_ascii().is_empty();
        let entry = self.entry(EntryKind::Text, Content::Text(text.into()), text.len());
        self.view.entries.push(entry);
    }

    /// Texts that a tool gave, all of them its result.
    pub(super) fn result(&mut self, texts: impl IntoIterator<Item = Cow<'t, str>>, tool_call: Option<usize>, failed: bool) {
        if self.results > 0 {
            self.message.fixed.tokens += tokens::MESSAGE_OVERHEAD; // it is sent as a message or a block of its own
        }
        self.results += 1;
        self.view.answers.push(Answer { message: self.view.messages.len(), part: self.part, tool_call });
        for (at, text) in texts.into_iter().enumerate() {
            let bytes = text.len();
            let entry = Entry { tool_call, failed, ..self.entry(EntryKind::Result, Content::Text(text), bytes) };
            match at {
                0 => self.view.entries.push(entry),
                _ => self.further.push(Entry { part: self.length + self.further.len() as u32, ..entry }),
            }
        }
    }

    /// A tool call; returns its index.
    pub(super) fn call(&mut self, name: &'t str, arguments: Option<Node<'t>>, size: Size) -> usize {
        let call = self.view.tool_calls.len();
        self.view.tool_calls.push(ToolCall::new(self.view.messages.len(), name, arguments));
        self.calls = true;
        self.fixed(size);
        call
    }

    /// What a tool call gave stands beside it.
    pub(super) fn is_answered(&mut self, tool_call: usize) {
        let message = self.view.messages.len();
        self.view.answers.push(Answer { message, part: self.part, tool_call: Some(tool_call) });
    }

    /// It is sent whatever becomes of the exchange that it belongs to.
    pub(super) fn stays(&mut self) {
        self.message.stays = true;
    }

    /// A part of the model's reasoning.
    pub(super) fn thought(&mut self, part: Node<'t>, is_required: bool) {
        let bytes = tree_bytes(part);
        let known = &mut self.reasoning[usize::from(is_required)];
        match known.and_then(|entry| self.view.entries.get_mut(entry)) {
            Some(Entry { content: Content::Values(parts), bytes: sum, .. }) => {
                parts.push(part);
                *sum += bytes;
            }
            _ => {
                *known = Some(self.view.entries.len());
                let entry = self.entry(EntryKind::Reasoning, Content::Values(vec![part]), bytes as usize);
                let required = if is_required { Required::Always } else { Required::Never };
                self.view.entries.push(Entry { required, ..entry });
            }
        }
    }

    /// Its reasoning must stay with what it says.
    pub(super) fn needs_reasoning(&mut self, until: Required) {
        self.needed = self.needed.max(until);
    }

    /// Its reasoning must stay with its tool calls.
    pub(super) fn calls_need_reasoning(&mut self, until: Required) {
        self.needed_by_calls = self.needed_by_calls.max(until);
    }

    /// Something that is sent as it is.
    pub(super) fn fixed(&mut self, size: Size) {
        self.message.authored |= self.message.role == Role::User;
        self.says = true;
        self.beside(size);
    }

    /// What is sent along with a part.
    pub(super) fn beside(&mut self, size: Size) {
        self.message.fixed += size;
    }

    /// It says something that no reader sees.
    pub(super) fn says(&mut self) {
        self.says = true;
    }

    /// A part that can hold a mark.
    pub(super) fn can_hold_mark(&mut self) {
        self.message.markable = true;
    }

    /// Marks that the caller has set in it.
    pub(super) fn marked(&mut self, hour: Option<bool>) {
        let message = Some(self.view.messages.len());
        self.view.host_marks.extend(hour.map(|hour| HostMark { message, hour }));
    }

    /// The message is read; it stands in the request as this node. One of the user's that holds results only is a tool's.
    pub(super) fn finish(mut self, node: Node<'t>) {
        if let Some(entry) = self.reasoning[0].and_then(|entry| self.view.entries.get_mut(entry)) {
            let by_calls = if self.calls { self.needed_by_calls } else { Required::Never };
            entry.required = if self.says { self.needed.max(by_calls) } else { Required::Always };
        }
        if self.message.role == Role::User && self.results > 0 && !self.message.authored {
            self.message.role = Role::Tool;
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
