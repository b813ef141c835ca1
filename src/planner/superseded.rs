//! Pass 2: a result whose resource a later call of the same tool shows anew becomes one line.
//!
//! ```text
//! tool read a.rs (480 lines)  "fn old() {…}"        tool read a.rs  "[warmfold: 480 of 480 lines elided … a later call of read shows a.rs anew …]"
//! …                                             →    …
//! tool read a.rs (490 lines)  "fn new() {…}"        tool read a.rs  "fn new() {…}"
//! ```
//!
//! The later call must have succeeded, must say more than "unchanged since", and its lines must cover the earlier one's: most re-reads
//! in the wild are of a part.

use super::proposal::{self, Proposal};
use super::state::State;
use crate::history::View;
use crate::history::kinds::{Span, is_error, is_unchanged_stub};
use crate::options::Options;
use crate::plan::Rule;
use crate::tape;
use rustc_hash::FxHashMap;

/// How many earlier calls about a resource a new one is held against.
const LOOK_BACK: usize = 32;

/// A result this short does not stand in for one over [`LONG`]: it is a message about the file rather than the file.
const SHORT: u32 = 200;
const LONG: u32 = 1000;

/// What has been shown of each resource, and what shows it anew.
#[derive(Default)]
pub(super) struct Reads {
    shown: Vec<Shown>,
    /// Which of them are about a resource, by tool and resource.
    about: FxHashMap<u64, Vec<usize>>,
    /// For an entry, the later entries that show all of it anew.
    anew: Vec<Vec<usize>>,
}

struct Shown {
    /// Message of the result.
    message: usize,
    span: Span,
}

impl Reads {
    /// A result came: the entries that it supersedes.
    pub(super) fn add(&mut self, view: &View<'_>, options: &Options, entry: usize) -> Vec<usize> {
        let found = &view.entries[entry];
        let Some(tool_call) = found.tool_call else { return Vec::new() };
        let tool = view.tool_calls[tool_call].name;
        let Some(resource) = view.resource(tool_call, options.kind_of(tool), options.resource_of(tool)) else { return Vec::new() };
        let about = self.about.entry(tape::key(&[tool.as_bytes(), resource.key.as_bytes()])).or_default();
        if about.last().is_some_and(|last| self.shown[*last].message == found.message) {
            return Vec::new(); // another part of the same result
        }
        let mut superseded = Vec::new();
        if !is_error(found.text()) && !is_unchanged_stub(found.text()) {
            let earlier = about.iter().rev().take(LOOK_BACK).map(|earlier| &self.shown[*earlier]);
            for earlier in earlier.filter(|earlier| resource.span.covers(earlier.span)) {
                let parts = view.messages[earlier.message].entries.clone();
                superseded.extend(parts.filter(|part| found.size.bytes >= SHORT || view.entries[*part].size.bytes <= LONG));
            }
        }
        about.push(self.shown.len());
        self.shown.push(Shown { message: found.message, span: resource.span });
        self.anew.resize(view.entries.len(), Vec::new());
        superseded.iter().for_each(|older| self.anew[*older].push(entry));
        superseded
    }

    /// Whether a later result shows all of the entry anew.
    pub(super) fn is_superseded(&self, entry: usize) -> bool {
        self.anew.get(entry).is_some_and(|anew| !anew.is_empty())
    }
}

pub(super) fn propose(state: &State<'_, '_>, entry: usize) -> Proposal {
    if state.is_target(entry) {
        return Proposal::NotNow;
    }
    let latest = state.reads.anew.get(entry).and_then(|anew| anew.iter().rev().take(LOOK_BACK).find(|later| is_whole(state, **later)));
    let Some(latest) = latest.copied() else {
        return Proposal::NotNow;
    };
    let line = proposal::breadcrumb(state, entry).superseded(&proposal::all_of(state, entry), proposal::label(state, entry).as_deref());
    proposal::edit(state, entry, Rule::Superseded, vec![line.into()], Some(latest))
}

/// Whether no part of the result that an entry belongs to is edited.
fn is_whole(state: &State<'_, '_>, entry: usize) -> bool {
    let message = state.view.entries[entry].message;
    state.view.messages[message].entries.clone().all(|part| !state.is_edited(part))
}
