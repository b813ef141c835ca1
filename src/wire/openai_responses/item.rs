//! What an item is: who it is from, what it says, and where that stands.

use crate::history::Role;
use crate::tape::{Kind, Node};
use crate::wire::patch::Step;

/// One item.
#[derive(Clone, Copy)]
pub(super) struct Item<'t> {
    /// The item itself.
    pub(super) node: Node<'t>,
    /// Its type; a message need not name it.
    pub(super) kind: &'t str,
    /// Who it is from.
    pub(super) role: Role,
    /// What it says, if that is read: what a message says, and what a tool of the host's does.
    pub(super) content: Option<Node<'t>>,
}

/// A piece of what an item says.
pub(super) enum Leaf<'t> {
    /// A text.
    Text(&'t str),
    /// What is sent as it is.
    Sent(Node<'t>),
}

/// Whether items have this type, as far as we know.
pub(in crate::wire) fn is_item(kind: &str) -> bool {
    matches!(kind, "message" | "additional_tools") || role_by_type(kind) != Role::Other
}

/// Who an item is from that has no role. What the provider runs itself belongs to the answer that asked for it.
fn role_by_type(kind: &str) -> Role {
    match kind {
        "reasoning" | "compaction" | "item_reference" | "mcp_list_tools" | "mcp_approval_request" | "program" | "program_output" => Role::Assistant,
        "mcp_approval_response" => Role::User,
        kind if kind.ends_with("_call") => Role::Assistant,
        kind if kind.ends_with("_output") => Role::Tool,
        _ => Role::Other,
    }
}

impl<'t> Item<'t> {
    /// Reads the outside of an item; `None` where nothing says what it is.
    pub(super) fn of(node: Node<'t>) -> Option<Item<'t>> {
        let text = |name| node.get(name).and_then(Node::text);
        let kind = match (text("type"), text("role")) {
            (Some(kind), _) => kind,
            (None, Some(_)) => "message",
            (None, None) => text("id").map(|_| "item_reference")?,
        };
        let role = match (text("role"), role_by_type(kind)) {
            (Some("user"), Role::Other) => Role::User,
            (Some("assistant"), Role::Other) => Role::Assistant,
            (Some("system" | "developer"), Role::Other) => Role::System,
            (_, Role::Tool) if text("execution") == Some("server") => Role::Assistant,
            (_, role) => role,
        };
        let content = match (kind, role) {
            ("message", _) => node.get("content"),
            (_, Role::Tool) => node.get("output"),
            _ => None,
        };
        Some(Item { node, kind, role, content: content.filter(|content| content.kind() != Kind::Null) })
    }

    /// Whether the model asks for something with it.
    pub(super) fn is_call(self) -> bool {
        self.kind.ends_with("_call")
    }

    /// Whether it must be sent whatever becomes of the answer that it belongs to.
    pub(super) fn stays(self) -> bool {
        matches!(
            self.kind,
            "compaction"
                | "item_reference"
                | "mcp_approval_request"
                | "mcp_list_tools"
                | "program"
                | "program_output"
                | "tool_search_call"
                | "tool_search_output"
        )
    }

    /// The name of the tool that a call is for, and its arguments. Tools of the provider's have theirs by their type.
    pub(super) fn asked(self) -> (&'t str, Option<Node<'t>>) {
        let own = self.kind.strip_suffix("_call").unwrap_or(self.kind);
        let name = self.node.get("name").and_then(Node::text).unwrap_or(own);
        let fields = ["arguments", "input", "action", "actions", "operation", "code"];
        (name, fields.iter().find_map(|field| self.node.get(field)))
    }

    /// What it says, piece by piece, with the number of the part.
    pub(super) fn leaves(self) -> impl Iterator<Item = (u32, Leaf<'t>)> {
        let is_list = self.content.is_some_and(|content| content.kind() == Kind::Array);
        let whole = self.content.filter(|_| !is_list).map(|content| (0, leaf(content)));
        let parts = self.content.filter(|_| is_list).into_iter().flat_map(Node::children).enumerate();
        whole.into_iter().chain(parts.flat_map(move |(at, part)| {
            let at = at as u32;
            let leaves = if self.is_in_chunks() {
                let stream = |name, part_number| part.get(name).map(|stream| (part_number, leaf(stream)));
                [stream("stdout", 2 * at), stream("stderr", 2 * at + 1), stream("outcome", 2 * at + 1)]
            } else {
                [Some((at, leaf(part))), None, None]
            };
            leaves.into_iter().flatten()
        }))
    }

    /// The way from the item to the text of a part.
    pub(super) fn way_to(self, part: u32) -> Vec<Step> {
        let Some(content) = self.content else { return Vec::new() };
        let mut way = vec![Step::Key(self.content_key())];
        if content.kind() != Kind::Array {
            return way;
        }
        if self.is_in_chunks() {
            way.extend([Step::Index(part as usize / 2), Step::Key(if part.is_multiple_of(2) { "stdout" } else { "stderr" })]);
            return way;
        }
        way.push(Step::Index(part as usize));
        if content.children().nth(part as usize).is_some_and(|part| part.kind() == Kind::Object) {
            way.push(Step::Key("text"));
        }
        way
    }

    /// The field that holds what it says.
    pub(super) fn content_key(self) -> &'static str {
        if self.kind == "message" { "content" } else { "output" }
    }

    fn is_in_chunks(self) -> bool {
        self.kind == "shell_call_output"
    }

    /// The part that a mark can stand in; a string becomes one. The provider takes them in what the model is given, not in what it wrote.
    pub(super) fn mark_part(self) -> Option<u32> {
        let takes = match self.kind {
            "message" => matches!(self.role, Role::User | Role::System),
            kind => matches!(kind, "function_call_output" | "custom_tool_call_output"),
        };
        let content = self.content.filter(|_| takes)?;
        let says = |text: &str| !text.trim_ascii().is_empty();
        let holds = |part: Node<'_>| match part.get("type").and_then(Node::text) {
            Some("input_text") => part.get("text").and_then(Node::text).is_some_and(says),
            kind => matches!(kind, Some("input_image" | "input_file")),
        };
        match (content.text(), content.kind()) {
            (Some(text), _) => says(text).then_some(0),
            (None, Kind::Array) => content.children().enumerate().filter(|(_, part)| holds(*part)).last().map(|(at, _)| at as u32),
            _ => None,
        }
    }
}

fn leaf(node: Node<'_>) -> Leaf<'_> {
    let kind = node.get("type").and_then(Node::text).unwrap_or("");
    match node.text().or_else(|| node.get("text").filter(|_| matches!(kind, "input_text" | "output_text" | "text"))?.text()) {
        Some(text) => Leaf::Text(text),
        None => Leaf::Sent(node),
    }
}
