//! Turns edits, context block and marks into patches of model messages.

use super::read::last_tool;
use super::{BLOCK_GAP, is_json, items, kind_of, marks, text_of};
use crate::history::{BlockPlace, View};
use crate::options::Marks;
use crate::tape::{Kind, Node};
use crate::wire::patch::{Change, Patch, Step, Value};
use crate::wire::reading::plain;
use crate::wire::touched::{self, Touched};
use crate::wire::{Changes, segment};

/// Turns changes into patches, in the order of the messages; those of what stands before them come first.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
    let (mut patches, mut places) = (Vec::new(), Vec::new());
    before(view, changes, &mut patches)?;
    for (at, touched) in touched::by_message(view, changes) {
        if let Some(text) = touched.segment {
            patches.push(Patch::set(&[&[Step::Index(at)]], said("user", text, touched.mark.is_some(), changes)));
            places.extend(touched.mark.map(|_| 0));
            continue;
        }
        places.extend(message(view.nodes[at], at, &touched, changes, &mut patches)?);
    }
    patches.extend(segment::removed(changes.segments, view));
    if let (BlockPlace::Prepend(_), Some(block)) = (view.block, changes.block) {
        let system = said("system", block, changes.mark_block, changes);
        patches.push(Patch::new(&[&[Step::Index(0)]], Change::Insert(system)));
    }
    Ok((patches, places))
}

/// A message that says a text.
fn said(role: &str, text: &str, is_marked: bool, changes: &Changes<'_>) -> Value {
    let options = is_marked.then(|| ("providerOptions", Value::Json(marks::options(changes))));
    let text = Value::Text(text.to_owned());
    // OpenAI's provider reads the options of parts.
    let in_part = options.is_some() && changes.dialect == Marks::Openai && role != "system";
    let (in_part, on_message) = if in_part { (options, None) } else { (None, options) };
    let content = match in_part {
        Some(options) => Value::List(vec![Value::Record(vec![("type", Value::Text("text".into())), ("text", text), options])]),
        None => text,
    };
    Value::Record([("role", Value::Text(role.to_owned())), ("content", content)].into_iter().chain(on_message).collect())
}

/// The system prompt that stands apart: a text, a system message, or several of which the last one counts; without one, the last of the
/// tools, where they are a list.
fn before(view: &View<'_>, changes: &Changes<'_>, patches: &mut Vec<Patch>) -> crate::Result<()> {
    let block = changes.block.filter(|_| view.block == BlockPlace::Apart);
    let Some(system) = view.system else {
        if let Some((at, tool)) = last_tool(view).filter(|(_, tool)| changes.mark_system && marks::mark_on(*tool).is_none()) {
            patches.push(marks::write(tool, &[&[Step::Key("tools"), Step::Index(at)]], changes, &|| format!("tools[{at}]"))?);
        }
        return Ok(());
    };
    if let Some(text) = system.text() {
        let text = block.map_or(Value::Original, |block| Value::Text(with_block(text, block)));
        let value = match changes.mark_system {
            true => Value::Record(vec![
                ("role", Value::Text("system".into())),
                ("content", text),
                ("providerOptions", Value::Json(marks::options(changes))),
            ]),
            false if block.is_some() => text,
            false => return Ok(()),
        };
        patches.push(Patch::set(&[&[Step::Key("system")]], value));
        return Ok(());
    }
    let (mut path, mut last) = (vec![Step::Key("system")], Some(system));
    if system.kind() == Kind::Array {
        let item = system.children().enumerate().last();
        path.extend(item.map(|(at, _)| Step::Index(at)));
        last = item.map(|(_, item)| item);
    }
    let Some(message) = last.filter(|message| message.kind() == Kind::Object) else { return Ok(()) };
    plain(message, || "system".to_owned())?;
    if let Some(block) = block {
        let text = with_block(message.get("content").and_then(Node::text).unwrap_or(""), block);
        patches.push(Patch::set(&[&path, &[Step::Key("content")]], Value::Text(text)));
    }
    if changes.mark_system && marks::mark_on(message).is_none() {
        patches.push(marks::write(message, &[&path], changes, &|| "system".to_owned())?);
    }
    Ok(())
}

fn with_block(text: &str, block: &str) -> String {
    if text.is_empty() { block.to_owned() } else { format!("{text}{BLOCK_GAP}{block}") }
}

