//! One step of the planner: the edits of call k become those of call k + 1.
//!
//! Over the limit the passes run in order until the target is reached. If all that is eligible misses it, the step is undone unless it
//! pays, saves a tenth of the limit, or the window would overflow: a budget is soft, a window is hard.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::proposal::Proposal;
use super::state::{InForce, PASSES, Pass, State};
use super::{duplicates, reasoning, superseded, truncation};
use crate::cache::fold::Rewrite;
use crate::options::When;

/// One model call of the history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Messages that its request is made from.
    pub(super) length: usize,
    /// Model calls before it.
    pub(super) earlier: usize,
    /// Messages whose rendering the provider has cached.
    pub(super) cached: usize,
}

/// What one step did.
pub(super) struct Fold {
    /// Entries that got an edit, ascending.
    pub(super) made: Vec<usize>,
    /// How many of them had a longer one before.
    pub(super) lowered: usize,
    /// What that costs in the cache, and saves.
    pub(super) rewrite: Rewrite,
}

/// What the passes did, and what was in force before.
struct Attempt {
    log: Vec<(usize, Option<InForce>)>,
}

impl Attempt {
    /// The entries that got an edit, ascending.
    fn entries(&self) -> Vec<usize> {
        let mut entries = BTreeSet::new();
        self.log.iter().for_each(|(entry, _)| _ = entries.insert(*entry));
        entries.into_iter().collect()
    }

    /// How many of them had an edit of an earlier call.
    fn lowered(&self) -> usize {
        self.log.iter().filter(|(_, before)| before.is_some()).count()
    }
}

/// Takes one model call: folds if it is over the limit, and reaches the target or is worth it.
pub(super) fn step(state: &mut State<'_, '_>, call: Call) -> Option<Fold> {
    state.length = call.length;
    let limit = state.options.limit_tokens().filter(|_| state.options.when == When::Budget)?;
    if state.scaled(state.unscaled()) <= limit {
        return None;
    }
    state.register();
    let target = (f64::from(limit) * state.options.floor_ratio).floor() as u32;
    let over_window = is_over_window(state);
    let before = state.saved;
    let attempt = attempt(state, target);
    let made = attempt.entries();
    let first = *made.first()?;
    let rewrite = Rewrite { saved: state.saved - before, cached: cached_from(state, first, &attempt, call.cached) };
    let calls = state.options.expected_calls.map_or(call.earlier.max(10) as u64, u64::from);
    let reached = state.scaled(state.unscaled()) <= target;
    let saves_a_tenth = u64::from(state.scaled(rewrite.saved)) * 10 >= u64::from(limit);
    if reached || over_window || saves_a_tenth || rewrite.pays(&state.options.cache, calls) {
        settle(state, &made);
        return Some(Fold { lowered: attempt.lowered(), made, rewrite });
    }
    undo(state, attempt);
    None
}

/// Takes out of the queues what has an edit now, and originals, which are not collapsed while their copies are.
fn settle(state: &mut State<'_, '_>, made: &[usize]) {
    for entry in made {
        state.queues.iter_mut().for_each(|queue| _ = queue.remove(entry));
        let Some(original) = state.edit_of(*entry).and_then(|edit| state.original_of(edit)) else { continue };
        for pass in [Pass::Duplicates, Pass::Superseded, Pass::Leftovers] {
            state.queues[pass as usize].remove(&original);
        }
    }
}

pub(super) fn is_over_window(state: &State<'_, '_>) -> bool {
    state.options.fit_to_window && state.options.window_tokens().is_some_and(|window| state.scaled(state.unscaled()) > window)
}

/// Over a limit: tokens left if every eligible edit were made, and how many edits that takes. Changes nothing.
pub(super) fn floor(state: &mut State<'_, '_>) -> (u64, usize) {
    let limit = state.options.limit_tokens().into_iter().chain(state.options.window_tokens()).min();
    if limit.is_none_or(|limit| state.scaled(state.unscaled()) <= limit) {
        return (state.unscaled(), 0);
    }
    state.register();
    let attempt = attempt(state, 0);
    let (floor, pending) = (state.unscaled(), attempt.entries().len());
    undo(state, attempt);
    (floor, pending)
}

/// Tokens in the cache from the message of `first` on, as they were rendered before the attempt.
fn cached_from(state: &State<'_, '_>, first: usize, attempt: &Attempt, cached: usize) -> u64 {
    let is_cached = |entry: usize| state.view.entries[entry].message < cached;
    let Some(full) = state.prefix[cached].checked_sub(state.prefix[state.view.entries[first].message]) else { return 0 };
    let saved: u64 = state.in_force.range(first..).take_while(|(entry, _)| is_cached(**entry)).map(|(_, in_force)| in_force.saved).sum();
    let of_attempt = attempt.log.iter().filter(|(entry, _)| is_cached(*entry));
    let newly: u64 = of_attempt.map(|(entry, before)| state.in_force[entry].saved - before.as_ref().map_or(0, |before| before.saved)).sum();
    full - (saved - newly)
}

/// Runs the passes in order until the target is reached.
fn attempt(state: &mut State<'_, '_>, target: u32) -> Attempt {
    let mut log = Vec::new();
    for pass in PASSES {
        let queue = std::mem::take(&mut state.queues[pass as usize]);
        let mut hopeless = Vec::new();
        for &entry in &queue {
            if state.scaled(state.unscaled()) <= target {
                break;
            }
            if state.is_edited(entry) != (pass == Pass::Leftovers) {
                continue;
            }
            match propose(state, pass, entry) {
                Proposal::Edit(edit) => log.push((entry, state.put(entry, Rc::new(edit)))),
                Proposal::NotNow => {}
                Proposal::Never => hopeless.push(entry),
            }
        }
        state.queues[pass as usize] = queue;
        hopeless.iter().for_each(|entry| _ = state.queues[pass as usize].remove(entry));
    }
    Attempt { log }
}

fn undo(state: &mut State<'_, '_>, attempt: Attempt) {
    for (entry, before) in attempt.log.into_iter().rev() {
        state.take(entry);
        if let Some(InForce { edit, .. }) = before {
            state.put(entry, edit);
        }
    }
}

fn propose(state: &State<'_, '_>, pass: Pass, entry: usize) -> Proposal {
    match pass {
        Pass::Duplicates => duplicates::propose(state, entry),
        Pass::Superseded | Pass::Leftovers => superseded::propose(state, entry),
        Pass::Truncation => truncation::propose(state, entry),
        Pass::Reasoning => reasoning::propose(state, entry),
    }
}
