//! Reads model messages into a view.

use super::draft::{file, is_by_provider};
use super::{BLOCK_GAP, is_json, items, kind_of, marks, text_of};
use crate::error::{Code, Error};
use crate::history::{BlockPlace, Front, HostMark, Role, Size, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens;
use crate::wire::Request;
use crate::wire::draft::Draft;
use crate::wire::reading::{before, messages, plain, size_of};

/// Reads a request into a view.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view = messages(request, forced_tool(request), append)?;
    before(&mut view, request, block);
    let apart = [request.system, request.tools].into_iter().flatten();
    let marks = apart.flat_map(|node| [node].into_iter().chain(node.children())).filter_map(marks::mark_on);
    view.host_marks.splice(0..0, marks.map(|hour| HostMark { message: None, hour }));
    block.map_or(Ok(()), |block| place_block(&mut view, block))?;
    view.front = front(&view);
    Ok(view)
}

/// Reads messages that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, mut messages: Children<'t>) -> crate::Result<()> {
    messages.try_for_each(|node| message(view, node))
}

/// `{"type": "tool", "toolName"}`.
fn forced_tool<'t>(request: &Request<'t>) -> Option<&'t str> {
    request.tool_choice?.get("toolName").and_then(Node::text)
}

/// What can hold a mark before the messages: the last text of a system prompt that stands apart, or else the last of a list of tools. Where
/// the block becomes a message in front, a mark on that does for the tools too.
fn front(view: &View<'_>) -> Option<Front> {
    match view.system {
        Some(system) => system_texts(system).last().filter(|text| !text.trim_ascii().is_empty()).map(|_| Front::System),
        None if matches!(view.block, BlockPlace::Prepend(_)) => None,
        None => last_tool(view).map(|_| Front::Tools),
    }
}

/// The last of a list of tools, if a mark can stand in it.
pub(super) fn last_tool<'t>(view: &View<'t>) -> Option<(usize, Node<'t>)> {
    let (at, tool) = view.tools.filter(|tools| tools.kind() == Kind::Array)?.children().enumerate().last()?;
    (tool.kind() == Kind::Object).then_some((at, tool))
}

/// The texts of a system prompt that stands apart: a text, a system message or several.
fn system_texts<'t>(system: Node<'t>) -> impl Iterator<Item = &'t str> {
    let several = if system.kind() == Kind::Array { Some(system.children()) } else { None };
    let messages = [system].into_iter().chain(several.into_iter().flatten());
    messages.filter_map(|message| message.text().or_else(|| message.get("content").and_then(Node::text)))
}

/// The block's size is what reading the message back with the block in it would add.
fn place_block(view: &mut View<'_>, block: &str) -> crate::Result<()> {
    let is_there = |text: &str| text.strip_suffix(block).is_some_and(|before| before.is_empty() || before.ends_with(BLOCK_GAP));
    let entries = view.messages[..view.system_end].last().map_or(0, |last| last.entries.end);
    let among = view.entries[..entries].iter().any(|entry| is_there(entry.text()));
    if among || view.system.is_some_and(|system| system_texts(system).any(is_there)) {
        return Ok(()); // the host has put it there
    }
    let last = match (view.system_end.checked_sub(1), view.system) {
        (Some(at), _) => {
            view.block = BlockPlace::Append(at);
            view.nodes[at].get("content").and_then(Node::text)
        }
        (None, Some(_)) if !view.is_whole => {
            let what = "the system prompt is not among the messages, so there is no place for it: use foldRequest, or put the block there yourself";
            return Err(Error::new(Code::InvalidOption, "options.contextBlock", what));
        }
        (None, Some(system)) => {
            view.block = BlockPlace::Apart;
            system_texts(system).last()
        }
        (None, None) => {
            view.block = BlockPlace::Prepend(block.len() as u32);
            view.overhead.tokens += tokens::MESSAGE_OVERHEAD;
            None
        }
    };
    let size = match last.filter(|text| !text.is_empty()) {
        Some(text) => Size::added(view.estimator, text, BLOCK_GAP, block),
        None => Size::of(view.estimator, block),
    };
    match view.block {
        BlockPlace::Append(at) => view.messages[at].fixed += size,
        _ => view.overhead += size,
    }
    Ok(())
}

