//! Marks in provider options: where one is, where one can stand, and how it is written.
//!
//! ```text
//! { role: "user", content: "hi" }   →   { role: "user", content: "hi", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
//! ```

use super::{items, kind_of, text_of};
use crate::options::Marks;
use crate::tape::{Kind, Node};
use crate::wire::Changes;
use crate::wire::patch::{Patch, Step, Value};
use crate::wire::reading::{is_hour, plain};

/// Keys of a provider's options that hold a mark.
const MARK_KEYS: [&str; 4] = ["cacheControl", "cache_control", "promptCacheBreakpoint", "cachePoint"];

/// Whether a message, part, output or tool has a mark, and whether that asks for the one-hour cache. Options for several providers are one
/// mark, since one provider reads them.
pub(super) fn mark_on(node: Node<'_>) -> Option<bool> {
    let options = node.get("providerOptions").into_iter().flat_map(Node::children).flat_map(Node::children);
    let marks = options.filter(|field| field.kind() != Kind::Null && field.key().is_some_and(|key| MARK_KEYS.contains(&key)));
    marks.map(is_hour).reduce(|one, other| one || other)
}

/// Whether a mark can stand on a part.
pub(super) fn can_hold(part: Node<'_>) -> bool {
    match kind_of(part) {
        "text" => is_text(part),
        "tool-result" => match (items(part), part.get("output")) {
            (Some(items), _) => items.children().any(is_text),
            (None, Some(output)) => output.get("value").and_then(Node::text).is_none_or(|text| !text.trim_ascii().is_empty()),
            (None, None) => false,
        },
        _ => false,
    }
}

/// Whether it is a text that says something.
fn is_text(part: Node<'_>) -> bool {
    text_of(part).is_some_and(|text| !text.trim_ascii().is_empty())
}

/// Where in an array of parts the mark goes: the part, and for OpenAI, which reads that of a list inside the list, the item.
pub(super) fn place(parts: Node<'_>, dialect: Marks, role: &str) -> Option<(usize, Option<usize>)> {
    let holds = |(_, part): &(usize, Node<'_>)| can_hold(*part) && (role == "tool") == (kind_of(*part) == "tool-result");
    let (at, part) = parts.children().enumerate().filter(holds).last()?;
    let items = items(part).filter(|_| dialect == Marks::Openai).into_iter().flat_map(Node::children);
    Some((at, items.enumerate().filter(|(_, item)| is_text(*item)).last().map(|(item, _)| item)))
}

/// Writes a mark into the options of what stands at the path.
pub(super) fn write(node: Node<'_>, path: &[&[Step]], changes: &Changes<'_>, shown: &dyn Fn() -> String) -> crate::Result<Patch> {
    let (provider, key, mark) = mark_of(changes);
    let there = |node: Node<'_>, key: &str| -> crate::Result<bool> {
        let Some(inner) = node.get(key).filter(|inner| inner.kind() == Kind::Object) else { return Ok(false) };
        plain(inner, || format!("{}.{key}", shown()))?;
        Ok(true)
    };
    plain(node, shown)?;
    let steps = [Step::Key("providerOptions"), Step::Key(provider), Step::Key(key)];
    let (depth, value) = match node.get("providerOptions") {
        Some(options) if there(node, "providerOptions")? => match there(options, provider)? {
            true => (3, mark),
            false => (2, serde_json::json!({ key: mark })),
        },
        _ => (1, serde_json::json!({ provider: { key: mark } })),
    };
    Ok(Patch::set(&[&path.concat(), &steps[..depth]], Value::Json(value)))
}

/// The options that hold nothing but the mark.
pub(super) fn options(changes: &Changes<'_>) -> serde_json::Value {
    let (provider, key, mark) = mark_of(changes);
    serde_json::json!({ provider: { key: mark } })
}

fn mark_of(changes: &Changes<'_>) -> (&'static str, &'static str, serde_json::Value) {
    match (changes.dialect, changes.hour) {
        (Marks::Openai, _) => ("openai", "promptCacheBreakpoint", serde_json::json!({ "mode": "explicit" })),
        (_, true) => ("anthropic", "cacheControl", serde_json::json!({ "type": "ephemeral", "ttl": "1h" })),
        (_, false) => ("anthropic", "cacheControl", serde_json::json!({ "type": "ephemeral" })),
    }
}
