//! An attempt: the passes shorten what they can, in their order, and everything can be taken back.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::passes;
use super::pending::{PASSES, Pass, Waits};
use super::proposal::Proposal;
use super::state::{InForce, State};
use super::summaries;
use crate::plan::Rule;

/// What the passes did, and what was in force before.
#[derive(Default)]
pub(super) struct Attempt {
    log: Vec<Made>,
}

struct Made {
    entry: usize,
    /// What the edit took the place of.
    before: Option<InForce>,
    /// Tokens that it saves over that.
    saved: u64,
    /// The first call at which it could have been made.
    due: usize,
}

/// Which edits may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Those that are due.
    Due,
    /// All that nothing protects: the window must be fitted.
    Unprotected,
}

/// An edit that an attempt made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saving {
    pub(super) entry: usize,
    pub(super) saved: u64,
    pub(super) due: usize,
}

impl Attempt {
    /// Runs the passes over the entries from this one on, until no more than `target` tokens are left.
    pub(super) fn run(state: &mut State<'_>, from: usize, allowed: Allowed, target: u32) -> Attempt {
        let mut attempt = Attempt::default();
        for pass in PASSES {
            let waiting: Vec<(usize, Waits)> =
                state.pending.from(from).filter(|(_, pending)| pending.passes.contain(pass)).map(|(entry, pending)| (entry, pending.waits)).collect();
            for (entry, waits) in waiting {
                if state.scaled(state.unscaled()) <= target {
                    return attempt;
                }
                attempt.make(state, pass, entry, waits, allowed);
            }
        }
        if allowed == Allowed::Unprotected {
            attempt.summarize(state, from, target);
        }
        attempt
    }

    /// What truncation left becomes a line, where the window must be fitted. It waits for nothing, so none of it is kept waiting.
    fn summarize(&mut self, state: &mut State<'_>, from: usize, target: u32) {
        let protected = state.entries_before(state.protect_from());
        let cut: Vec<usize> =
            state.edits().filter(|(entry, edit)| (from..protected).contains(entry) && edit.rule == Rule::Truncated).map(|(entry, _)| entry).collect();
        for entry in cut {
            if state.scaled(state.unscaled()) <= target {
                return;
            }
            if let Proposal::Edit(edit) = summaries::propose(state, entry) {
                let saved = state.saved;
                let before = state.put(entry, Rc::new(edit));
                self.log.push(Made { entry, before, saved: state.saved - saved, due: state.call });
            }
        }
    }

    fn make(&mut self, state: &mut State<'_>, pass: Pass, entry: usize, waits: Waits, allowed: Allowed) {
        let of_what_was_cut = matches!(pass, Pass::Leftovers | Pass::StaleLeftovers);
        if state.edit_of(entry).map(|edit| edit.rule) != of_what_was_cut.then_some(Rule::Truncated) {
            return;
        }
        let due = passes::due(state, pass, entry, waits);
        if due > state.call && allowed == Allowed::Due {
            return;
        }
        match passes::propose(state, pass, entry) {
            Proposal::Edit(edit) => {
                let saved = state.saved;
                let before = state.put(entry, Rc::new(edit));
                self.log.push(Made { entry, before, saved: state.saved - saved, due: due.min(state.call) });
            }
            Proposal::NotNow => {}
            Proposal::Never => state.give_up(pass, entry),
        }
    }

    /// What each entry's edit saves over what was in force, and since when it was due, from the last entry to the first.
    pub(super) fn savings(&self) -> Vec<Saving> {
        let entries = self.entries();
        let mut savings: Vec<Saving> = entries.iter().rev().map(|entry| Saving { entry: *entry, saved: 0, due: usize::MAX }).collect();
        for made in &self.log {
            let saving = &mut savings[entries.len() - 1 - entries.partition_point(|entry| *entry < made.entry)];
            saving.saved += made.saved;
            saving.due = saving.due.min(made.due);
        }
        savings
    }

    /// Takes everything back that was done before this entry.
    pub(super) fn undo_before(&mut self, state: &mut State<'_>, entry: usize) {
        let (undone, kept): (Vec<Made>, Vec<Made>) = std::mem::take(&mut self.log).into_iter().partition(|made| made.entry < entry);
        self.log = kept;
        undo(state, undone);
    }

    /// Takes everything back.
    pub(super) fn undo(self, state: &mut State<'_>) {
        undo(state, self.log);
    }

    /// Adds what a later attempt did.
    pub(super) fn append(&mut self, mut later: Attempt) {
        self.log.append(&mut later.log);
    }

    /// What is done waits for nothing any more; an original is not collapsed while its copies are.
    pub(super) fn settle(&self, state: &mut State<'_>) {
        for Made { entry, .. } in &self.log {
            state.pending.remove(*entry);
            let Some(edit) = state.edit_of(*entry).cloned() else { continue };
            if edit.rule == Rule::Truncated {
                state.open(*entry);
            }
            let Some(original) = state.original_of(&edit) else { continue };
            PASSES.into_iter().filter(|pass| *pass != Pass::Truncation).for_each(|pass| state.give_up(pass, original));
        }
    }

    /// The entries that got an edit, ascending.
    pub(super) fn entries(&self) -> Vec<usize> {
        let mut entries: Vec<usize> = self.log.iter().map(|made| made.entry).collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// How many of them had an edit before.
    pub(super) fn lowered(&self) -> usize {
        self.lowered_of(|_| true)
    }

    /// The same of some entries.
    pub(super) fn lowered_of(&self, counts: impl Fn(usize) -> bool) -> usize {
        let mut seen = BTreeSet::new();
        self.log.iter().filter(|made| seen.insert(made.entry) && made.before.is_some() && counts(made.entry)).count()
    }
}

fn undo(state: &mut State<'_>, log: Vec<Made>) {
    for Made { entry, before, .. } in log.into_iter().rev() {
        state.take(entry);
        if let Some(InForce { edit, .. }) = before {
            state.put(entry, edit);
        }
    }
}