fn message<'t>(view: &mut View<'t>, node: Node<'t>) -> crate::Result<()> {
    let at = view.messages.len();
    let fault = |code, field: &str, what: &str| Err(Error::new(code, format!("messages[{at}]{field}"), what));
    if node.kind() != Kind::Object {
        return fault(Code::InvalidMessage, "", "expected a message object");
    }
    let Some(role) = node.get("role").and_then(Node::text) else {
        plain(node, || format!("messages[{at}]"))?; // it may have its role in a getter
        return fault(Code::MissingRole, ".role", "every message needs a role: system, user, assistant or tool");
    };
    let role = match role {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        _ => Role::Other,
    };
    let content = node.get("content").filter(|content| content.kind() != Kind::Null);
    let mut draft = Draft::new(view, role, content.map_or(0, Node::len));
    draft.marked(marks::mark_on(node));
    match content.map(|content| (content.kind(), content)) {
        None => {}
        Some((Kind::String, content)) if role != Role::Tool => {
            let text = content.text().unwrap_or("");
            draft.text(text);
            if !text.trim_ascii().is_empty() {
                draft.can_hold_mark();
            }
        }
        Some((Kind::Array, content)) if role != Role::System => content.children().for_each(|node| {
            part(&mut draft, role, node, content);
            draft.next_part();
        }),
        Some(_) => {
            let expected = match role {
                Role::System => "expected a string",
                Role::Tool => "expected an array of parts",
                _ => "expected a string or an array of parts",
            };
            return fault(Code::InvalidMessage, ".content", expected);
        }
    }
    draft.finish(node);
    Ok(())
}

/// Reads one of the parts of a content.
fn part<'t>(draft: &mut Draft<'_, 't>, role: Role, node: Node<'t>, content: Node<'t>) {
    draft.marked(marks::mark_on(node));
    let kind = kind_of(node);
    if marks::can_hold(node) && (role == Role::Tool) == (kind == "tool-result") {
        draft.can_hold_mark();
    }
    match (kind, role) {
        ("text", _) => match text_of(node) {
            Some(text) => draft.text(text),
            None => draft.fixed(size_of(draft.view.estimator, node)),
        },
        ("reasoning", Role::Assistant) => draft.reasoned(node),
        ("tool-call", Role::Assistant) => {
            let call = draft.asked(node, node.get("toolName").and_then(Node::text).unwrap_or(""), size_of(draft.view.estimator, node));
            if is_by_provider(node) && has_twin(node, "tool-result", content) {
                draft.is_answered(call);
            }
        }
        ("tool-result", Role::Tool) => result(draft, node),
        ("tool-approval-request" | "tool-approval-response", _) => {} // the provider is not sent them
        ("tool-result", Role::Assistant) if !has_twin(node, "tool-call", content) => {
            draft.stays(); // its call stands elsewhere
            draft.fixed(file(draft.view.estimator, node));
        }
        _ => draft.fixed(file(draft.view.estimator, node)),
    }
}

/// Whether a content has a part of this kind for the same call.
fn has_twin(part: Node<'_>, kind: &str, content: Node<'_>) -> bool {
    let id = part.get("toolCallId").and_then(Node::text);
    content.children().any(|other| kind_of(other) == kind && other.get("toolCallId").and_then(Node::text) == id)
}

/// What a tool gave.
fn result<'t>(draft: &mut Draft<'_, 't>, node: Node<'t>) {
    let (id, output) = (node.get("toolCallId"), node.get("output"));
    draft.marked(output.and_then(marks::mark_on));
    let mut texts = Vec::new();
    for item in items(node).into_iter().flat_map(Node::children) {
        draft.marked(marks::mark_on(item));
        match text_of(item) {
            Some(text) => texts.push(text.into()),
            None => draft.fixed(file(draft.view.estimator, item)),
        }
    }
    let Some(output) = output.filter(|_| items(node).is_none()) else { return draft.gave(texts, id, false) };
    let value = output.get("value");
    let text = match is_json(output) {
        true => value.and_then(Node::stringified).map(Into::into),
        false => value.and_then(Node::text).map(Into::into),
    };
    if text.is_none() {
        draft.fixed(size_of(draft.view.estimator, output));
    }
    draft.gave(text, id, kind_of(output).starts_with("error"));
}
