//! Folding where it pays: what is due is held against what rewriting the cache from its place on would cost.
//!
//! Most calls end at a glance: what is due is first taken to save all that it holds. Only if a fold might pay then are the edits worked
//! out, and only if it might still, what the model has quoted lately is looked for.

use super::attempt::{Allowed, Attempt};
use super::marks::Readable;
use super::pending::{Pass, Pending};
use super::proposal::Proposal;
use super::state::{Call, State};
use super::truncation;
use crate::cache::fold::{Due, Start, starts};

/// Makes every fold that pays.
pub(super) fn fold(state: &mut State<'_, '_>, call: Call) -> Attempt {
    let mut made = Attempt::default();
    while let Some(attempt) = fold_once(state, call) {
        attempt.settle(state);
        made.append(attempt);
    }
    made
}

fn fold_once(state: &mut State<'_, '_>, call: Call) -> Option<Attempt> {
    best(state, &at_most(state, call, &Readable::Anywhere), Start::pays)?;
    work_out(state);
    best(state, &at_most(state, call, &state.readable()), Start::pays)?;
    look_for_quotes(state);
    fold_from(state, call, Start::pays)
}

/// Makes the edits that are due from the best start that is accepted.
pub(super) fn fold_from(state: &mut State<'_, '_>, call: Call, accept: impl Fn(&Start) -> bool) -> Option<Attempt> {
    let most = at_most(state, call, &state.readable());
    let mut attempt = Attempt::run(state, Allowed::Due, 0);
    let savings = attempt.savings();
    let cached = |entry: usize| most[most.partition_point(|(other, _)| *other > entry)].1.cached;
    let exact: Vec<(usize, Due)> = savings
        .iter()
        .map(|saving| (saving.entry, Due { saved: saving.saved, calls: (state.call - saving.due) as u64, cached: cached(saving.entry) }))
        .collect();
    match best(state, &exact, accept) {
        Some(start) => {
            attempt.undo_before(state, exact[start.edits - 1].0);
            Some(attempt)
        }
        None => {
            attempt.undo(state);
            None
        }
    }
}

/// The place that earns most, among those that are accepted; the latest of equals.
fn best(state: &State<'_, '_>, due: &[(usize, Due)], accept: impl Fn(&Start) -> bool) -> Option<Start> {
    let due: Vec<Due> = due.iter().map(|(_, due)| *due).collect();
    let accepted = starts(&due, &state.options.cache, state.expected_calls()).filter(accept);
    accepted.reduce(|best, start| if start.gain > best.gain { start } else { best })
}

/// What is due at the most, from the last entry to the first: each saves all that it holds unless its edit is worked out, and nothing was
/// quoted or asked for again.
pub(super) fn at_most(state: &State<'_, '_>, call: Call, readable: &Readable) -> Vec<(usize, Due)> {
    let waiting = state.pending.iter().rev().filter(|(_, pending)| pending.earliest() <= state.call);
    let due = waiting.filter_map(|(entry, pending)| {
        let saved = pending.cut.as_ref().filter(|_| pending.passes.only_truncate()).map_or_else(|| state.tokens_of(*entry), |(_, saved)| *saved);
        let since = pending.earliest();
        let cached = state.tokens_between(readable.before(state.view.entries[*entry].message), call.cached);
        Some((*entry, Due { saved, calls: state.call.checked_sub(since)? as u64, cached }))
    });
    due.collect()
}

/// Works out what truncation makes of what is due.
pub(super) fn work_out(state: &mut State<'_, '_>) {
    let is_new = |(entry, pending): (&usize, &Pending)| {
        (pending.earliest() <= state.call && pending.cut.is_none() && pending.passes.contain(Pass::Truncation)).then_some(*entry)
    };
    let new: Vec<usize> = state.pending.iter().filter_map(is_new).collect();
    for entry in new {
        if matches!(truncation::propose(state, entry), Proposal::Never) {
            state.give_up(Pass::Truncation, entry);
        }
    }
}

/// Looks for what the model has quoted lately.
pub(super) fn look_for_quotes(state: &mut State<'_, '_>) {
    if state.options.protect_quoted_calls > 0 {
        state.look_for_quotes();
    }
}
