//! Reads UI messages into a view, as the messages that a model is sent.

use std::borrow::Cow;

use crate::error::{Code, Error};
use crate::history::{BlockPlace, Role, Size, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens;
use crate::wire::Request;
use crate::wire::ai_sdk::draft::file;
use crate::wire::draft::Draft;
use crate::wire::reading::{before, plain, size_of};

/// Reads a request into a view. A context block is counted in front.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view = View { list: request.list, estimator: request.estimator, ..View::default() };
    append(&mut view, request.message_array()?.children())?;
    view.system_end = view.messages.iter().take_while(|message| message.role == Role::System).count();
    before(&mut view, request, block);
    if let Some(block) = block {
        view.block = BlockPlace::Prepend(block.len() as u32);
        view.overhead += Size::of(view.estimator, block);
        view.overhead.tokens += tokens::MESSAGE_OVERHEAD;
    }
    Ok(view)
}

/// Reads messages that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, messages: Children<'t>) -> crate::Result<()> {
    messages.enumerate().try_for_each(|(at, node)| message(view, at, node))
}

fn message<'t>(view: &mut View<'t>, at: usize, node: Node<'t>) -> crate::Result<()> {
    let fault = |code, field: &str, what: &str| Err(Error::new(code, format!("messages[{at}]{field}"), what));
    if node.kind() != Kind::Object {
        return fault(Code::InvalidMessage, "", "expected a message object");
    }
    let Some(role) = node.get("role").and_then(Node::text) else {
        plain(node, || format!("messages[{at}]"))?;
        return fault(Code::MissingRole, ".role", "every message needs a role: system, user or assistant");
    };
    let Some(parts) = node.get("parts").filter(|parts| parts.kind() == Kind::Array) else {
        return fault(Code::InvalidMessage, ".parts", "expected an array of parts");
    };
    let parts: Vec<_> = parts.children().collect();
    match role {
        "assistant" => parts.split(|part| kind_of(*part) == "step-start").for_each(|step| answer(view, node, step)),
        _ => {
            let role = match role {
                "system" => Role::System,
                "user" => Role::User,
                _ => Role::Other,
            };
            let mut draft = Draft::new(view, role, parts.iter().filter(|part| is_sent(**part)).count());
            parts.into_iter().for_each(|part| said(&mut draft, part));
            draft.finish(node);
        }
    }
    Ok(())
}

/// One model call: what it answered, and what its tools gave.
fn answer<'t>(view: &mut View<'t>, node: Node<'t>, parts: &[Node<'t>]) {
    let sent = || parts.iter().copied().filter(|part| is_sent(*part));
    if sent().next().is_none() {
        return;
    }
    let by_provider = |part: Node<'_>| part.get("providerExecuted").is_some_and(|executed| executed.kind() == Kind::True);
    let is_decided = |part: Node<'_>| part.get("approval").is_some_and(|approval| approval.get("approved").is_some());
    let mut draft = Draft::new(view, Role::Assistant, sent().count());
    for part in sent() {
        let Some(tool) = tool_of(part) else {
            said(&mut draft, part);
            continue;
        };
        let mut size = part.get("input").map_or(Size::default(), |input| size_of(draft.view.estimator, input));
        if let Some((text, _)) = output(part).filter(|_| by_provider(part)) {
            size += Size::of(draft.view.estimator, &text);
        }
        draft.asked(part, tool, size);
        draft.next_part();
        if part.get("approval").is_some() {
            draft.next_part();
        }
    }
    draft.finish(node);
    let given = || sent().filter(|part| is_decided(*part) || (!by_provider(*part) && output(*part).is_some()));
    if given().next().is_none() {
        return;
    }
    let mut draft = Draft::new(view, Role::Tool, given().count());
    for part in given() {
        if is_decided(part) {
            draft.next_part();
        }
        if let Some((text, failed)) = output(part).filter(|_| !by_provider(part)) {
            draft.gave([text], part.get("toolCallId"), failed);
            draft.next_part();
        }
    }
    draft.finish(node);
}

/// A part of any message but a tool.
fn said<'t>(draft: &mut Draft<'_, 't>, part: Node<'t>) {
    match kind_of(part) {
        "text" => draft.text(part.get("text").and_then(Node::text).unwrap_or("")),
        "reasoning" => draft.reasoned(part),
        "file" => draft.fixed(file(draft.view.estimator, part)),
        _ => return, // sources, and the host's own data
    }
    draft.next_part();
}

fn kind_of(part: Node<'_>) -> &str {
    part.get("type").and_then(Node::text).unwrap_or("")
}

/// The name of the tool that a part is a call of.
fn tool_of(part: Node<'_>) -> Option<&str> {
    match kind_of(part) {
        "dynamic-tool" => Some(part.get("toolName").and_then(Node::text).unwrap_or("")),
        kind => kind.strip_prefix("tool-"),
    }
}

/// Whether a model is sent anything of a part.
fn is_sent(part: Node<'_>) -> bool {
    match tool_of(part) {
        Some(_) => state_of(part) != "input-streaming",
        None => matches!(kind_of(part), "text" | "reasoning" | "file"),
    }
}

fn state_of(part: Node<'_>) -> &str {
    part.get("state").and_then(Node::text).unwrap_or("")
}

/// What a tool gave, as it is sent, and whether the call failed.
fn output(part: Node<'_>) -> Option<(Cow<'_, str>, bool)> {
    match state_of(part) {
        "output-available" => {
            let output = part.get("output");
            let text = match output.and_then(Node::text) {
                Some(text) => text.into(),
                None => output.map_or(Some("null".to_owned()), Node::stringified).unwrap_or_default().into(),
            };
            Some((text, false))
        }
        "output-error" => Some((part.get("errorText").and_then(Node::text).unwrap_or("").into(), true)),
        "output-denied" => {
            let reason = part.get("approval").and_then(|approval| approval.get("reason")).and_then(Node::text);
            Some((reason.unwrap_or("Tool call execution denied.").into(), true))
        }
        _ => None,
    }
}
