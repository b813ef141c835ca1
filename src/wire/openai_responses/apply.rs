//! Turns edits, context block and marks into patches of a Responses request: of the instructions, then item by item.

use super::item::{Item, Leaf};
use super::{BLOCK_GAP, SYSTEM};
use crate::history::{BlockPlace, View};
use crate::tape::{Kind, Node};
use crate::wire::patch::{Patch, Step, Value};
use crate::wire::reading::{mark_of, plain, plain_along};
use crate::wire::touched::{self, Touched};
use crate::wire::{Changes, segment};

/// Turns changes into patches; returns them with the part of each item's mark. Neither instructions nor tools can hold a mark here, so
/// none is written for them.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
    let (mut patches, mut places) = (Vec::new(), Vec::new());
    if let (BlockPlace::Apart, Some(block)) = (view.block, changes.block) {
        let text = Value::Text(behind(view.system.and_then(Node::text), block));
        patches.push(Patch::set(&[&[Step::Key(SYSTEM)]], text));
    }
    for (at, touched) in touched::by_message(view, changes) {
        if let Some(patch) = touched.replaced(at, text_part) {
            patches.push(patch);
            places.extend(touched.mark.map(|_| 0));
            continue;
        }
        plain(view.nodes[at], || format!("{}[{at}]", view.list))?;
        let Some(item) = Item::of(view.nodes[at]) else { continue };
        let mut writer = Writer { list: view.list, at, item, patches: &mut patches };
        places.extend(writer.item(&touched)?);
    }
    patches.extend(segment::removed(changes.segments, view));
    patches.extend(touched::prepended(view, changes, text_part));
    Ok((patches, places))
}

struct Writer<'w, 't> {
    list: &'static str,
    /// The item that is written.
    at: usize,
    item: Item<'t>,
    patches: &'w mut Vec<Patch>,
}

impl Writer<'_, '_> {
    /// Patches the item; returns the part that its mark stands in.
    fn item(&mut self, touched: &Touched<'_, '_>) -> crate::Result<Option<u32>> {
        let mark_part = touched.mark.and_then(|_| self.item.mark_part());
        match self.item.content.filter(|content| content.kind() == Kind::Array) {
            Some(parts) => self.parts(parts, touched, mark_part),
            None => Ok(self.whole(touched, mark_part)),
        }
    }

    /// A string, or nothing yet.
    fn whole(&mut self, touched: &Touched<'_, '_>, mark_part: Option<u32>) -> Option<u32> {
        let edited = touched.text(0);
        let text = match touched.block {
            Some(block) => Some(behind(edited.as_deref().or(self.item.content.and_then(Node::text)), block)),
            None => edited,
        };
        let mark = touched.mark.filter(|_| mark_part.is_some() || touched.block.is_some());
        let value = match (mark, text) {
            (None, None) => return None,
            (None, Some(text)) => Value::Text(text),
            (Some(_), text) => Value::List(vec![text_part(text.map_or(Value::Original, Value::Text), mark)]),
        };
        self.set(vec![Step::Key(self.item.content_key())], value);
        mark.map(|_| 0)
    }

    fn parts(&mut self, parts: Node<'_>, touched: &Touched<'_, '_>, mark_part: Option<u32>) -> crate::Result<Option<u32>> {
        let key = Step::Key(self.item.content_key());
        let mark_part = mark_part.filter(|_| touched.block.is_none());
        for (part, leaf) in self.item.leaves() {
            let edited = if matches!(leaf, Leaf::Text(_)) { touched.text(part) } else { None };
            if let Some(text) = edited {
                self.plain_part(part)?;
                self.set(self.item.way_to(part), Value::Text(text));
            }
            if let Some(mark) = touched.mark.filter(|_| mark_part == Some(part)) {
                self.plain_part(part)?;
                let (mark, value) = mark_of(mark);
                self.set(vec![key.clone(), Step::Index(part as usize), Step::Key(mark)], Value::Json(value));
            }
        }
        let Some(block) = touched.block else { return Ok(mark_part) };
        let part = text_part(Value::Text(block.to_owned()), touched.mark);
        self.set(vec![key], Value::Appended(Box::new(part)));
        Ok(touched.mark.map(|_| parts.len() as u32))
    }

    /// Nothing on the way to a part is an instance of a class.
    fn plain_part(&self, part: u32) -> crate::Result<()> {
        plain_along(self.item.node, &self.item.way_to(part), format!("{}[{}]", self.list, self.at))
    }

    fn set(&mut self, way: Vec<Step>, value: Value) {
        self.patches.push(Patch::set(&[&[Step::Index(self.at)], &way], value));
    }
}

/// A text with the context block behind it.
fn behind(text: Option<&str>, block: &str) -> String {
    text.filter(|text| !text.is_empty()).map_or(block.to_owned(), |text| format!("{text}{BLOCK_GAP}{block}"))
}

fn text_part(text: Value, mark: Option<&Changes<'_>>) -> Value {
    let mut fields = vec![("type", Value::Text("input_text".into())), ("text", text)];
    fields.extend(mark.map(mark_of).map(|(key, value)| (key, Value::Json(value))));
    Value::Record(fields)
}
