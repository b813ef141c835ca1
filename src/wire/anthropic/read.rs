//! Reads Anthropic messages into a view.

use super::{BLOCK_GAP, Leaf, holds_mark, is_sent, kind_of, leaves};
use crate::error::{Code, Error};
use crate::history::{Answer, BlockPlace, Content, Entry, EntryKind, Front, HostMark, Known, Message, Required, Role, Size, ToolCall, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens;
use crate::tokens::Estimator;
use crate::wire::Request;
use crate::wire::reading::{MARK_KEYS, before, is_hour, marks_on, media, messages, plain, size_of, tree_bytes};

/// Reads a request into a view.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view = messages(request, forced_tool(request), append)?;
    before(&mut view, request, block);
    place_block(&mut view, block)?;
    view.front = front(&view, block);
    Ok(view)
}

/// The system prompt; or, where it says nothing that a mark could stand on, the tools.
fn front(view: &View<'_>, block: Option<&str>) -> Option<Front> {
    let says_something = |system: Node<'_>| match system.kind() {
        Kind::Array => system.children().any(holds_mark),
        _ => system.text().is_some_and(|text| !text.trim_ascii().is_empty()),
    };
    let is_added = view.block == BlockPlace::Apart && block.is_some_and(|block| !block.trim_ascii().is_empty());
    if is_added || view.system.is_some_and(says_something) {
        return Some(Front::System);
    }
    view.tools.filter(|tools| tools.kind() == Kind::Array)?.children().any(is_sent).then_some(Front::Tools)
}

/// Reads messages that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, mut messages: Children<'t>) -> crate::Result<()> {
    let mut reader = Reader { view };
    messages.try_for_each(|message| reader.message(message))
}

/// `{"type": "tool", "name"}`.
fn forced_tool<'t>(request: &Request<'t>) -> Option<&'t str> {
    let choice = request.tool_choice.filter(|choice| kind_of(*choice) == "tool")?;
    choice.get("name").and_then(Node::text)
}

/// At the end of the system prompt, which it may be alone. The block's size is what reading the prompt back with the block in it would add.
fn place_block(view: &mut View<'_>, block: Option<&str>) -> crate::Result<()> {
    let Some(block) = block else { return Ok(()) };
    if !view.is_whole {
        let what = "it belongs into the system prompt, which is not returned with messages alone: fold the whole request with foldRequest";
        return Err(Error::new(Code::InvalidOption, "options.contextBlock", what));
    }
    if view.system.is_some_and(|system| !matches!(system.kind(), Kind::String | Kind::Array)) {
        return Err(Error::new(Code::InvalidMessage, "system", "expected a string or an array of text blocks"));
    }
    let last = view.system.and_then(|system| system.text().or_else(|| system.children().last()?.get("text")?.text()));
    if last.and_then(|text| text.strip_suffix(block)).is_some_and(|before| before.is_empty() || before.ends_with(BLOCK_GAP)) {
        return Ok(()); // the host has put it there
    }
    view.block = BlockPlace::Apart;
    view.overhead += match view.system.and_then(Node::text).filter(|text| !text.is_empty()) {
        Some(text) => Size::added(view.estimator, text, BLOCK_GAP, block),
        None => Size::of(view.estimator, block),
    };
    Ok(())
}

struct Reader<'v, 't> {
    view: &'v mut View<'t>,
}

/// A message of which some blocks are read.
struct Draft<'t> {
    message: Message,
    /// Entries that follow those of the blocks: further texts of results.
    further: Vec<Entry<'t>>,
    /// The entry of its thinking.
    thinking: Option<usize>,
    /// Whether it asks for a tool.
    calls: bool,
    /// Whether it says something beside its thinking.
    says: bool,
    has_results: bool,
}

