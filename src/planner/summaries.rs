//! What truncation left of a result becomes one line of fact, before whole exchanges go to fit the window.
//!
//! ```text
//! tool read "[warmfold: 460 of 480 lines elided …]⏎use std::fs;⏎…"   →   "[warmfold: read src/parser.rs (480 lines) elided; source intact, …]"
//! ```

use super::proposal::{self, Proposal};
use super::state::State;
use crate::history::kinds::ToolKind;
use crate::plan::Rule;
use crate::render::fact;
use crate::render::outline::Source;

pub(super) fn propose(state: &State<'_>, entry: usize) -> Proposal {
    let found = &state.view.entries[entry];
    if state.is_kept(entry) || state.is_original(entry) || found.has_failed() {
        return Proposal::Never; // a line would hide that it failed
    }
    let kind = state.action_of(entry).map_or(ToolKind::Other, |action| action.kind);
    let source = Source { text: found.text(), kind, about: proposal::label(state, entry) };
    let line = proposal::breadcrumb(state, entry).summarized(&fact::of(&source, state.view.tool_of(found).unwrap_or("result")));
    proposal::edit(state, entry, Rule::Summarized, vec![line.into()], None)
}
