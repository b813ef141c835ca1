//! Pass 5: old reasoning goes, as a whole.
//!
//! ```text
//! assistant {reasoning: "Let me think …", content: "Done."}   →   assistant {content: "Done."}
//! ```
//!
//! Never that of the latest answer, never what the provider still needs back with its tool call, never the only thing a message says.
//! It leaves no line; the report counts it.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::plan::Rule;

pub(super) fn propose(state: &State<'_>, entry: usize) -> Proposal {
    let latest = (0..state.length()).rfind(|message| state.view.begins_answer(*message));
    if latest.is_none_or(|latest| state.view.entries[entry].message >= latest) {
        return Proposal::NotNow;
    }
    proposal::edit(state, entry, Rule::Reasoning, Vec::new(), None)
}
