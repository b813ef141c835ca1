//! Pass 2: a result whose resource a later call of the same tool shows anew becomes one line.
//!
//! ```text
//! tool read a.rs (480 lines)  "fn old() {…}"        tool read a.rs  "[warmfold: all 480 lines of a.rs elided: a later call of read returned it anew …]"
//! …                                             →    …
//! tool read a.rs (490 lines)  "fn new() {…}"        tool read a.rs  "fn new() {…}"
//! ```
//!
//! The later call must have succeeded, must say more than "unchanged since", and its lines must cover the earlier one's: most re-reads
//! in the wild are of a part.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::plan::Rule;

pub(super) fn propose(state: &State<'_>, entry: usize) -> Proposal {
    let Some(latest) = superseder(state, entry) else { return Proposal::NotNow };
    let line = proposal::breadcrumb(state, entry).superseded(&proposal::all_of(state, entry), proposal::label(state, entry));
    proposal::edit(state, entry, Rule::Superseded, vec![line.into()], Some(latest))
}

/// The latest result that shows it anew and is whole.
pub(super) fn superseder(state: &State<'_>, entry: usize) -> Option<usize> {
    state.reads.superseders(entry).find(|later| state.is_whole(*later))
}
