//! Folding where it pays: what is due is held against what rewriting the cache from its place on would cost.
//!
//! Most calls end at a glance: what is due is first taken to save all that it holds. Only if a fold might pay then are the edits worked
//! out, and only if it might still, what the model has quoted lately is looked for; each time, no further in front than where it might.

use super::attempt::{Allowed, Attempt};
use super::marks::Readable;
use super::passes;
use super::pending::{PASSES, Pass, Pending};
use super::proposal::Proposal;
use super::state::State;
use super::truncation;
use crate::cache::fold::{Due, Start, starts};

/// Makes every fold that pays.
pub(super) fn fold(state: &mut State<'_>) -> Attempt {
    let mut made = Attempt::default();
    while let Some(attempt) = fold_once(state) {
        attempt.settle(state);
        made.append(attempt);
    }
    made
}

fn fold_once(state: &mut State<'_>) -> Option<Attempt> {
    drop_impossible(state);
    let from = earliest(state, &at_most(state, 0, &Readable::Anywhere, Quoted::Overlooked))?;
    work_out(state, from);
    let readable = state.readable();
    let from = earliest(state, &at_most(state, from, &readable, Quoted::Overlooked))?;
    state.look_for_quotes();
    let from = earliest(state, &at_most(state, from, &readable, Quoted::Kept))?;
    fold_from(state, from, Start::pays)
}

/// Edits stay, so what stands in for nothing whole any more never will: without this, what cannot be done would be looked at for ever.
fn drop_impossible(state: &mut State<'_>) {
    let needs_another = [Pass::Duplicates, Pass::Superseded, Pass::Leftovers];
    let passes_of = |(entry, pending): (usize, &Pending)| {
        let passes = pending.passes;
        needs_another.into_iter().filter(move |pass| passes.contain(*pass)).map(move |pass| (entry, pass))
    };
    let waiting: Vec<(usize, Pass)> = state.pending.from(0).flat_map(passes_of).collect();
    for (entry, pass) in waiting {
        if !passes::is_possible(state, pass, entry) {
            state.give_up(pass, entry);
        }
    }
}

/// Makes the edits that are due from the best start that is accepted, at this entry or behind it.
pub(super) fn fold_from(state: &mut State<'_>, from: usize, accept: impl Fn(&Start) -> bool) -> Option<Attempt> {
    let most = at_most(state, from, &state.readable(), Quoted::Overlooked);
    let mut attempt = Attempt::run(state, from, Allowed::Due, 0);
    let savings = attempt.savings();
    let cached = |entry: usize| most[most.partition_point(|(other, _)| *other > entry)].1.cached;
    let due = savings.iter().map(|saving| Due { saved: saving.saved, calls: (state.call - saving.due) as u64, cached: cached(saving.entry) });
    let due: Vec<Due> = due.collect();
    let accepted = all_starts(state, &due).filter(accept);
    // The latest of equals.
    match accepted.reduce(|best, start| if start.gain > best.gain { start } else { best }) {
        Some(start) => {
            attempt.undo_before(state, savings[start.edits - 1].entry);
            Some(attempt)
        }
        None => {
            attempt.undo(state);
            None
        }
    }
}

/// The first entry from which a fold might pay.
fn earliest(state: &State<'_>, due: &[(usize, Due)]) -> Option<usize> {
    let amounts: Vec<Due> = due.iter().map(|(_, due)| *due).collect();
    let last = all_starts(state, &amounts).filter(Start::pays).last()?;
    Some(due[last.edits - 1].0)
}

fn all_starts(state: &State<'_>, due: &[Due]) -> impl Iterator<Item = Start> {
    starts(due, &state.options.cache, state.expected_calls())
}

/// Whether what the model has quoted or asked for again is looked at: that takes time, and can only keep more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoted {
    /// What is known of it counts, which can only grow.
    Overlooked,
    Kept,
    /// Not even what is known: so a figure does not tell how far anybody has looked.
    Unknown,
}

/// What is due at the most, from the last entry to this one: an edit that is not worked out is taken to save all that it holds.
pub(super) fn at_most(state: &State<'_>, from: usize, readable: &Readable, quoted: Quoted) -> Vec<(usize, Due)> {
    let due = state.pending.from(from).rev().filter_map(|(entry, pending)| {
        let (saved, since) = at_most_of(state, entry, pending, quoted)?;
        let cached = state.cached_behind(readable.before(state.view.entries[entry].message), 0);
        Some((entry, Due { saved, calls: (state.call - since) as u64, cached }))
    });
    due.collect()
}

/// The most that a pass which may shorten the entry now might save, and since when one may.
fn at_most_of(state: &State<'_>, entry: usize, pending: &Pending, quoted: Quoted) -> Option<(u64, usize)> {
    let possible = possible(state, entry, pending, quoted).map(|(pass, since)| {
        let saved = match &pending.cut {
            Some((_, saved)) if pass == Pass::Truncation => *saved,
            _ => state.tokens_of(entry),
        };
        (saved, since)
    });
    possible.reduce(|(most, first), (saved, since)| (most.max(saved), first.min(since)))
}

/// The passes that may shorten an entry now, and since when.
fn possible(state: &State<'_>, entry: usize, pending: &Pending, quoted: Quoted) -> impl Iterator<Item = (Pass, usize)> {
    let held = if quoted == Quoted::Unknown { 0 } else { pending.held.get() };
    let since = move |pass: Pass| match (pass, quoted) {
        (Pass::Truncation, Quoted::Overlooked | Quoted::Unknown) => pending.waits.aged.max(held),
        (Pass::Stale, Quoted::Overlooked | Quoted::Unknown) => pending.waits.aged.max(held).max(state.changed_with(entry)),
        (pass, _) => passes::due(state, pass, entry, pending.waits),
    };
    let waiting = PASSES.into_iter().filter(|pass| pending.passes.contain(*pass)).map(move |pass| (pass, since(pass)));
    waiting.filter(move |(pass, since)| *since <= state.call && passes::is_possible(state, *pass, entry))
}

/// How many entries a pass might lower now: it finds an edit worth making, and what the model has quoted is overlooked.
pub(super) fn worth_lowering(state: &mut State<'_>) -> usize {
    let due = state.pending.from(0).flat_map(|(entry, pending)| possible(state, entry, pending, Quoted::Unknown).map(move |(pass, _)| (entry, pass)));
    let due: Vec<(usize, Pass)> = due.collect();
    let mut worth: Vec<usize> =
        due.into_iter().filter(|(entry, pass)| matches!(passes::propose(state, *pass, *entry), Proposal::Edit(_))).map(|(entry, _)| entry).collect();
    worth.dedup();
    worth.len()
}

/// Works out what truncation makes of what is due from this entry on.
fn work_out(state: &mut State<'_>, from: usize) {
    let is_new = |pending: &Pending| pending.waits.aged <= state.call && pending.cut.is_none() && pending.passes.contain(Pass::Truncation);
    let new: Vec<usize> = state.pending.from(from).filter(|(_, pending)| is_new(pending)).map(|(entry, _)| entry).collect();
    for entry in new {
        if matches!(truncation::propose(state, entry), Proposal::Never) {
            state.give_up(Pass::Truncation, entry);
        }
    }
}
