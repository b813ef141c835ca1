//! Pass 1: a result that says what an earlier result of the same tool says becomes one line. The first copy stays.
//!
//! ```text
//! tool read a.rs  "fn main() {…}"          tool read a.rs  "fn main() {…}"
//! …                                   →    …
//! tool read a.rs  "fn main() {…}"          tool read a.rs  "[warmfold: all 80 lines of a.rs elided: an earlier result of read is the same …]"
//! ```
//!
//! An early edit would cost the cached prefix, so the later copy gives way; and its line names no place, since places drift.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::plan::Rule;

/// How many copies are looked at for one that is whole: edited ones come in runs, and a run this long is no history.
const COPIES: usize = 64;

pub(super) fn propose(state: &State<'_>, entry: usize) -> Proposal {
    let Some(first) = original(state, entry) else { return Proposal::NotNow };
    let line = proposal::breadcrumb(state, entry).duplicate(&proposal::all_of(state, entry), proposal::label(state, entry));
    proposal::edit(state, entry, Rule::Duplicate, vec![line.into()], Some(first))
}

/// The first copy that is whole; one that the host says has failed is none, though it reads the same.
pub(super) fn original(state: &State<'_>, entry: usize) -> Option<usize> {
    let read_from = state.read_from();
    let is_whole = |copy: &usize| !state.is_edited(*copy) && !state.view.entries[*copy].failed && state.view.entries[*copy].message >= read_from;
    state.copies.earlier(&state.view, entry).take(COPIES).find(is_whole)
}
