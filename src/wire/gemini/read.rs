//! Reads contents into a view.

use super::request::{forced_tool, place_block};
use super::{CALL, CODE, MEDIA, RESPONSE, contents, field, is_mixed, is_signed, is_thought, leaves, media_of, media_type, parts, text_of};
use crate::error::{Code, Error};
use crate::history::{Role, Size, View};
use crate::tape::{Children, Kind, Node};
use crate::tokens::Estimator;
use crate::wire::Request;
use crate::wire::draft::Draft;
use crate::wire::reading::{PAGE, before, media, plain, size_of};

/// Reads a request into a view.
pub(super) fn read<'t>(request: &Request<'t>, block: Option<&str>) -> crate::Result<View<'t>> {
    let mut view =
        View { list: request.list, estimator: request.estimator, forced_tool: forced_tool(request), has_no_marks: true, ..View::default() };
    contents(request)?.into_iter().try_for_each(|content| message(&mut view, content))?;
    view.system_end = view.messages.iter().take_while(|message| message.role == Role::System).count();
    before(&mut view, request, block);
    place_block(&mut view, block)?;
    Ok(view)
}

/// Reads contents that follow those of a view.
pub(super) fn append<'t>(view: &mut View<'t>, mut contents: Children<'t>) -> crate::Result<()> {
    contents.try_for_each(|content| message(view, content))
}

/// Whether it is a content, and not a part alone.
fn is_content(node: Node<'_>) -> bool {
    node.get("parts").is_some() || node.get("role").is_some()
}

fn message<'t>(view: &mut View<'t>, node: Node<'t>) -> crate::Result<()> {
    let (list, at) = (view.list, view.nodes.len());
    let fault = |code, field: &str, what: &str| Err(Error::new(code, format!("{list}[{at}]{field}"), what));
    if !matches!(node.kind(), Kind::Object | Kind::String) {
        return fault(Code::InvalidMessage, "", "expected a content object, with role and parts");
    }
    if view.nodes.last().is_some_and(|last| is_content(*last) != is_content(node)) {
        return fault(Code::InvalidMessage, "", "parts do not go beside contents: put them into a content, with its role");
    }
    if !is_content(node) {
        plain(node, || format!("{list}[{at}]"))?; // it may have its parts in a getter
        if text_of(node).is_none() && media_of(node).is_none() {
            return fault(Code::MissingRole, ".role", "expected a content, with role (user or model) and parts, or a part of the user's");
        }
    }
    let role = match node.get("role").and_then(Node::text) {
        Some("user") | None => Role::User,
        Some("model") => Role::Assistant,
        Some("function" | "tool") => Role::Tool,
        Some("system") => Role::System,
        Some(_) => Role::Other,
    };
    let held = node.get("parts").filter(|held| held.kind() != Kind::Null);
    if held.is_some_and(|held| !matches!(held.kind(), Kind::Array | Kind::Object)) {
        return fault(Code::InvalidMessage, ".parts", "expected an array of parts");
    }
    let parts = if held.is_some() || !is_content(node) { parts(node) } else { Vec::new() };
    let follows = role == Role::Assistant && view.messages.last().is_some_and(|last| last.role == Role::Assistant);
    let mut draft = Draft::new(view, role, parts.len());
    let answer = draft.continues(follows);
    for node in parts {
        part(&mut draft, role, answer, node);
        draft.next_part();
    }
    draft.finish(node);
    Ok(())
}

/// Reads a part; `answer` is the message that begins the answer it may belong to.
fn part<'t>(draft: &mut Draft<'_, 't>, role: Role, answer: usize, node: Node<'t>) {
    let is_models = role == Role::Assistant;
    if is_mixed(node) {
        return draft.fixed(size_of(draft.view.estimator, node));
    }
    if is_models && is_thought(node) {
        return draft.thought(node, is_signed(node));
    }
    if let Some(text) = text_of(node) {
        draft.text(text);
        others(draft, node, &["text"]);
        if is_signed(node) {
            draft.says();
        }
        if !text.trim_ascii().is_empty() {
            draft.can_hold_mark();
        }
        return;
    }
    draft.can_hold_mark();
    if let Some(call) = field(node, CALL).filter(|_| is_models) {
        let name = call.get("name").and_then(Node::text).unwrap_or("");
        let number = draft.call(name, call.get("args"), size_of(draft.view.estimator, node));
        if let Some(id) = id_of(call) {
            draft.view.by_id.open(id, answer, number);
        }
        draft.view.by_name.open(name, answer, number);
    } else if let Some(response) = field(node, RESPONSE).filter(|_| !is_models) {
        result(draft, response);
    } else if let Some(code) = field(node, CODE).filter(|_| is_models) {
        let call = draft.call("code_execution", Some(code), size_of(draft.view.estimator, node));
        draft.is_answered(call); // what it gave stands in the same content
    } else if let Some(held) = media_of(node) {
        draft.fixed(cost(draft.view.estimator, held));
        others(draft, node, MEDIA.as_flattened());
    } else {
        draft.fixed(size_of(draft.view.estimator, node));
    }
}

fn id_of<'t>(node: Node<'t>) -> Option<&'t str> {
    node.get("id").and_then(Node::text).filter(|id| !id.is_empty())
}

/// What a function gave.
fn result<'t>(draft: &mut Draft<'_, 't>, node: Node<'t>) {
    let name = node.get("name").and_then(Node::text).unwrap_or("");
    let by_id = id_of(node).and_then(|id| draft.view.by_id.answer(id));
    if let Some(call) = by_id {
        draft.view.by_name.close(draft.view.tool_calls[call].name, call);
    }
    let tool_call = by_id.or_else(|| draft.view.by_name.answer(name));
    let response = node.get("response");
    let mut texts = Vec::new();
    let estimator = draft.view.estimator;
    let frame = response.map_or(Size::default(), |response| leaves(estimator, response, &mut |_, text| texts.push(text.into())));
    draft.beside(frame);
    draft.result(texts, tool_call, response.is_some_and(has_failed));
    others(draft, node, &["id", "response", "parts"]);
    for part in node.get("parts").into_iter().flat_map(Node::children) {
        draft.beside(media_of(part).map_or_else(|| size_of(estimator, part), |held| cost(estimator, held)));
    }
}

/// Whether a response says that the call failed.
fn has_failed(response: Node<'_>) -> bool {
    let says = |error: Node<'_>| match error.kind() {
        Kind::String => error.text().is_some_and(|text| !text.trim_ascii().is_empty()),
        Kind::Array | Kind::Object => !error.is_empty(),
        kind => kind == Kind::True,
    };
    response.get("error").is_some_and(says) || field(response, ["isError", "is_error"]).is_some_and(|failed| failed.kind() == Kind::True)
}

/// What the fields cost that are not known.
fn others(draft: &mut Draft<'_, '_>, node: Node<'_>, known: &[&str]) {
    let others = node.children().filter(|field| field.kind() != Kind::Null && field.key().is_some_and(|key| !known.contains(&key)));
    others.for_each(|field| draft.beside(size_of(draft.view.estimator, field)));
}

/// What an image, audio or a file costs.
fn cost(estimator: Estimator, held: Node<'_>) -> Size {
    match media_type(held) {
        kind if kind.starts_with("image") => media(estimator, held, "image"),
        _ if held.get("data").is_none() => Size { tokens: PAGE, bytes: 4 * PAGE },
        kind if kind.starts_with("audio") => media(estimator, held, "input_audio"),
        _ => media(estimator, held, "file"),
    }
}
