//! Reads Chat messages into a view.

use super::{BLOCK_GAP, REASONING};
use crate::error::{Code, Error};
use crate::history::{Answer, BlockPlace, Content, Entry, EntryKind, HostMark, Known, Message, Required, Role, Size, ToolCall, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens::{self, Estimator};
use crate::wire::Request;
use crate::wire::reading::{MARK_KEYS, before, is_hour, marks_on, media, messages, plain, size_of, tree_bytes};

/// Reads a request into a view.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view = messages(request, forced_tool(request), append)?;
    before(&mut view, request, block);
    let last_system = view.system_end.checked_sub(1).map(|last| view.nodes[last]);
    place_block(&mut view, last_system, block, request.system.is_some())?;
    Ok(view)
}

/// Reads messages that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, mut messages: Children<'t>) -> crate::Result<()> {
    let mut reader = Reader { view };
    messages.try_for_each(|message| reader.message(message))
}

/// `{"type": "function", "function": {"name"}}`, or the legacy `{"name"}`.
fn forced_tool<'t>(request: &Request<'t>) -> Option<&'t str> {
    let choice = request.tool_choice?;
    let body = choice.get("function").or_else(|| choice.get("custom")).unwrap_or(choice);
    body.get("name").and_then(Node::text)
}

/// The block's size is what reading the message back with the block in it would add.
fn place_block(view: &mut View<'_>, last: Option<Node<'_>>, block: Option<&str>, stands_apart: bool) -> crate::Result<()> {
    let Some(block) = block else { return Ok(()) };
    let Some(last) = last else {
        if stands_apart {
            let what = "the system prompt is not among the messages, so there is no place for it: put the block into the system prompt yourself";
            return Err(Error::new(Code::InvalidOption, "options.contextBlock", what));
        }
        view.block = BlockPlace::Prepend(block.len() as u32);
        view.overhead += Size::of(view.estimator, block);
        view.overhead.tokens += tokens::MESSAGE_OVERHEAD;
        return Ok(());
    };
    let at = view.system_end - 1;
    let ends_with_it = |text: &str| text.strip_suffix(block).is_some_and(|before| before.is_empty() || before.ends_with(BLOCK_GAP));
    if view.entries[..view.messages[at].entries.end].iter().any(|entry| ends_with_it(entry.text())) {
        return Ok(()); // the host has put it there
    }
    view.block = BlockPlace::Append(at);
    let text = last.get("content").and_then(Node::text).filter(|text| !text.is_empty());
    view.messages[at].fixed += match text {
        Some(text) => Size::added(view.estimator, text, BLOCK_GAP, block),
        None => Size::of(view.estimator, block),
    };
    Ok(())
}

/// What a message answers.
#[derive(Clone, Copy)]
struct Answers {
    tool_call: Option<usize>,
    failed: bool,
}

struct Reader<'v, 't> {
    view: &'v mut View<'t>,
}

/// The fields of a message that mean something here.
#[derive(Default)]
struct Fields<'t> {
    role: Option<&'t str>,
    content: Option<Node<'t>>,
    tool_calls: Option<Node<'t>>,
    function_call: Option<Node<'t>>,
    tool_call_id: Option<&'t str>,
    name: Option<&'t str>,
    reasoning: Vec<Node<'t>>,
    others: Size,
    /// The host says that the call failed.
    failed: bool,
}

