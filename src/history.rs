//! The view: the wire-neutral reading of a history, which is all that planner and renderer ever see.
//!
//! A [`Message`] has [`Entry`]s, the parts that could be shortened on their own; an entry's address is (message, part).
//! A [`ToolCall`] and its result live and die together; [`pairs`] joins them, [`turns`] says what is recent, [`actions`]
//! what a tool call does, what it is about and which files it changes.
//!
//! ```
//! use warmfold::{history::EntryKind, Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [
//!     {"role": "user", "content": "what is in a.txt?"},
//!     {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.txt\"}"}}]},
//!     {"role": "tool", "tool_call_id": "1", "content": "hello"}]}"#)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! assert_eq!(view.entries[1].kind, EntryKind::Result);
//! assert_eq!(view.tool_of(&view.entries[1]), Some("read"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::Hasher;
use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use crate::tape::{self, Node};
use crate::tokens::Estimator;
use actions::Action;
use kinds::ToolKind;
use pairs::Pairs;

pub mod actions;
mod arguments;
pub mod changes;
pub mod copies;
pub mod exchanges;
pub mod failures;
pub mod findings;
pub mod kinds;
mod names;
pub mod outcome;
pub mod pairs;
pub mod patches;
pub mod paths;
pub mod phase;
pub mod prints;
pub mod quotes;
pub mod reads;
pub mod remembered;
pub mod repeats;
pub mod resources;
pub mod shell;
pub mod turns;
mod whole;

/// Who a message is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Standing instructions, wherever they stand in the history.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
    /// A role we do not know: sent as it is.
    Other,
}

/// One message of the history.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its entries, as indices into [`View::entries`].
    pub entries: Range<usize>,
    /// Whether it belongs to the same answer of the model as the message before.
    pub continues: bool,
    /// Whether it says something itself: a message of results only does not.
    pub authored: bool,
    /// What is sent with it beside its entries: overhead, tool calls, images, unknown fields.
    pub fixed: Size,
    /// Content blocks as the provider counts them.
    pub blocks: u32,
    /// Whether a mark can stand in it without changing what it says.
    pub markable: bool,
    /// Whether it stays where its exchange is replaced: it sums up what the provider reads no more, loads tools, gives instructions, or others
    /// point at it.
    pub stays: bool,
}

/// What something costs to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Estimated tokens.
    pub tokens: u32,
    /// UTF-8 bytes of its text.
    pub bytes: u32,
}

impl Size {
    /// The size of a text.
    pub fn of(estimator: Estimator, text: &str) -> Size {
        Size { tokens: estimator.text(text), bytes: text.len() as u32 }
    }

    /// What a text grows by when more is added behind a gap.
    pub fn added(estimator: Estimator, text: &str, gap: &str, more: &str) -> Size {
        let tokens = estimator.pieces([text, gap, more].into_iter()).saturating_sub(estimator.text(text));
        Size { tokens, bytes: (gap.len() + more.len()) as u32 }
    }
}

impl std::ops::AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Text that somebody authored.
    Text,
    /// The text of a tool's result.
    Result,
    /// The model's reasoning: goes as a whole or stays as a whole.
    Reasoning,
}

/// Until when the provider needs reasoning back as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Required {
    /// It can do without.
    #[default]
    Never,
    /// Until the user speaks again: as long as the loop of tool calls that it belongs to is open.
    InLoop,
    /// Always.
    Always,
}

/// The content of an entry.
#[derive(Clone)]
pub enum Content<'t> {
    /// Text: of the request, or made of a value that the provider is sent as text.
    Text(Cow<'t, str>),
    /// Provider-shaped values, which can only stay or go.
    Values(Vec<Node<'t>>),
}

/// One part of one message that could be shortened on its own.
#[derive(Clone)]
pub struct Entry<'t> {
    /// Index of its message.
    pub message: usize,
    /// Which part of the message it is.
    pub part: u32,
    /// What it holds.
    pub kind: EntryKind,
    /// The content itself.
    pub content: Content<'t>,
    /// UTF-8 bytes of its text in full.
    pub bytes: u32,
    /// The tool call that it answers, as an index into [`View::tool_calls`].
    pub tool_call: Option<usize>,
    /// Whether the host says that the call failed.
    pub failed: bool,
    /// Until when the provider needs it back as it is.
    pub required: Required,
    /// What has been told of its content.
    pub known: Known,
}

/// What takes a walk through a content to tell, kept once it is told.
#[derive(Clone, Default)]
pub struct Known {
    tokens: OnceCell<u32>,
    fingerprint: OnceCell<u64>,
}

