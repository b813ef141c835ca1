//! The passes by name: what each makes of an entry, and from which call on.

use super::pending::{Pass, Waits};
use super::proposal::Proposal;
use super::state::State;
use super::{duplicates, reasoning, stale, superseded, truncation};
use crate::history::Required;

/// What a pass makes of an entry, as things stand.
pub(super) fn propose(state: &mut State<'_>, pass: Pass, entry: usize) -> Proposal {
    if !is_possible(state, pass, entry) {
        return Proposal::NotNow;
    }
    match pass {
        Pass::Duplicates => duplicates::propose(state, entry),
        Pass::Superseded | Pass::Leftovers => superseded::propose(state, entry),
        Pass::Stale | Pass::StaleLeftovers => stale::propose(state, entry),
        Pass::Truncation => truncation::propose(state, entry),
        Pass::Reasoning => reasoning::propose(state, entry),
    }
}

/// The first call at which a pass may shorten the entry. Ages matter where the text is lost: what stands elsewhere in the prompt has none.
pub(super) fn due(state: &State<'_>, pass: Pass, entry: usize, waits: Waits) -> usize {
    let shown_anew = || state.reads.first_superseder(entry).map_or(0, |later| state.first_call(state.view.entries[later].message));
    let cut_in = || state.edit_of(entry).map_or(0, |edit| state.call_of_length(edit.since));
    match pass {
        Pass::Duplicates => waits.unprotected,
        Pass::Reasoning => {
            let answered = state.first_call(state.view.entries[entry].message) + 1; // a later answer is there
            let needed = if state.view.entries[entry].required == Required::InLoop { state.loop_ended(entry) } else { None };
            waits.unprotected.max(answered).max(needed.unwrap_or(0))
        }
        Pass::Superseded => waits.unprotected.max(shown_anew()),
        Pass::Leftovers => waits.unprotected.max(shown_anew()).max(cut_in()),
        Pass::StaleLeftovers => waits.aged.max(state.changed_with(entry)).max(cut_in()),
        Pass::Stale => state.ready_to_lose(entry, waits.aged).max(state.changed_with(entry)),
        Pass::Truncation => state.ready_to_lose(entry, waits.aged),
    }
}

/// Whether what a pass needs of other entries is there. What copies in force are said to be like stays at least in part.
pub(super) fn is_possible(state: &State<'_>, pass: Pass, entry: usize) -> bool {
    match pass {
        Pass::Truncation | Pass::Reasoning => true,
        _ if state.is_original(entry) => false,
        Pass::Duplicates => duplicates::original(state, entry).is_some(),
        Pass::Superseded | Pass::Leftovers => superseded::superseder(state, entry).is_some(),
        Pass::Stale | Pass::StaleLeftovers => state.changes.of(entry).is_some(),
    }
}
