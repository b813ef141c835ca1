//! What happens to each message: the changes, gathered by message.

use std::collections::BTreeMap;

use super::patch::{Change, Patch, Step, Value};
use super::{Changes, segment};
use crate::history::{BlockPlace, Entry, EntryKind, View};
use crate::plan::Edit;
use crate::render;

/// What happens to one message.
#[derive(Default)]
pub(super) struct Touched<'c, 't> {
    edits: Vec<(&'c Entry<'t>, &'c Edit)>,
    /// The context block that goes to its end.
    pub(super) block: Option<&'c str>,
    /// How its mark is written, if it gets one.
    pub(super) mark: Option<&'c Changes<'c>>,
    /// What the message says that stands for a segment, in place of its first.
    pub(super) segment: Option<&'c str>,
    /// Its parts that answer calls of a segment.
    gone: Vec<u32>,
}

/// Makes a part that says a text, with a mark.
type ToPart = fn(Value, Option<&Changes<'_>>) -> Value;

/// The messages that something happens to, in their order.
pub(super) fn by_message<'c, 't>(view: &'c View<'t>, changes: &'c Changes<'c>) -> BTreeMap<usize, Touched<'c, 't>> {
    let mut touched: BTreeMap<usize, Touched<'_, '_>> = BTreeMap::new();
    let within = |message: usize| segment::of(changes.segments, message);
    for (entry, edit) in changes.edits {
        let entry = &view.entries[*entry];
        let call = entry.tool_call.map(|call| view.tool_calls[call].message);
        if within(entry.message).or(call.and_then(within)).is_some() {
            continue; // it is not sent
        }
        touched.entry(entry.message).or_default().edits.push((entry, edit));
    }
    if let BlockPlace::Append(at) = view.block {
        touched.entry(at).or_default().block = changes.block;
    }
    for &at in changes.marks {
        if within(at).is_none_or(|segment| segment.messages.start == at) {
            touched.entry(at).or_default().mark = Some(changes);
        }
    }
    for segment in changes.segments.iter().filter(|segment| !segment.messages.is_empty() && segment.messages.start < view.messages.len()) {
        touched.entry(segment.messages.start).or_default().segment = Some(segment.text);
        let gone = segment::answers_behind(segment, view);
        if !gone.is_empty() {
            touched.entry(segment.messages.end).or_default().gone = gone;
        }
    }
    touched
}

/// The context block as a system message of its own, before all others.
pub(super) fn prepended(view: &View<'_>, changes: &Changes<'_>, part: ToPart) -> Option<Patch> {
    let block = changes.block.filter(|_| matches!(view.block, BlockPlace::Prepend(_)))?;
    let system = said("system", block, changes.mark_block.then_some(changes), part);
    Some(Patch::new(&[&[Step::Index(0)]], Change::Insert(system)))
}

/// A message that says a text, which is a part where it has a mark.
fn said(role: &str, text: &str, mark: Option<&Changes<'_>>, part: ToPart) -> Value {
    let text = Value::Text(text.to_owned());
    let content = if mark.is_some() { Value::List(vec![part(text, mark)]) } else { text };
    Value::Record(vec![("role", Value::Text(role.to_owned())), ("content", content)])
}

impl Touched<'_, '_> {
    /// The edited text of a part.
    pub(super) fn text(&self, part: u32) -> Option<String> {
        let found = self.edits.binary_search_by_key(&part, |(entry, _)| entry.part).ok()?;
        let (entry, edit) = self.edits.get(found).filter(|(entry, _)| entry.kind == EntryKind::Result)?;
        Some(render::text(entry.text(), &edit.pieces))
    }

    /// The message that stands for a segment, in the place of this one; a mark stands in its part 0.
    pub(super) fn replaced(&self, at: usize, part: ToPart) -> Option<Patch> {
        Some(Patch::set(&[&[Step::Index(at)]], said("user", self.segment?, self.mark, part)))
    }

    /// Whether a part answers a call of a segment, and goes with it.
    pub(super) fn is_gone(&self, part: usize) -> bool {
        self.gone.contains(&(part as u32))
    }

    /// Whether its reasoning goes.
    pub(super) fn drops_reasoning(&self) -> bool {
        self.edits.iter().any(|(entry, _)| entry.kind == EntryKind::Reasoning)
    }
}