impl Entry<'_> {
    /// Whether it is the result of a call that failed: the host says so, or its first words do.
    pub fn has_failed(&self) -> bool {
        self.failed || failures::is_error(self.text())
    }

    /// Its text; empty where it is not text.
    pub fn text(&self) -> &str {
        match &self.content {
            Content::Text(text) => text,
            Content::Values(_) => "",
        }
    }

    /// Estimated tokens of its content in full; by the estimator of its view, since they are counted once.
    pub fn estimate(&self, estimator: Estimator) -> u32 {
        *self.known.tokens.get_or_init(|| match &self.content {
            Content::Text(text) => estimator.text(text),
            Content::Values(values) => values.iter().map(|value| estimator.tree(*value)).sum(),
        })
    }

    /// The fingerprint of its content.
    pub fn fingerprint(&self) -> u64 {
        *self.known.fingerprint.get_or_init(|| match &self.content {
            Content::Text(text) => tape::fingerprint(text),
            Content::Values(values) => {
                let mut hasher = twox_hash::XxHash64::with_seed(0);
                for value in values {
                    value.hash_into(&mut hasher);
                }
                hasher.finish()
            }
        })
    }
}

/// A tool call that the model made.
#[derive(Clone)]
pub struct ToolCall<'t> {
    /// Index of the message that makes it.
    pub message: usize,
    /// The tool's name.
    pub name: &'t str,
    /// Its arguments: JSON text, or the value itself where the format has it so.
    pub arguments: Option<Node<'t>>,
    print: OnceCell<u64>,
}

impl<'t> ToolCall<'t> {
    /// A call made in this message.
    pub fn new(message: usize, name: &'t str, arguments: Option<Node<'t>>) -> ToolCall<'t> {
        ToolCall { message, name, arguments, print: OnceCell::new() }
    }

    /// Equal for calls of one tool with the same arguments.
    pub fn print(&self) -> u64 {
        let print = |arguments: Node<'_>| arguments.text().map_or_else(|| arguments.fingerprint(), tape::fingerprint);
        *self.print.get_or_init(|| tape::key(&[self.name.as_bytes(), &self.arguments.map_or(0, print).to_le_bytes()]))
    }
}

/// A result, as a part of a message, whether it has texts or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Index of its message.
    pub message: usize,
    /// Index of it in that message; 0 where the message is the result.
    pub part: u32,
    /// The tool call that it answers. What the provider runs itself is answered where it is called.
    pub tool_call: Option<usize>,
}

/// A mark that the caller has set already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMark {
    /// The message it stands in; `None` for one before all messages (tools, a separate system prompt).
    pub message: Option<usize>,
    /// Whether it asks for the one-hour cache.
    pub hour: bool,
}

/// Where the host's context block goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockPlace {
    /// There is none, or the history has it already.
    #[default]
    Nowhere,
    /// At the end of this message.
    Append(usize),
    /// Into a system message of its own, of so many bytes, before all others.
    Prepend(u32),
    /// At the end of the system prompt, which stands apart from the messages.
    Apart,
}

/// What stands before the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Front {
    /// The system prompt, where it stands apart.
    System,
    /// The tools, where there is no such prompt.
    Tools,
}

/// A whole history, read.
#[derive(Clone, Default)]
pub struct View<'t> {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The same as they stand in the request.
    pub nodes: Vec<Node<'t>>,
    /// What the request calls their array.
    pub list: &'static str,
    /// What its sizes are counted with.
    pub estimator: Estimator,
    /// All entries, in the order of their addresses.
    pub entries: Vec<Entry<'t>>,
    /// All tool calls, in order.
    pub tool_calls: Vec<ToolCall<'t>>,
    /// All results, in order.
    pub answers: Vec<Answer>,
    /// The system prompt that stands apart from the messages, as it stands in the request.
    pub system: Option<Node<'t>>,
    /// The keys that lead to it from the request on, or would; none where it has no place.
    pub system_at: &'static [&'static str],
    /// The tools, as they stand in the request.
    pub tools: Option<Node<'t>>,
    /// Length of the leading run of system messages.
    pub system_end: usize,
    /// Tools schema, separate system prompt, and a context block that is prepended.
    pub overhead: Size,
    /// Fingerprints of what must not change for the cache to stay warm.
    pub context: ContextPrint,
    /// Where the context block goes.
    pub block: BlockPlace,
    /// The caller's own marks.
    pub host_marks: Vec<HostMark>,
    /// Whether the request itself is marked, which marks the end of it, and whether for the one-hour cache.
    pub end_mark: Option<bool>,
    /// Messages in which the provider has summed up all that stands before them and no longer reads it, ascending.
    pub compactions: Vec<usize>,
    /// What names parts of the prompt that the provider keeps and the request does not hold.
    pub elsewhere: Option<&'static str>,
    /// Whether its format has no marks: the provider finds any prefix again by itself.
    pub has_no_marks: bool,
    /// What a mark before the messages stands on, where one can.
    pub front: Option<Front>,
    /// Whether it is a whole request, so that what stands before the messages is returned too.
    pub is_whole: bool,
    /// The tool that the model must call, whose results stay.
    pub forced_tool: Option<&'t str>,
    /// Calls without a result yet, by id.
    pub by_id: Pairs<'t>,
    /// The same of calls that have no id, by the tool's name.
    pub by_name: Pairs<'t>,
}

