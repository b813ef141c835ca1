//! What a pass says of an entry, and how it builds an edit that is worth making.

use super::state::{LEAST_SAVED, State};
use crate::history::Entry;
use crate::history::kinds::ToolKind;
use crate::plan::{Edit, Piece, Rule, Target};
use crate::render::{self, breadcrumb::Breadcrumb};
use crate::tape::hex;

/// What a pass says of an entry.
pub(super) enum Proposal {
    /// This edit.
    Edit(Edit),
    /// Not as things stand.
    NotNow,
    /// Not in any later call either.
    Never,
}

/// The edit, unless it would save too little of what is sent now.
pub(super) fn edit(state: &State<'_>, entry: usize, rule: Rule, pieces: Vec<Piece>, target: Option<usize>) -> Proposal {
    let found = &state.view.entries[entry];
    let now = state.edit_of(entry).map_or(found.bytes as usize, |edit| render::length(&edit.pieces));
    // A line that stands alone is never large itself, whichever pass might come upon it.
    let is_line = |bytes: usize| {
        rule != Rule::Reasoning && bytes <= Breadcrumb::longest_alone(&state.options.label, state.view.tool_of(found), label(state, entry))
    };
    if !state.is_edited(entry) && is_line(now) {
        return Proposal::Never;
    }
    let fewer_tokens = state.tokens_of(entry) > u64::from(render::tokens(state.view.estimator, found.text(), &pieces));
    if now < render::length(&pieces) + state.options.min_saved_bytes.max(LEAST_SAVED) || !fewer_tokens {
        return Proposal::Never;
    }
    let target = target.map(|target| {
        let Entry { message, part, .. } = state.view.entries[target];
        Target { message, part, fingerprint: hex(state.view.entries[target].fingerprint()) }
    });
    let Entry { message, part, .. } = *found;
    let tool = state.view.tool_of(found).map(str::to_owned);
    Proposal::Edit(Edit {
        message,
        part,
        tool,
        fingerprint: hex(found.fingerprint()),
        tokens: Some(state.tokens[entry]),
        rule,
        since: state.length(),
        pieces,
        target,
    })
}

/// The line that will stand in the entry's place.
pub(super) fn breadcrumb<'s>(state: &'s State<'_>, entry: usize) -> Breadcrumb<'s> {
    let tool = state.view.tool_of(&state.view.entries[entry]);
    let kind = state.action_of(entry).map_or(ToolKind::Other, |action| action.kind);
    Breadcrumb { label: &state.options.label, tool, kind: if kind.is_repeatable() && state.is_harmless(entry) { kind } else { ToolKind::Other } }
}

/// "all 80 lines".
pub(super) fn all_of(state: &State<'_>, entry: usize) -> String {
    let text = state.view.entries[entry].text();
    render::breadcrumb::amount(text, 0..text.len())
}

/// What the tool call is about.
pub(super) fn label<'s>(state: &'s State<'_>, entry: usize) -> Option<&'s str> {
    state.action_of(entry)?.resource.as_ref().map(|resource| resource.label.as_str())
}