impl<'t> Reader<'_, 't> {
    fn fault(&self, code: Code, field: &str, what: String) -> Error {
        Error::new(code, format!("messages[{}]{field}", self.view.messages.len()), what)
    }

    fn message(&mut self, node: Node<'t>) -> crate::Result<()> {
        if node.kind() != Kind::Object {
            return Err(self.fault(Code::InvalidMessage, "", "expected a message object".into()));
        }
        let fields = fields_of(self.view.estimator, node);
        let Some(role) = fields.role else {
            plain(node, || format!("messages[{}]", self.view.messages.len()))?; // it may have its role in a getter
            return Err(self.fault(Code::MissingRole, ".role", "every message needs a role: system, developer, user, assistant or tool".into()));
        };
        let role = match role {
            "system" | "developer" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => Role::Other,
        };
        let at = self.view.messages.len();
        let marked = [node].into_iter().chain(fields.tool_calls.into_iter().flat_map(Node::children));
        marked.flat_map(marks_on).for_each(|mark| self.view.host_marks.push(HostMark { message: Some(at), hour: is_hour(mark) }));
        let mut message = Message {
            role,
            entries: self.view.entries.len()..self.view.entries.len(),
            continues: false, // two assistant messages in a row are two answers
            authored: false,
            fixed: fields.others,
            blocks: 0,
            markable: false,
            stays: false,
        };
        message.fixed.tokens += tokens::MESSAGE_OVERHEAD;
        let made = self.tool_calls(&fields, at)?;
        for call in [fields.tool_calls, fields.function_call].into_iter().flatten() {
            message.fixed += size_of(self.view.estimator, call);
        }
        let tool_call = match fields.role {
            Some("tool") => fields.tool_call_id.and_then(|id| self.view.by_id.answer(id)),
            Some("function") => fields.name.and_then(|name| self.view.by_name.answer(name)),
            _ => None,
        };
        if role == Role::Tool {
            self.view.answers.push(Answer { message: at, part: 0, tool_call });
        }
        let answers = Answers { tool_call, failed: fields.failed };
        let parts = self.content(&fields, &mut message, answers)?;
        message.blocks = (parts + made).max(1);
        if fields.role == Some("function") {
            message.markable = false; // its content can only be a string
        }
        if role == Role::Assistant && !fields.reasoning.is_empty() {
            let alone = made == 0 && self.view.entries[message.entries.start..].iter().all(|entry| entry.text().trim_ascii().is_empty());
            let required = if alone { Required::Always } else { required(made > 0, &fields.reasoning) };
            let bytes = fields.reasoning.iter().map(|node| tree_bytes(*node)).sum();
            let content = Content::Values(fields.reasoning);
            self.view.entries.push(Entry {
                message: at,
                part: parts,
                kind: EntryKind::Reasoning,
                content,
                bytes,
                tool_call: None,
                failed: false,
                required,
                known: Known::default(),
            });
        }
        message.entries.end = self.view.entries.len();
        self.view.messages.push(message);
        self.view.nodes.push(node);
        Ok(())
    }

    fn tool_calls(&mut self, fields: &Fields<'t>, message: usize) -> crate::Result<u32> {
        let mut made = 0;
        if let Some(calls) = fields.tool_calls.filter(|node| node.kind() != Kind::Null) {
            if calls.kind() != Kind::Array {
                return Err(self.fault(Code::InvalidMessage, ".tool_calls", "expected an array of tool calls".into()));
            }
            for call in calls.children() {
                let body = call.get("function").or_else(|| call.get("custom"));
                let name = body.and_then(|body| body.get("name")).and_then(Node::text).unwrap_or("");
                let arguments = body.and_then(|body| body.get("arguments").or_else(|| body.get("input")));
                if let Some(id) = call.get("id").and_then(Node::text) {
                    self.view.by_id.open(id, message, self.view.tool_calls.len());
                }
                self.view.tool_calls.push(ToolCall::new(message, name, arguments));
                made += 1;
            }
        }
        if let Some(call) = fields.function_call.filter(|node| node.kind() == Kind::Object) {
            let name = call.get("name").and_then(Node::text).unwrap_or("");
            self.view.by_name.open(name, message, self.view.tool_calls.len());
            self.view.tool_calls.push(ToolCall::new(message, name, call.get("arguments")));
            made += 1;
        }
        Ok(made)
    }

    /// Reads the content; returns how many parts it has.
    fn content(&mut self, fields: &Fields<'t>, message: &mut Message, answers: Answers) -> crate::Result<u32> {
        let Some(content) = fields.content else {
            return Ok(0);
        };
        match content.kind() {
            Kind::Null => Ok(0),
            Kind::String => {
                self.text(message, 0, content.text().unwrap_or(""), answers);
                Ok(1)
            }
            Kind::Array => {
                for (part, node) in content.children().enumerate() {
                    self.part(message, part as u32, node, answers);
                }
                Ok(content.len() as u32)
            }
            _ => Err(self.fault(Code::InvalidMessage, ".content", "expected a string, an array of parts, or null".into())),
        }
    }

    fn part(&mut self, message: &mut Message, part: u32, node: Node<'t>, answers: Answers) {
        for mark in marks_on(node) {
            self.view.host_marks.push(HostMark { message: Some(self.view.messages.len()), hour: is_hour(mark) });
        }
        let kind = node.get("type").and_then(Node::text).unwrap_or("");
        match (node.text(), kind) {
            (Some(text), _) => {
                let markable = message.markable;
                self.text(message, part, text, answers);
                message.markable = markable; // a bare string has no place for a mark
            }
            (None, "text") if node.get("text").is_some_and(|text| text.kind() == Kind::String) => {
                self.text(message, part, node.get("text").and_then(Node::text).unwrap_or(""), answers);
            }
            (None, kind) => {
                message.authored |= message.role == Role::User;
                message.fixed += media(self.view.estimator, node, kind);
            }
        }
    }

    fn text(&mut self, message: &mut Message, part: u32, text: &'t str, answers: Answers) {
        let kind = if message.role == Role::Tool { EntryKind::Result } else { EntryKind::Text };
        message.authored |= message.role == Role::User && !text.is_empty();
        message.markable |= !text.trim_ascii().is_empty();
        let entry = Entry {
            message: self.view.messages.len(),
            part,
            kind,
            content: Content::Text(text.into()),
            bytes: text.len() as u32,
            tool_call: answers.tool_call,
            failed: answers.failed,
            required: Required::Never,
            known: Known::default(),
        };
        self.view.entries.push(entry);
    }
}

/// Until when reasoning is needed beside tool calls. `reasoning` is for people to read; details that a router passes on from Anthropic are
/// needed as there.
fn required(calls: bool, reasoning: &[Node<'_>]) -> Required {
    let is_anthropic = |detail: Node<'_>| detail.get("format").and_then(Node::text).is_some_and(|format| format.starts_with("anthropic"));
    let of_field = |field: &Node<'_>| match field.key() {
        Some("reasoning") => Required::Never,
        Some("reasoning_details") if !field.is_empty() && field.children().all(is_anthropic) => Required::InLoop,
        _ => Required::Always,
    };
    reasoning.iter().filter(|_| calls).map(of_field).max().unwrap_or_default()
}

fn fields_of(estimator: Estimator, node: Node<'_>) -> Fields<'_> {
    let mut fields = Fields::default();
    for field in node.children() {
        match field.key().unwrap_or("") {
            "role" => fields.role = field.text(),
            "content" => fields.content = Some(field),
            "tool_calls" => fields.tool_calls = Some(field),
            "function_call" => fields.function_call = Some(field),
            "tool_call_id" => fields.tool_call_id = field.text(),
            "name" => fields.name = field.text(),
            key if REASONING.contains(&key) => {
                if field.kind() != Kind::Null {
                    fields.reasoning.push(field);
                }
            }
            key if MARK_KEYS.contains(&key) => {}
            "is_error" | "isError" => fields.failed |= field.kind() == Kind::True,
            "status" if field.text() == Some("error") => fields.failed = true,
            _ if field.kind() == Kind::Null => {}
            _ => fields.others += size_of(estimator, field),
        }
    }
    fields
}
