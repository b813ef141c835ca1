//! Matches a carried plan to the history that is there now.
//!
//! An edit applies where address, tool and fingerprint hold. Where the history has shifted it applies where tool and fingerprint hold
//! and the order of the edits is kept. Else it is dropped and reported, so that nothing lands on the wrong text. An edit that points
//! at another entry is dropped when that entry is gone or no longer on its side. A segment applies where the same messages stand, in
//! the same order of segments.

use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;

use super::{Edit, Piece, Plan, Rule, Segment, SegmentRule, Standing, Target};
use crate::history::prints::Prints;
use crate::history::{Content, Entry, EntryKind, View};
use crate::tape::from_hex;

/// How many entries with the same content are looked at: enough for real histories, and linear in made-up ones.
const NEIGHBOURS: usize = 16;

/// What became of a carried plan.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// The edits and segments that hold.
    pub standing: Standing,
    /// How many edits and segments were dropped.
    pub dropped: usize,
    /// How many were found at another address.
    pub moved: usize,
    /// The first message of the history at which one was dropped or moved.
    pub changed_from: Option<usize>,
}

/// Finds each edit's entry: first those that lie where they lay, then, between them, those that moved.
pub fn carry(view: &View<'_>, plan: &Plan) -> Carried {
    let mut carried = Carried::default();
    let mut search = Search::new(view);
    let standing = standing(&mut search, plan);
    let mut bounds = vec![view.entries.len(); plan.edits.len()]; // for each edit, where the next one that stands lies
    for at in (1..bounds.len()).rev() {
        bounds[at - 1] = standing[at].unwrap_or(bounds[at]);
    }
    let mut next = 0; // entries before this one are taken
    for (at, edit) in plan.edits.iter().enumerate() {
        let found = standing[at].or_else(|| search.between(next, bounds[at], edit));
        let from = found.map_or(edit.message, |entry| view.entries[entry].message.min(edit.message));
        match found {
            Some(entry) => {
                next = entry + 1;
                carried.standing.edits.push((entry, search.placed(entry, edit)));
                if standing[at].is_some() {
                    continue;
                }
                carried.moved += 1;
            }
            None => carried.dropped += 1,
        }
        carried.changes(from);
    }
    segments(view, plan, &mut carried);
    carried
}

impl Carried {
    fn changes(&mut self, from: usize) {
        self.changed_from = Some(self.changed_from.map_or(from, |earlier| earlier.min(from)));
    }
}

/// Finds each segment's messages: where they lay, else behind those of the segment before.
fn segments(view: &View<'_>, plan: &Plan, carried: &mut Carried) {
    let length = view.messages.len();
    let mut next = 0; // messages before this one are taken
    let mut all = None;
    for segment in &plan.segments {
        let Some(print) = from_hex(&segment.fingerprint).filter(|_| segment.from < segment.to) else {
            carried.dropped += 1;
            carried.changes(segment.from.min(length));
            continue;
        };
        let (here, run) = (segment.messages(), segment.to - segment.from);
        let lies = here.start >= next && here.end <= length && Prints::of(view, here.clone()).run(here) == print;
        let may_go = |messages: Range<usize>| match segment.rule {
            SegmentRule::Digest => view.is_whole(messages),
            SegmentRule::Evicted => view.is_closed(messages),
        };
        let found = if lies && may_go(segment.messages()) {
            Some(segment.from)
        } else {
            let all = all.get_or_insert_with(|| Prints::of(view, 0..length));
            (next..(length + 1).saturating_sub(run)).find(|&from| all.run(from..from + run) == print && may_go(from..from + run))
        };
        match found {
            Some(from) if from == segment.from => carried.standing.segments.push(segment.clone()),
            Some(from) => {
                carried.moved += 1;
                carried.changes(from.min(segment.from));
                carried.standing.segments.push(Rc::new(Segment { from, to: from + run, ..(**segment).clone() }));
            }
            None => {
                carried.dropped += 1;
                carried.changes(segment.from.min(length));
            }
        }
        next = found.map_or(next, |from| from + run);
    }
}

/// For each edit, its entry, if that lies where it lay.
fn standing(search: &mut Search<'_, '_>, plan: &Plan) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut stands = |edit: &Edit| {
        let entry = search.view.entry_at(edit.message, edit.part).filter(|entry| *entry >= next && search.matches(*entry, edit))?;
        search.target_stands(entry, edit).then(|| next = entry + 1).map(|()| entry)
    };
    plan.edits.iter().map(|edit| stands(edit)).collect()
}

