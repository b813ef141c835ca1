//! Reads Responses items into a view.

use super::item::{Item, Leaf};
use super::{BLOCK_GAP, LIST};
use crate::error::{Code, Error};
use crate::history::{Answer, BlockPlace, Content, Entry, EntryKind, HostMark, Known, Message, Required, Role, Size, ToolCall, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens::{self, Estimator};
use crate::wire::Request;
use crate::wire::reading::{MARK_KEYS, before, is_hour, marks_on, media, plain, size_of, tree_bytes};

/// Reads a request into a view.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view = View { list: request.list, estimator: request.estimator, forced_tool: forced_tool(request), ..View::default() };
    match request.messages.filter(|input| input.kind() == Kind::String && request.list == LIST) {
        Some(input) => Reader::of(&mut view).text_alone(input),
        None => {
            let items = request.message_array()?;
            view.messages.reserve(items.len());
            view.entries.reserve(items.len());
            append(&mut view, items.children())?;
        }
    }
    view.system_end = view.messages.iter().take_while(|message| message.role == Role::System).count();
    before(&mut view, request, block);
    place_block(&mut view, block)?;
    Ok(view)
}

/// Reads items that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, mut items: Children<'t>) -> crate::Result<()> {
    let mut reader = Reader::of(view);
    items.try_for_each(|item| reader.item(item))
}

/// `{"type": "function" | "custom", "name"}`; a tool of the provider's is forced by its type alone.
fn forced_tool<'t>(request: &Request<'t>) -> Option<&'t str> {
    let choice = request.tool_choice?;
    let kind = choice.get("type").and_then(Node::text).filter(|kind| matches!(*kind, "shell" | "local_shell" | "apply_patch"));
    choice.get("name").and_then(Node::text).or(kind)
}

/// At the end of the leading system messages, else of the system prompt that stands apart, else in a message of its own. The block's size
/// is what reading the request back with the block in it would add.
fn place_block(view: &mut View<'_>, block: Option<&str>) -> crate::Result<()> {
    let Some(block) = block else { return Ok(()) };
    let is_there = |text: &str| text.strip_suffix(block).is_some_and(|before| before.is_empty() || before.ends_with(BLOCK_GAP));
    let estimator = view.estimator;
    let added_to = |text: Option<&str>| match text.filter(|text| !text.is_empty()) {
        Some(text) => Size::added(estimator, text, BLOCK_GAP, block),
        None => Size::of(estimator, block),
    };
    let mut leading = view.nodes[..view.system_end].iter().enumerate().filter_map(|(at, node)| Some((at, Item::of(*node)?)));
    let system = view.system.filter(|_| view.list == LIST);
    let input_is_text = view.nodes.first().is_some_and(|node| node.kind() == Kind::String);
    if let Some((at, item)) = leading.rfind(|(_, item)| item.kind == "message") {
        if !view.entries[..view.messages[at].entries.end].iter().any(|entry| is_there(entry.text())) {
            view.block = BlockPlace::Append(at);
            view.messages[at].fixed += added_to(item.content.and_then(Node::text));
        }
    } else if system.is_some_and(|system| system.kind() == Kind::String) || (view.system.is_none() && input_is_text) {
        let text = system.and_then(Node::text);
        if !text.is_some_and(is_there) {
            view.block = BlockPlace::Apart;
            view.overhead += added_to(text);
        }
    } else if view.system.is_some() {
        let what = "the system prompt stands apart and cannot be added to from here: fold the whole request with foldRequest, or put the block into the system prompt yourself";
        return Err(Error::new(Code::InvalidOption, "options.contextBlock", what));
    } else {
        view.block = BlockPlace::Prepend(block.len() as u32);
        view.overhead += Size::of(estimator, block);
        view.overhead.tokens += tokens::MESSAGE_OVERHEAD;
    }
    Ok(())
}

struct Reader<'v, 't> {
    view: &'v mut View<'t>,
    /// The item that begins the answer which the next one may continue.
    answer: usize,
}

impl<'v, 't> Reader<'v, 't> {
    fn of(view: &'v mut View<'t>) -> Reader<'v, 't> {
        let answer = view.messages.iter().rposition(|message| !message.continues).unwrap_or(0);
        Reader { view, answer }
    }

    fn fault(&self, code: Code, field: &str, what: &str) -> Error {
        Error::new(code, self.path() + field, what)
    }

    fn path(&self) -> String {
        format!("{}[{}]", self.view.list, self.view.messages.len())
    }

    /// An `input` that is a text.
    fn text_alone(&mut self, input: Node<'t>) {
        let mut message = self.begin(Role::User);
        self.entry(&mut message, 0, Content::Text(input.text().unwrap_or("").into()), |_| {});
        self.end(message, input);
    }

