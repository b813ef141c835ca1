//! What happens to each message: the changes, gathered by message.

use std::collections::BTreeMap;

use super::Changes;
use super::patch::{Change, Patch, Step, Value};
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
}

/// The messages that something happens to, in their order.
pub(super) fn by_message<'c, 't>(view: &'c View<'t>, changes: &'c Changes<'c>) -> BTreeMap<usize, Touched<'c, 't>> {
    let mut touched: BTreeMap<usize, Touched<'_, '_>> = BTreeMap::new();
    for (entry, edit) in changes.edits {
        let entry = &view.entries[*entry];
        touched.entry(entry.message).or_default().edits.push((entry, edit));
    }
    if let BlockPlace::Append(at) = view.block {
        touched.entry(at).or_default().block = changes.block;
    }
    for &at in changes.marks {
        touched.entry(at).or_default().mark = Some(changes);
    }
    touched
}

/// The context block as a system message of its own, before all others; `part` makes one that says a text, with a mark.
pub(super) fn prepended(view: &View<'_>, changes: &Changes<'_>, part: fn(Value, Option<&Changes<'_>>) -> Value) -> Option<Patch> {
    let block = changes.block.filter(|_| matches!(view.block, BlockPlace::Prepend(_)))?;
    let text = Value::Text(block.to_owned());
    let content = if changes.mark_block { Value::List(vec![part(text, Some(changes))]) } else { text };
    let system = Value::Record(vec![("role", Value::Text("system".into())), ("content", content)]);
    Some(Patch::new(&[&[Step::Index(0)]], Change::Insert(system)))
}

impl Touched<'_, '_> {
    /// The edited text of a part.
    pub(super) fn text(&self, part: u32) -> Option<String> {
        let found = self.edits.binary_search_by_key(&part, |(entry, _)| entry.part).ok()?;
        let (entry, edit) = self.edits.get(found).filter(|(entry, _)| entry.kind == EntryKind::Result)?;
        Some(render::text(entry.text(), &edit.pieces))
    }

    /// Whether its reasoning goes.
    pub(super) fn drops_reasoning(&self) -> bool {
        self.edits.iter().any(|(entry, _)| entry.kind == EntryKind::Reasoning)
    }
}