/// Looks for entries by their content; indexes all of them only when something has shifted.
struct Search<'v, 't> {
    view: &'v View<'t>,
    index: Option<FxHashMap<u64, Vec<usize>>>,
}

impl<'v, 't> Search<'v, 't> {
    fn new(view: &'v View<'t>) -> Self {
        Search { view, index: None }
    }

    fn has_print(&self, entry: usize, fingerprint: &str) -> bool {
        from_hex(fingerprint) == Some(self.view.entries[entry].fingerprint())
    }

    fn matches(&self, entry: usize, edit: &Edit) -> bool {
        let found = &self.view.entries[entry];
        self.view.tool_of(found) == edit.tool.as_deref() && fits(self.view, found, edit) && self.has_print(entry, &edit.fingerprint)
    }

    /// The entries with this content.
    fn places(&mut self, fingerprint: &str) -> &[usize] {
        let view = self.view;
        let index = self.index.get_or_insert_with(|| {
            let mut index: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
            for entry in (0..view.entries.len()).filter(|entry| view.entries[*entry].kind != EntryKind::Text) {
                index.entry(view.entries[entry].fingerprint()).or_default().push(entry);
            }
            index
        });
        from_hex(fingerprint).and_then(|print| index.get(&print)).map_or(&[], Vec::as_slice)
    }

    /// The first entry of this range that the edit fits.
    fn between(&mut self, from: usize, to: usize, edit: &Edit) -> Option<usize> {
        let view = self.view;
        let places = self.places(&edit.fingerprint);
        let first = places.partition_point(|&entry| entry < from);
        let near: Vec<usize> = places[first..].iter().copied().take_while(|entry| *entry < to).take(NEIGHBOURS).collect();
        let fitting = |place: &usize| view.tool_of(&view.entries[*place]) == edit.tool.as_deref() && fits(view, &view.entries[*place], edit);
        near.into_iter().filter(fitting).find(|place| self.target_stands(*place, edit))
    }

    fn target(&mut self, entry: usize, edit: &Edit) -> Option<usize> {
        let target = edit.target.as_ref()?;
        let (view, before) = (self.view, edit.rule == Rule::Duplicate);
        let on_its_side = move |found: usize| match edit.rule {
            Rule::Duplicate => found < entry,
            Rule::Stale => view.asked_after(found, entry), // of the results of one batch the order means nothing
            _ => found > entry,
        };
        let here = view.entry_at(target.message, target.part).filter(|&found| on_its_side(found));
        if let Some(found) = here.filter(|&found| self.has_print(found, &target.fingerprint)) {
            return Some(found);
        }
        let places = self.places(&target.fingerprint);
        let found = if before { places.first() } else { places.last() };
        found.copied().filter(|&found| on_its_side(found))
    }

    fn target_stands(&mut self, entry: usize, edit: &Edit) -> bool {
        edit.target.is_none() || self.target(entry, edit).is_some()
    }

    /// The edit, with the addresses that it and its target have now.
    fn placed(&mut self, entry: usize, edit: &Rc<Edit>) -> Rc<Edit> {
        let Entry { message, part, .. } = self.view.entries[entry];
        let target = self.target(entry, edit).map(|target| &self.view.entries[target]);
        let target_address = target.map(|target| (target.message, target.part));
        let known = edit.target.as_ref().map(|target| (target.message, target.part));
        if (edit.message, edit.part, known) == (message, part, target_address) {
            return edit.clone();
        }
        let target = edit.target.clone().zip(target_address).map(|(target, (message, part))| Target { message, part, ..target });
        Rc::new(Edit { message, part, target, ..(**edit).clone() })
    }
}

/// Whether the edit's pieces can be cut from the entry at all.
fn fits(view: &View<'_>, entry: &Entry<'_>, edit: &Edit) -> bool {
    match (&entry.content, entry.kind) {
        (Content::Text(text), EntryKind::Result) => {
            edit.rule != Rule::Reasoning
                && edit.pieces.iter().all(|piece| match *piece {
                    Piece::Span(from, to) => text.get(from as usize..to as usize).is_some(),
                    Piece::Text(_) => true,
                })
        }
        (_, EntryKind::Reasoning) => edit.rule == Rule::Reasoning && edit.pieces.is_empty() && !view.needs_back(entry),
        _ => false,
    }
}
