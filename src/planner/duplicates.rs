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
use crate::history::prints::Prints;
use crate::plan::Rule;
use crate::tape;
use rustc_hash::FxHashMap;

/// Which results are alike. Texts are hashed only where tool and length agree.
pub(super) struct Copies<'v, 't> {
    prints: Prints<'v, 't>,
    /// The first result by tool and length.
    first: FxHashMap<u64, usize>,
    /// Results by tool and fingerprint.
    alike: FxHashMap<u64, Vec<usize>>,
}

impl<'v, 't> Copies<'v, 't> {
    pub(super) fn new(view: &'v View<'t>) -> Self {
        Copies { prints: Prints::new(view), first: FxHashMap::default(), alike: FxHashMap::default() }
    }

    /// A result came.
    pub(super) fn add(&mut self, view: &View<'t>, entry: usize) {
        let found = &view.entries[entry];
        let tool = view.tool_of(found).unwrap_or("").as_bytes();
        let first = *self.first.entry(tape::key(&[tool, &found.size.bytes.to_le_bytes()])).or_insert(entry);
        if first == entry {
            return;
        }
        for one in [first, entry] {
            if self.prints.known(one).is_none() {
                let print = self.prints.of(one);
                self.alike.entry(tape::key(&[tool, &print.to_le_bytes()])).or_default().push(one);
            }
        }
    }

    /// Whether an earlier result says the same.
    pub(super) fn has_earlier(&self, view: &View<'t>, entry: usize) -> bool {
        self.group(view, entry).first().is_some_and(|first| *first < entry)
    }

    fn group(&self, view: &View<'t>, entry: usize) -> &[usize] {
        let tool = view.tool_of(&view.entries[entry]).unwrap_or("").as_bytes();
        let key = self.prints.known(entry).map(|print| tape::key(&[tool, &print.to_le_bytes()]));
        key.and_then(|key| self.alike.get(&key)).map_or(&[], Vec::as_slice)
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
