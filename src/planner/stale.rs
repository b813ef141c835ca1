//! Pass 3: a read of a file that a later call has changed becomes one line.
//!
//! ```text
//! tool read a.rs   "fn old() {…}"        tool read a.rs   "[warmfold: all 480 lines elided: changed by a later call; call read again]"
//! …                                   →   …
//! tool edit a.rs   "done"                 tool edit a.rs   "done"
//! ```
//!
//! The change must have succeeded. What the model has quoted lately stays even so: it goes on changing what it has just read.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::plan::Rule;

pub(super) fn propose(state: &State<'_>, entry: usize) -> Proposal {
    let Some(change) = state.changes.of(entry) else { return Proposal::NotNow };
    let line = proposal::breadcrumb(state, entry).stale(&proposal::all_of(state, entry));
    proposal::edit(state, entry, Rule::Stale, vec![line.into()], Some(change))
}
