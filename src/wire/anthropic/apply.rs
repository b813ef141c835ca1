//! Turns edits, context block and marks into patches of an Anthropic request: first of the system prompt, then message by message.

use super::{BLOCK_GAP, Leaf, holds_mark, is_sent, kind_of, leaves};
use crate::history::{BlockPlace, Front, View};
use crate::tape::{Kind, Node};
use crate::wire::patch::{Change, Patch, Step, Value};
use crate::wire::reading::{cache_control, marks_on, plain, plain_along};
use crate::wire::touched::{self, Touched};
use crate::wire::{Changes, segment};

/// Turns changes into patches; returns them with the block of each message's mark.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> crate::Result<(Vec<Patch>, Vec<u32>)> {
    let mut writer = Writer { changes, patches: Vec::new(), at: 0 };
    writer.before(view)?;
    let mut places = Vec::new();
    for (at, touched) in touched::by_message(view, changes) {
        if let Some(patch) = touched.replaced(at, text_block) {
            writer.patches.push(patch);
            places.extend(touched.mark.map(|_| 0));
            continue;
        }
        writer.at = at;
        places.extend(writer.message(view.nodes[at], &touched)?);
    }
    writer.patches.extend(segment::removed(changes.segments, view));
    Ok((writer.patches, places))
}

struct Writer<'c> {
    changes: &'c Changes<'c>,
    patches: Vec<Patch>,
    /// The message that is written.
    at: usize,
}

impl Writer<'_> {
    /// The system prompt; or, where it says nothing that a mark could stand on, the tools.
    fn before(&mut self, view: &View<'_>) -> crate::Result<()> {
        let block = self.changes.block.filter(|_| view.block == BlockPlace::Apart);
        if block.is_some() || view.front == Some(Front::System) {
            self.system(view, block)?;
        }
        if view.front == Some(Front::Tools) {
            self.mark_last("tools", view.tools, is_sent)?;
        }
        Ok(())
    }

    fn system(&mut self, view: &View<'_>, block: Option<&str>) -> crate::Result<()> {
        let mark = (self.changes.mark_system && view.front == Some(Front::System)).then_some(self.changes);
        let list = view.system.filter(|system| system.kind() == Kind::Array);
        let value = match (list, block) {
            (Some(_), None) => return self.mark_last("system", list, holds_mark),
            (Some(_), Some(block)) => Value::Appended(Box::new(text_block(Value::Text(block.to_owned()), mark))),
            (None, None) if mark.is_none() => return Ok(()),
            (None, block) => {
                let text = match (view.system.and_then(Node::text).filter(|text| !text.is_empty()), block) {
                    (_, None) => Value::Original,
                    (None, Some(block)) => Value::Text(block.to_owned()),
                    (Some(text), Some(block)) => Value::Text(format!("{text}{BLOCK_GAP}{block}")),
                };
                if mark.is_some() { Value::List(vec![text_block(text, mark)]) } else { text }
            }
        };
        self.patches.push(Patch::set(&[&[Step::Key("system")]], value));
        Ok(())
    }

    /// Marks the last item of a field of the request that can hold a mark, unless the caller has.
    fn mark_last(&mut self, field: &'static str, items: Option<Node<'_>>, can_hold: impl Fn(Node<'_>) -> bool) -> crate::Result<()> {
        let items = items.filter(|_| self.changes.mark_system).into_iter().flat_map(Node::children).enumerate();
        let Some((index, item)) = items.filter(|(_, item)| can_hold(*item)).last() else { return Ok(()) };
        plain(item, || format!("{field}[{index}]"))?;
        if marks_on(item).next().is_none() {
            let (key, value) = cache_control(self.changes.hour);
            self.patches.push(Patch::set(&[&[Step::Key(field), Step::Index(index), Step::Key(key)]], Value::Json(value)));
        }
        Ok(())
    }

    /// Patches one message; returns the block that its mark stands on, in what is returned.
    fn message(&mut self, node: Node<'_>, touched: &Touched<'_, '_>) -> crate::Result<Option<u32>> {
        let at = self.at;
        plain(node, || format!("messages[{at}]"))?;
        let Some(content) = node.get("content") else { return Ok(None) };
        if content.kind() == Kind::String {
            if touched.mark.is_some() {
                self.push(&[], Change::Set(Value::List(vec![text_block(Value::Original, Some(self.changes))])));
            }
            return Ok(touched.mark.is_some().then_some(0));
        }
        let can_be_marked = |(part, block): &(usize, Node<'_>)| touched.mark.is_some() && holds_mark(*block) && !touched.is_gone(*part);
        let marked = content.children().enumerate().filter(can_be_marked).last().map(|(part, _)| part);
        let mut further = content.len() as u32;
        for (part, block) in content.children().enumerate() {
            if kind_of(block) == "tool_result" {
                self.result(part, block, touched, &mut further)?;
            }
            if marked == Some(part) {
                plain(block, || format!("messages[{at}].content[{part}]"))?;
                let (key, value) = cache_control(self.changes.hour);
                self.push(&[&[Step::Index(part), Step::Key(key)]], Change::Set(Value::Json(value)));
            }
        }
        let drops = touched.drops_reasoning();
        let is_thinking = |block: Node<'_>| matches!(kind_of(block), "thinking" | "redacted_thinking");
        let goes = |(part, block): &(usize, Node<'_>)| (drops && is_thinking(*block)) || touched.is_gone(*part);
        let removed: Vec<usize> = content.children().enumerate().filter(goes).map(|(part, _)| part).collect();
        // The last first, so that no index has moved when its turn comes.
        removed.iter().rev().for_each(|part| self.push(&[&[Step::Index(*part)]], Change::Remove));
        Ok(marked.map(|marked| (marked - removed.iter().filter(|part| **part < marked).count()) as u32))
    }

    /// The edited texts of a result; `further` is the part of the next text that is not the first of its result.
    fn result(&mut self, part: usize, block: Node<'_>, touched: &Touched<'_, '_>, further: &mut u32) -> crate::Result<()> {
        let mut is_first = true;
        let mut found = Vec::new();
        leaves(block, &mut |path, leaf| {
            let Leaf::Text(_) = leaf else { return };
            let part = if is_first { part as u32 } else { *further };
            *further += u32::from(!is_first);
            is_first = false;
            if let Some(text) = touched.text(part) {
                found.push((path.to_vec(), text));
            }
        });
        for (path, text) in found {
            plain_along(block, &path, format!("messages[{}].content[{part}]", self.at))?;
            self.push(&[&[Step::Index(part)], &path], Change::Set(Value::Text(text)));
        }
        Ok(())
    }

    fn push(&mut self, rest: &[&[Step]], change: Change) {
        self.patches.push(Patch::new(&[&[Step::Index(self.at), Step::Key("content")], &rest.concat()], change));
    }
}

fn text_block(text: Value, mark: Option<&Changes<'_>>) -> Value {
    let mut fields = vec![("type", Value::Text("text".into())), ("text", text)];
    fields.extend(mark.map(|changes| cache_control(changes.hour)).map(|(key, value)| (key, Value::Json(value))));
    Value::Record(fields)
}