/// Patches one message; returns the part that its mark stands in.
fn message(node: Node<'_>, at: usize, touched: &Touched<'_, '_>, changes: &Changes<'_>, patches: &mut Vec<Patch>) -> crate::Result<Option<u32>> {
    let shown = || format!("messages[{at}]");
    plain(node, shown)?;
    let content = node.get("content");
    let role = node.get("role").and_then(Node::text).unwrap_or("");
    if let Some(parts) = content.filter(|content| content.kind() == Kind::Array) {
        return in_parts(parts, at, role, touched, changes, patches);
    }
    let path = [Step::Index(at), Step::Key("content")];
    let text = content.and_then(Node::text).unwrap_or("");
    if let Some(block) = touched.block {
        patches.push(Patch::set(&[&path], Value::Text(with_block(text, block))));
    }
    if touched.mark.is_none() {
        return Ok(None);
    }
    if changes.dialect == Marks::Openai && role != "system" {
        // OpenAI's provider reads the options of parts.
        let part = vec![("type", Value::Text("text".into())), ("text", Value::Original), ("providerOptions", Value::Json(marks::options(changes)))];
        patches.push(Patch::set(&[&path], Value::List(vec![Value::Record(part)])));
    } else {
        patches.push(marks::write(node, &[&[Step::Index(at)]], changes, &shown)?);
    }
    Ok(Some(0))
}

/// Patches the parts of a message; returns the part that its mark stands in, in what is returned.
fn in_parts(
    parts: Node<'_>,
    at: usize,
    role: &str,
    touched: &Touched<'_, '_>,
    changes: &Changes<'_>,
    patches: &mut Vec<Patch>,
) -> crate::Result<Option<u32>> {
    let place = if touched.mark.is_some() { marks::place(parts, changes.dialect, role) } else { None };
    let content = [Step::Index(at), Step::Key("content")];
    let mut further = parts.len() as u32;
    for (index, part) in parts.children().enumerate() {
        let path = [Step::Index(at), Step::Key("content"), Step::Index(index)];
        let shown = || format!("messages[{at}].content[{index}]");
        match items(part) {
            None => {
                if let Some(text) = touched.text(index as u32) {
                    output(part, text, &path, &shown, patches)?;
                }
            }
            Some(items) => {
                let texts = items.children().enumerate().filter(|(_, item)| text_of(*item).is_some());
                for (nth, (item, node)) in texts.enumerate() {
                    let number = if nth == 0 { index as u32 } else { further };
                    further += u32::from(nth > 0);
                    let Some(text) = touched.text(number) else { continue };
                    for (node, inside) in [(Some(part), ""), (part.get("output"), ".output"), (Some(node), ".output.value[]")] {
                        node.map_or(Ok(()), |node| plain(node, || format!("{}{inside}", shown())))?;
                    }
                    let rest = [Step::Key("output"), Step::Key("value"), Step::Index(item), Step::Key("text")];
                    patches.push(Patch::set(&[&path, &rest], Value::Text(text)));
                }
            }
        }
        if let Some((_, item)) = place.filter(|(place, _)| *place == index) {
            let inner = item.map(|item| [Step::Key("output"), Step::Key("value"), Step::Index(item)]);
            let node = items(part).zip(item).and_then(|(items, item)| items.children().nth(item)).unwrap_or(part);
            patches.push(marks::write(node, &[&path, inner.as_ref().map_or(&[], |inner| &inner[..])], changes, &shown)?);
        }
    }
    let drops = touched.drops_reasoning();
    let is_gone = |(_, part): &(usize, Node<'_>)| drops && kind_of(*part) == "reasoning";
    let gone: Vec<usize> = parts.children().enumerate().filter(is_gone).map(|(index, _)| index).collect();
    // The last first, so that no index has moved when its turn comes.
    patches.extend(gone.iter().rev().map(|index| Patch::new(&[&content, &[Step::Index(*index)]], Change::Remove)));
    Ok(place.map(|(place, _)| (place - gone.iter().filter(|index| **index < place).count()) as u32))
}

/// Patches what a tool gave: only the text, or the text in place of the value.
fn output(part: Node<'_>, text: String, path: &[Step], shown: &impl Fn() -> String, patches: &mut Vec<Patch>) -> crate::Result<()> {
    let Some(output) = part.get("output") else { return Ok(()) };
    plain(part, shown)?;
    plain(output, || format!("{}.output", shown()))?;
    let mut set = |key, text: String| {
        patches.push(Patch::set(&[path, &[Step::Key("output"), Step::Key(key)]], Value::Text(text)));
    };
    if is_json(output) {
        set("type", kind_of(output).replace("json", "text"));
    }
    set("value", text);
    Ok(())
}