/// Fingerprints of what stands before the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextPrint {
    /// The leading system messages and a separate system prompt.
    pub system: u64,
    /// The tools schema.
    pub tools: u64,
    /// The context block.
    pub block: u64,
}

impl<'t> View<'t> {
    /// The name of the tool whose result an entry is.
    pub fn tool_of(&self, entry: &Entry<'t>) -> Option<&'t str> {
        entry.tool_call.map(|call| self.tool_calls[call].name)
    }

    /// What a tool call does; `kind` is the host's word on the tool, `own` the names of the arguments that it says make the resource.
    pub fn action(&self, tool_call: usize, kind: Option<ToolKind>, own: Option<&[String]>) -> Rc<Action> {
        let call = &self.tool_calls[tool_call];
        match (call.arguments.map_or(Some(""), Node::text), call.arguments) {
            (Some(text), _) if kind.is_none() && own.is_none() => remembered::action(call.name, text),
            (_, Some(arguments)) => Rc::new(Action::of_node(call.name, arguments, kind, own)),
            (_, None) => Rc::new(Action::of(call.name, "", kind, own)),
        }
    }

    /// Whether a tool call may be made again; `kind` is the host's word on the tool, which goes first.
    pub fn is_harmless(&self, tool_call: usize, kind: Option<ToolKind>) -> bool {
        let call = &self.tool_calls[tool_call];
        kind.is_some() || repeats::is_harmless_node(call.name, call.arguments)
    }

    /// Whether the call that a result answers was surely made after another result had come. Of the calls of one message nobody knows
    /// which ran first: results come in the order of the calls, or as they end.
    pub fn asked_after(&self, entry: usize, earlier: usize) -> bool {
        self.entries[entry].tool_call.is_some_and(|call| self.tool_calls[call].message > self.entries[earlier].message)
    }

    /// Whether the model begins an answer with this message.
    pub fn begins_answer(&self, message: usize) -> bool {
        self.messages.get(message).is_some_and(|message| message.role == Role::Assistant && !message.continues)
    }

    /// Whether the user says something of their own in this message, with no result beside it: that ends a loop of tool calls.
    pub fn ends_loop(&self, message: usize) -> bool {
        self.messages.get(message).is_some_and(|message| {
            message.role == Role::User
                && message.authored
                && self.entries[message.entries.clone()].iter().all(|entry| entry.kind != EntryKind::Result)
        })
    }

    /// Whether the provider needs an entry back as it is.
    pub fn needs_back(&self, entry: &Entry<'_>) -> bool {
        match entry.required {
            Required::Never => false,
            Required::InLoop => !(entry.message + 1..self.messages.len()).any(|message| self.ends_loop(message)),
            Required::Always => true,
        }
    }

    /// The tool calls that a message makes.
    pub fn calls_of(&self, message: usize) -> Range<usize> {
        let before = |message: usize| self.tool_calls.partition_point(|call| call.message < message);
        before(message)..before(message + 1)
    }

    /// The first message of a request of so many that the provider reads: what stands before a compaction it passes over.
    pub fn read_from(&self, length: usize) -> usize {
        let before = self.compactions.partition_point(|compaction| *compaction < length);
        before.checked_sub(1).map_or(0, |last| self.compactions[last])
    }

    /// The results that stand in these messages.
    pub fn answers_in(&self, messages: Range<usize>) -> &[Answer] {
        let before = |message: usize| self.answers.partition_point(|answer| answer.message < message);
        &self.answers[before(messages.start)..before(messages.end).max(before(messages.start))]
    }

    /// How many messages stand before the history's first in what is returned.
    pub fn shift(&self) -> usize {
        usize::from(matches!(self.block, BlockPlace::Prepend(_)))
    }

    /// The same of what breakpoints are counted with: what stands before the messages counts as one where a mark can stand there.
    pub fn lead(&self) -> usize {
        self.shift() + usize::from(self.front.is_some())
    }

    /// The entry at an address.
    pub fn entry_at(&self, message: usize, part: u32) -> Option<usize> {
        let range = self.messages.get(message)?.entries.clone();
        let found = range.start + self.entries[range.clone()].partition_point(|entry| entry.part < part);
        (found < range.end && self.entries[found].part == part).then_some(found)
    }

    /// What the whole history costs in full.
    pub fn size(&self) -> Size {
        let mut sum = self.overhead;
        self.messages.iter().for_each(|message| sum += message.fixed);
        self.entries.iter().for_each(|entry| sum += Size { tokens: entry.estimate(self.estimator), bytes: entry.bytes });
        sum
    }
}
