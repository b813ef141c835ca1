//! Turns edits, context block and marks into patches of Chat messages.

use super::{BLOCK_GAP, REASONING};
use crate::history::View;
use crate::tape::{Kind, Node};
use crate::wire::patch::{Change, Patch, Step, Value};
use crate::wire::reading::{mark_of, plain};
use crate::wire::touched::{self, Touched};
use crate::wire::{Changes, segment};

/// Turns changes into patches, in the order plan, context block, marks.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
    let (mut patches, mut places) = (Vec::new(), Vec::new());
    for (at, touched) in touched::by_message(view, changes) {
        if let Some(patch) = touched.replaced(at, text_part) {
            patches.push(patch);
            places.extend(touched.mark.map(|_| 0));
            continue;
        }
        places.extend(message(view.nodes[at], at, &touched, &mut patches)?);
    }
    patches.extend(segment::removed(changes.segments, view));
    patches.extend(touched::prepended(view, changes, text_part));
    Ok((patches, places))
}

/// Patches one message; returns the part that its mark stands in.
fn message(node: Node<'_>, at: usize, touched: &Touched<'_, '_>, patches: &mut Vec<Patch>) -> crate::Result<Option<u32>> {
    plain(node, || format!("messages[{at}]"))?;
    let field = |rest: &[Step], change| Patch::new(&[&[Step::Index(at)], rest], change);
    if touched.drops_reasoning() {
        let there = REASONING.iter().filter(|key| node.get(key).is_some());
        patches.extend(there.map(|key| field(&[Step::Key(key)], Change::Remove)));
    }
    let content = node.get("content");
    match content.filter(|content| content.kind() == Kind::Array) {
        Some(parts) => part_patches(parts, at, touched, patches, &field),
        None => {
            let original = content.and_then(Node::text).filter(|text| !text.is_empty());
            let edited = touched.text(0);
            let text = match touched.block {
                Some(block) => Some(edited.as_deref().or(original).map_or(block.to_owned(), |text| format!("{text}{BLOCK_GAP}{block}"))),
                None => edited,
            };
            let change = match (touched.mark, text) {
                (None, None) => return Ok(None),
                (None, Some(text)) => Value::Text(text),
                (Some(_), text) => Value::List(vec![text_part(text.map_or(Value::Original, Value::Text), touched.mark)]),
            };
            patches.push(field(&[Step::Key("content")], Change::Set(change)));
            Ok(touched.mark.map(|_| 0))
        }
    }
}

fn part_patches(
    parts: Node<'_>,
    at: usize,
    touched: &Touched<'_, '_>,
    patches: &mut Vec<Patch>,
    field: &impl Fn(&[Step], Change) -> Patch,
) -> crate::Result<Option<u32>> {
    let in_part = |part: usize, rest: &[Step], change| field(&[&[Step::Key("content"), Step::Index(part)], rest].concat(), change);
    let mut last_text = None;
    for (part, child) in parts.children().enumerate() {
        if let Some(text) = touched.text(part as u32) {
            plain(child, || format!("messages[{at}].content[{part}]"))?;
            let rest: &[Step] = if child.kind() == Kind::String { &[] } else { &[Step::Key("text")] };
            patches.push(in_part(part, rest, Change::Set(Value::Text(text))));
        }
        let is_text = child.get("type").and_then(Node::text) == Some("text");
        if is_text && child.get("text").and_then(Node::text).is_some_and(|text| !text.trim_ascii().is_empty()) {
            last_text = Some((part, child));
        }
    }
    if let Some(block) = touched.block {
        let part = text_part(Value::Text(block.to_owned()), touched.mark);
        patches.push(field(&[Step::Key("content")], Change::Set(Value::Appended(Box::new(part)))));
        return Ok(touched.mark.map(|_| parts.len() as u32));
    }
    let Some((mark, (part, child))) = touched.mark.zip(last_text) else {
        return Ok(None);
    };
    plain(child, || format!("messages[{at}].content[{part}]"))?;
    let (key, value) = mark_of(mark);
    patches.push(in_part(part, &[Step::Key(key)], Change::Set(Value::Json(value))));
    Ok(Some(part as u32))
}

fn text_part(text: Value, mark: Option<&Changes<'_>>) -> Value {
    let mut fields = vec![("type", Value::Text("text".into())), ("text", text)];
    fields.extend(mark.map(mark_of).map(|(key, value)| (key, Value::Json(value))));
    Value::Record(fields)
}
