//! One step of the planner: the edits of call k become those of call k + 1.
//!
//! By budget, the passes run in order over the limit until the target is reached. Where it pays, every fold that does is made; then, if
//! the prompt is still over a limit, the one that reaches the target best. A budget is soft: what cannot reach its target is done only
//! if it pays or saves a tenth of the limit. A window is hard, and ages do not protect from it.

use super::attempt::{Allowed, Attempt};
use super::limits::{is_over_window, over, target};
use super::marks::Readable;
use super::pays;
use super::state::State;
use super::window;
use crate::cache::fold::Rewrite;
use crate::options::When;

/// What one step did.
#[derive(Default)]
pub(super) struct Fold {
    /// Entries that got an edit, ascending.
    pub(super) made: Vec<usize>,
    /// How many of them had a longer one before.
    pub(super) lowered: usize,
    /// What went as whole exchanges.
    pub(super) condensed: window::Made,
    /// Edits of earlier calls that went with them.
    pub(super) swallowed: usize,
    /// Tokens that this saves, in all and of what was sent before.
    saved: u64,
    saved_of_cached: u64,
}

/// What was saved before something was done.
#[derive(Clone, Copy)]
struct Before {
    saved: u64,
    of_cached: u64,
}

impl Before {
    fn of(state: &State<'_>) -> Before {
        Before { saved: state.saved, of_cached: state.saved_of_cached() }
    }
}

/// Takes one model call, of whose messages so many are cached.
pub(super) fn step(state: &mut State<'_>, call: usize, cached: usize) -> Option<Fold> {
    (state.call, state.cached) = (call, cached);
    let (before, edits) = (Before::of(state), state.in_force.len());
    let (mut attempt, mut condensed) = (Attempt::default(), window::Made::default());
    loop {
        let more = once(state).unwrap_or_default();
        // A lowered edit no longer shows that we had cut too early: what was held for that may be due.
        // What was cut may become a line, where that does not fit the window yet.
        let mut again = more.lowered() > 0 || (!more.entries().is_empty() && is_over_window(state));
        attempt.append(more);
        // With whole exchanges gone, less is cached behind what is left: more may pay.
        if !again && state.options.when != When::Never {
            again = condensed.append(window::fit(state));
            if state.cached == 0 {
                again |= condensed.append(window::merge(state));
            }
        }
        if !again {
            break;
        }
    }
    condensed.retain(state);
    let fold = fold_of(state, &attempt, before);
    let swallowed = edits + fold.made.len() - fold.lowered - state.in_force.len();
    (!fold.made.is_empty() || !condensed.from.is_empty()).then_some(Fold { condensed, swallowed, ..fold })
}

fn once(state: &mut State<'_>) -> Option<Attempt> {
    match state.options.when {
        When::Never => None,
        When::Budget => {
            let limit = over(state, state.options.limit_tokens())?;
            state.register();
            state.look_for_quotes();
            by_budget(state, limit)
        }
        When::Pays => {
            state.register();
            let mut made = pays::fold(state);
            if let Some(limit) = over(state, state.options.limit_tokens()) {
                into_limit(state, limit).into_iter().for_each(|attempt| made.append(attempt));
            }
            Some(made)
        }
    }
}

/// What an attempt did, given what was saved before it.
fn fold_of(state: &State<'_>, attempt: &Attempt, before: Before) -> Fold {
    let made: Vec<usize> = attempt.entries().into_iter().filter(|entry| !state.is_gone(*entry)).collect();
    let now = Before::of(state);
    let lowered = attempt.lowered_of(|entry| !state.is_gone(entry));
    Fold {
        lowered,
        made,
        saved: now.saved.saturating_sub(before.saved),
        saved_of_cached: now.of_cached.saturating_sub(before.of_cached),
        ..Fold::default()
    }
}

impl Fold {
    /// The first message of the history that it changes.
    pub(super) fn from(&self, state: &State<'_>) -> Option<usize> {
        self.made.first().map(|entry| state.view.entries[*entry].message).into_iter().chain(self.condensed.from.first().copied()).min()
    }

    /// What it costs in the cache, given how much of the last request can be read again.
    pub(super) fn rewrite(&self, state: &State<'_>, readable: &Readable) -> Rewrite {
        let from = readable.before(self.from(state).unwrap_or(state.cached));
        let cached = state.cached_behind(from, self.saved_of_cached);
        Rewrite { saved: self.saved, cached }
    }
}

/// The passes in their order, until the target is reached.
fn by_budget(state: &mut State<'_>, limit: u32) -> Option<Attempt> {
    let (before, over_window, readable) = (Before::of(state), is_over_window(state), state.readable());
    let allowed = if over_window { Allowed::Unprotected } else { Allowed::Due };
    let attempt = Attempt::run(state, 0, allowed, target(state, limit));
    let fold = fold_of(state, &attempt, before);
    fold.made.first()?;
    let rewrite = fold.rewrite(state, &readable);
    let reached = state.scaled(state.unscaled()) <= target(state, limit);
    if reached || over_window || is_worth_it(state, rewrite.saved, limit) || rewrite.pays(&state.options.cache, state.expected_calls()) {
        attempt.settle(state);
        return Some(attempt);
    }
    attempt.undo(state);
    // What pays from a place further back is not held up by what would not.
    let attempt = pays::fold_from(state, 0, |start| start.gain > 0.0)?;
    attempt.settle(state);
    Some(attempt)
}

/// Whether so much is saved that a limit which stays exceeded is worth a fold.
fn is_worth_it(state: &State<'_>, saved: u64, limit: u32) -> bool {
    u64::from(state.scaled(saved)) * 10 >= u64::from(limit)
}

/// Over a limit, from the place that earns most among those that reach the target.
fn into_limit(state: &mut State<'_>, limit: u32) -> Option<Attempt> {
    state.look_for_quotes();
    let (target, over_window) = (target(state, limit), is_over_window(state));
    let (now, scale) = (state.unscaled(), state.scale);
    let left = move |saved: u64| (now.saturating_sub(saved) as f64 * scale).round();
    let reaching = pays::fold_from(state, 0, |start| left(start.rewrite.saved) <= f64::from(target));
    let attempt = reaching.or_else(|| {
        let attempt = Attempt::run(state, 0, Allowed::Due, 0);
        let saved = now - state.unscaled();
        if !over_window && !is_worth_it(state, saved, limit) {
            attempt.undo(state);
            return None;
        }
        Some(attempt)
    });
    let mut made = attempt.unwrap_or_default();
    made.settle(state);
    if is_over_window(state) {
        let last = Attempt::run(state, 0, Allowed::Unprotected, target);
        last.settle(state);
        made.append(last);
    }
    Some(made)
}

/// Over a limit: tokens left if every edit that may be made were made, and how many edits that takes; else the same as they are, and
/// how many edits are due. Changes nothing.
pub(super) fn floor(state: &mut State<'_>) -> (u64, usize) {
    let limit = state.options.limit_tokens().into_iter().chain(state.options.window_tokens()).min();
    if over(state, limit).is_none() {
        let pending = if state.options.when == When::Pays { pays::worth_lowering(state) } else { 0 };
        return (state.unscaled(), pending);
    }
    state.register();
    state.look_for_quotes();
    let allowed = if is_over_window(state) { Allowed::Unprotected } else { Allowed::Due };
    let attempt = Attempt::run(state, 0, allowed, 0);
    let (floor, pending) = (state.unscaled(), attempt.entries().len());
    attempt.undo(state);
    (floor, pending)
}