impl<'t> Reader<'_, 't> {
    fn fault(&self, code: Code, field: &str, what: &str) -> Error {
        Error::new(code, format!("messages[{}]{field}", self.view.messages.len()), what)
    }

    fn message(&mut self, node: Node<'t>) -> crate::Result<()> {
        if node.kind() != Kind::Object {
            return Err(self.fault(Code::InvalidMessage, "", "expected a message object"));
        }
        let Some(role) = node.get("role").and_then(Node::text) else {
            plain(node, || format!("messages[{}]", self.view.messages.len()))?; // it may have its role in a getter
            return Err(self.fault(Code::MissingRole, ".role", "every message needs a role: user or assistant"));
        };
        let role = match role {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            _ => Role::Other,
        };
        let start = self.view.entries.len();
        let fixed = Size { tokens: tokens::MESSAGE_OVERHEAD, bytes: 0 };
        let message = Message { role, entries: start..start, authored: false, continues: false, fixed, blocks: 1, markable: false, stays: false };
        let mut draft = Draft { message, further: Vec::new(), thinking: None, calls: false, says: false, has_results: false };
        self.marks(node);
        draft.message.fixed += others(self.view.estimator, node, &["role", "content"]);
        let content = node.get("content").filter(|content| content.kind() != Kind::Null);
        match content.map(|content| (content, content.kind())) {
            None => {}
            Some((content, Kind::String)) => {
                let text = content.text().unwrap_or("");
                draft.message.markable = !text.trim_ascii().is_empty();
                self.text(&mut draft, 0, text);
            }
            Some((content, Kind::Array)) => {
                draft.message.blocks = (content.len() as u32).max(1);
                draft.message.stays = content.children().any(|block| stays(block, content));
                for (part, block) in content.children().enumerate() {
                    self.block(&mut draft, part as u32, block, content);
                }
            }
            _ => return Err(self.fault(Code::InvalidMessage, ".content", "expected a string or an array of content blocks")),
        }
        self.finish(draft, node);
        Ok(())
    }

    /// What only the whole of a message tells.
    fn finish(&mut self, draft: Draft<'t>, node: Node<'t>) {
        let Draft { mut message, further, thinking, calls, says, has_results } = draft;
        if message.role == Role::User && has_results && !message.authored {
            message.role = Role::Tool;
        }
        if let Some(thinking) = thinking {
            self.view.entries[thinking].required = match (calls, says) {
                (true, _) => Required::InLoop,
                (false, true) => Required::Never,
                (false, false) => Required::Always,
            };
        }
        self.view.entries.extend(further);
        message.entries.end = self.view.entries.len();
        self.view.messages.push(message);
        self.view.nodes.push(node);
    }

    /// Reads one of the blocks of a content.
    fn block(&mut self, draft: &mut Draft<'t>, part: u32, block: Node<'t>, content: Node<'t>) {
        self.marks(block);
        draft.message.markable |= holds_mark(block);
        let kind = kind_of(block);
        let has_summed_up = || block.get("content").is_some_and(|content| content.kind() != Kind::Null); // else it failed
        if kind == "compaction" && has_summed_up() {
            self.view.compactions.push(self.view.messages.len());
        }
        match (draft.message.role, kind) {
            (role, "tool_result") if role != Role::Assistant => self.result(draft, part, block, content.len() as u32),
            (Role::Assistant, "thinking" | "redacted_thinking") => self.thinking(draft, part, block),
            (Role::Assistant, "tool_use" | "server_tool_use" | "mcp_tool_use") => self.call(draft, part, block, content),
            _ => match block.text().or_else(|| block.get("text").filter(|_| kind == "text")?.text()) {
                Some(text) => self.text(draft, part, text),
                None => {
                    draft.says = true;
                    draft.message.authored |= draft.message.role == Role::User && kind != "mid_conv_system";
                    draft.message.fixed += media(self.view.estimator, block, kind);
                }
            },
        }
    }

    fn text(&mut self, draft: &mut Draft<'t>, part: u32, text: &'t str) {
        draft.says |= !text.trim_ascii().is_empty();
        draft.message.authored |= draft.message.role == Role::User && !text.is_empty();
        let entry = self.entry(part, EntryKind::Text, Content::Text(text.into()), text.len() as u32);
        self.view.entries.push(entry);
    }

    /// The texts of a result are entries of their own.
    fn result(&mut self, draft: &mut Draft<'t>, part: u32, block: Node<'t>, length: u32) {
        let items = || block.get("content").into_iter().flat_map(Node::children);
        items().chain(items().filter_map(|item| item.get("content")).flat_map(Node::children)).for_each(|item| self.marks(item));
        draft.has_results = true;
        draft.message.fixed += others(self.view.estimator, block, &["type", "tool_use_id", "content", "is_error"]);
        draft.message.fixed.tokens += tokens::MESSAGE_OVERHEAD;
        let tool_call = block.get("tool_use_id").and_then(Node::text).and_then(|id| self.view.by_id.answer(id));
        self.view.answers.push(Answer { message: self.view.messages.len(), part, tool_call });
        let failed = block.get("is_error").is_some_and(|failed| failed.kind() == Kind::True);
        let mut is_first = true;
        leaves(block, &mut |_, leaf| match leaf {
            Leaf::Sent(node) => draft.message.fixed += media(self.view.estimator, node, kind_of(node)),
            Leaf::Text(text) => {
                let part = if is_first { part } else { length + draft.further.len() as u32 };
                let entry = self.entry(part, EntryKind::Result, Content::Text(text.into()), text.len() as u32);
                let entry = Entry { tool_call, failed, ..entry };
                if is_first {
                    self.view.entries.push(entry)
                } else {
                    draft.further.push(entry)
                }
                is_first = false;
            }
        });
    }

    fn thinking(&mut self, draft: &mut Draft<'t>, part: u32, block: Node<'t>) {
        let bytes = tree_bytes(block);
        match draft.thinking.and_then(|entry| self.view.entries.get_mut(entry)) {
            Some(Entry { content: Content::Values(blocks), bytes: sum, .. }) => {
                blocks.push(block);
                *sum += bytes;
            }
            _ => {
                draft.thinking = Some(self.view.entries.len());
                let entry = self.entry(part, EntryKind::Reasoning, Content::Values(vec![block]), bytes);
                self.view.entries.push(entry);
            }
        }
    }

    /// The results of what the provider runs are in the message itself, so nothing answers those calls.
    fn call(&mut self, draft: &mut Draft<'t>, part: u32, block: Node<'t>, content: Node<'t>) {
        (draft.calls, draft.says) = (true, true);
        draft.message.fixed += size_of(self.view.estimator, block);
        let message = self.view.messages.len();
        let call = self.view.tool_calls.len();
        match block.get("id").and_then(Node::text) {
            Some(id) if kind_of(block) == "tool_use" => self.view.by_id.open(id, message, call),
            Some(id) if content.children().any(|other| is_result_of(other, id)) => {
                self.view.answers.push(Answer { message, part, tool_call: Some(call) });
            }
            _ => {}
        }
        let name = block.get("name").and_then(Node::text).unwrap_or("");
        self.view.tool_calls.push(ToolCall::new(message, name, block.get("input")));
    }

    fn entry(&self, part: u32, kind: EntryKind, content: Content<'t>, bytes: u32) -> Entry<'t> {
        let message = self.view.messages.len();
        Entry { message, part, kind, content, bytes, tool_call: None, failed: false, required: Required::Never, known: Known::default() }
    }

    fn marks(&mut self, node: Node<'t>) {
        let message = Some(self.view.messages.len());
        self.view.host_marks.extend(marks_on(node).map(|mark| HostMark { message, hour: is_hour(mark) }));
    }
}