    fn item(&mut self, node: Node<'t>) -> crate::Result<()> {
        if node.kind() != Kind::Object {
            return Err(self.fault(Code::InvalidMessage, "", "expected an item object"));
        }
        let Some(item) = Item::of(node) else {
            plain(node, || self.path())?; // it may have its type in a getter
            return Err(self.fault(Code::MissingRole, ".type", "every item needs a type, or a role: system, developer, user or assistant"));
        };
        if item.kind == "message" && item.content.is_some_and(|content| !matches!(content.kind(), Kind::String | Kind::Array)) {
            return Err(self.fault(Code::InvalidMessage, ".content", "expected a string or an array of parts"));
        }
        let mut message = self.begin(item.role);
        message.authored = item.kind == "mcp_approval_response";
        message.markable = item.mark_part().is_some();
        message.stays = item.stays();
        self.marks(item);
        if item.kind == "item_reference" {
            self.view.elsewhere.get_or_insert("item_reference");
        }
        if item.kind == "reasoning" {
            self.entry(&mut message, 0, Content::Values(vec![node]), |entry| entry.required = Required::Always);
            self.end(message, node);
            return Ok(());
        }
        message.fixed += beside(self.view.estimator, item);
        if item.is_call() {
            self.call(item);
        }
        let tool_call = if item.role == Role::Tool { self.answered(node) } else { None };
        if item.role == Role::Tool {
            self.view.answers.push(Answer { message: self.view.messages.len(), part: 0, tool_call });
        }
        let failed = matches!(node.get("status").and_then(Node::text), Some("failed" | "error"));
        for (part, leaf) in item.leaves() {
            match leaf {
                Leaf::Text(text) => self.entry(&mut message, part, Content::Text(text.into()), |entry| {
                    entry.tool_call = tool_call;
                    entry.failed = failed;
                }),
                Leaf::Sent(part) => {
                    message.authored |= message.role == Role::User;
                    message.fixed += media(self.view.estimator, part, part.get("type").and_then(Node::text).unwrap_or(""));
                }
            }
        }
        message.blocks = item.content.map_or(1, |content| content.len().max(1) as u32);
        self.end(message, node);
        Ok(())
    }

    fn begin(&mut self, role: Role) -> Message {
        let (at, entries) = (self.view.messages.len(), self.view.entries.len());
        let continues = role == Role::Assistant && self.view.messages.last().is_some_and(|last| last.role == Role::Assistant);
        if !continues {
            self.answer = at;
        }
        let fixed = Size { tokens: tokens::MESSAGE_OVERHEAD, bytes: 0 };
        Message { role, entries: entries..entries, continues, authored: false, fixed, blocks: 1, markable: false, stays: false }
    }

    fn end(&mut self, mut message: Message, node: Node<'t>) {
        message.entries.end = self.view.entries.len();
        self.view.messages.push(message);
        self.view.nodes.push(node);
    }

    fn entry(&mut self, message: &mut Message, part: u32, content: Content<'t>, more: impl FnOnce(&mut Entry<'t>)) {
        let (kind, bytes) = match &content {
            Content::Values(values) => (EntryKind::Reasoning, values.iter().map(|value| tree_bytes(*value)).sum()),
            Content::Text(text) => (if message.role == Role::Tool { EntryKind::Result } else { EntryKind::Text }, text.len() as u32),
        };
        message.authored |= message.role == Role::User && bytes > 0;
        let at = self.view.messages.len();
        let mut entry =
            Entry { message: at, part, kind, content, bytes, tool_call: None, failed: false, required: Required::Never, known: Known::default() };
        more(&mut entry);
        self.view.entries.push(entry);
    }

    /// Calls of one answer that have one id are answered in order.
    fn call(&mut self, item: Item<'t>) {
        let (name, arguments) = item.asked();
        let call = self.view.tool_calls.len();
        let id = |name| item.node.get(name).and_then(Node::text);
        if let Some(id) = id("call_id") {
            self.view.by_id.open(id, self.answer, call);
        }
        if let Some(id) = id("id").filter(|_| item.kind == "local_shell_call") {
            self.view.by_name.open(id, self.answer, call);
        }
        let message = self.view.messages.len();
        self.view.tool_calls.push(ToolCall::new(message, name, arguments));
        if id("call_id").is_none() && item.kind != "local_shell_call" {
            self.view.answers.push(Answer { message, part: 0, tool_call: Some(call) }); // it holds what it gave
        }
    }

    /// The call that an output answers. That of a local shell may name the item, and not its call.
    fn answered(&mut self, output: Node<'t>) -> Option<usize> {
        match output.get("call_id").and_then(Node::text) {
            Some(id) => self.view.by_id.answer(id),
            None => output.get("id").and_then(Node::text).and_then(|id| self.view.by_name.answer(id)),
        }
    }

    fn marks(&mut self, item: Item<'t>) {
        let message = Some(self.view.messages.len());
        let parts = item.content.filter(|content| content.kind() == Kind::Array).into_iter().flat_map(Node::children);
        let marks = [item.node].into_iter().chain(parts).flat_map(marks_on);
        self.view.host_marks.extend(marks.map(|mark| HostMark { message, hour: is_hour(mark) }));
    }
}

/// What is sent beside what an item says. Its ids are for the provider's books.
fn beside(estimator: Estimator, item: Item<'_>) -> Size {
    let mut size = Size::default();
    for field in item.node.children() {
        match field.key().unwrap_or("") {
            "type" | "role" | "id" | "call_id" | "status" => {}
            key if MARK_KEYS.contains(&key) || field.kind() == Kind::Null => {}
            key if key == item.content_key() && item.content.is_some() => {}
            "result" if item.kind == "image_generation_call" => size += media(estimator, field, "image"),
            "outputs" => field.children().for_each(|output| size += media(estimator, output, output.get("type").and_then(Node::text).unwrap_or(""))),
            _ => size += size_of(estimator, field),
        }
    }
    size
}
