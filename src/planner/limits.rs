//! The limits that a prompt is over, and how far down a fold goes.

use super::state::State;

/// The limit, if the prompt is over it.
pub(super) fn over(state: &State<'_>, limit: Option<u32>) -> Option<u32> {
    limit.filter(|limit| state.scaled(state.unscaled()) > *limit)
}

pub(super) fn target(state: &State<'_>, limit: u32) -> u32 {
    (f64::from(limit) * state.options.floor_ratio).floor() as u32
}

pub(super) fn is_over_window(state: &State<'_>) -> bool {
    state.options.fit_to_window && over(state, state.options.window_tokens()).is_some()
}