/// Whether a block is the result of this call.
fn is_result_of(block: Node<'_>, id: &str) -> bool {
    kind_of(block).ends_with("_tool_result") && block.get("tool_use_id").and_then(Node::text) == Some(id)
}

/// Whether a block of a content must be sent whatever becomes of the exchange that it belongs to: a summary, instructions, tools that are
/// loaded, and the result of a call of the provider's that stands elsewhere.
fn stays(block: Node<'_>, content: Node<'_>) -> bool {
    match kind_of(block) {
        "compaction" | "mid_conv_system" | "tool_search_tool_result" => true,
        "tool_result" => block.get("content").into_iter().flat_map(Node::children).any(|item| kind_of(item) == "tool_reference"),
        kind if kind.ends_with("_tool_result") => {
            let calls = || content.children().filter(|other| kind_of(*other).ends_with("_tool_use")).filter_map(|call| call.get("id")?.text());
            block.get("tool_use_id").and_then(Node::text).is_none_or(|id| calls().all(|call| call != id))
        }
        _ => false,
    }
}

/// What the fields cost that nobody knows.
fn others(estimator: Estimator, node: Node<'_>, known: &[&str]) -> Size {
    let mut size = Size::default();
    let is_other = |field: &Node<'_>| field.kind() != Kind::Null && field.key().is_some_and(|key| !known.contains(&key) && !MARK_KEYS.contains(&key));
    node.children().filter(is_other).for_each(|field| size += size_of(estimator, field));
    size
}
