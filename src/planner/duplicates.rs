//! Pass 1: a result that says what an earlier result of the same tool says becomes one line. The first copy stays.
//!
//! ```text
//! tool read a.rs  "fn main() {…}"          tool read a.rs  "fn main() {…}"
//! …                                   →    …
//! tool read a.rs  "fn main() {…}"          tool read a.rs  "[warmfold: 80 of 80 lines elided … returned the same …]"
//! ```
//!
//! An early edit would cost the cached prefix, so the later copy gives way; and its line names no place, since places drift.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::history::View;
use crate::plan::Rule;
use rustc_hash::FxHashMap;

/// Which results are alike. Texts are hashed only where tool and length agree.
#[derive(Default)]
pub(super) struct Copies<'t> {
    first: FxHashMap<(&'t str, u32), usize>,
    alike: FxHashMap<(&'t str, u64), Vec<usize>>,
    /// Fingerprints of the entries that have been hashed.
    prints: FxHashMap<usize, u64>,
}

impl<'t> Copies<'t> {
    /// A result came.
    pub(super) fn add(&mut self, view: &View<'t>, entry: usize) {
        let found = &view.entries[entry];
        let tool = view.tool_of(found).unwrap_or("");
        let first = *self.first.entry((tool, found.size.bytes)).or_insert(entry);
        if first == entry {
            return;
        }
        for one in [first, entry] {
            if self.prints.contains_key(&one) {
                continue;
            }
            let print = view.entries[one].fingerprint();
            self.prints.insert(one, print);
            self.alike.entry((tool, print)).or_default().push(one);
        }
    }

    /// Whether an earlier result says the same.
    pub(super) fn has_earlier(&self, view: &View<'t>, entry: usize) -> bool {
        self.group(view, entry).first().is_some_and(|first| *first < entry)
    }

    fn group(&self, view: &View<'t>, entry: usize) -> &[usize] {
        let tool = view.tool_of(&view.entries[entry]).unwrap_or("");
        self.prints.get(&entry).and_then(|print| self.alike.get(&(tool, *print))).map_or(&[], Vec::as_slice)
    }
}

/// How many copies are looked at for one that is whole: edited ones come in runs, and a run this long is no history.
const COPIES: usize = 64;

pub(super) fn propose(state: &State<'_, '_>, entry: usize) -> Proposal {
    if state.is_target(entry) {
        return Proposal::NotNow;
    }
    let earlier = state.copies.group(state.view, entry).iter().copied().take_while(|copy| *copy < entry);
    let Some(first) = earlier.take(COPIES).find(|copy| !state.is_edited(*copy)) else {
        return Proposal::NotNow;
    };
    let line = proposal::breadcrumb(state, entry).duplicate(&proposal::all_of(state, entry), proposal::label(state, entry).as_deref());
    proposal::edit(state, entry, Rule::Duplicate, vec![line.into()], Some(first))
}
