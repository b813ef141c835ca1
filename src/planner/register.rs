//! What has come and what protection has left, as far as the history has been walked.
//!
//! Entries are looked at when they come and again when protection leaves them; from then on they are pending until a pass has shortened
//! them or none can. So a history of any length is walked in linear time, and what is pending is found again from the history alone.

use std::ops::Range;
use std::rc::Rc;

use super::pending::{Pass, Pending, Waits};
use super::state::{LEAST_SAVED, State};
use crate::history::kinds::ToolKind;
use crate::history::{Entry, EntryKind, Required};
use crate::plan::{Rule, Segment};

/// No breadcrumb is shorter.
const SHORTEST_LINE: usize = 20;

impl State<'_> {
    /// Looks at what came since the last time, then opens what protection has left.
    pub(super) fn register(&mut self) {
        self.forget_unread();
        let (came, left) = (self.entries_before(self.length()), self.entries_before(self.recent.protect_from(self.length())));
        for entry in self.registered..came {
            if self.view.entries[entry].kind == EntryKind::Result {
                self.came(entry);
            }
        }
        self.registered = self.registered.max(came);
        self.end_loops();
        for entry in self.opened..left {
            if !self.is_kept(entry) {
                self.open(entry);
            }
        }
        self.opened = self.opened.max(left);
    }

    /// What the provider passes over needs no edit.
    fn forget_unread(&mut self) {
        let unread = self.entries_before(self.read_from());
        let pending: Vec<usize> = self.pending.from(0).map(|(entry, _)| entry).take_while(|entry| *entry < unread).collect();
        pending.into_iter().for_each(|entry| _ = self.pending.remove(entry));
    }

    /// Opens the reasoning of each loop of tool calls that the user has ended since the last time.
    fn end_loops(&mut self) {
        let (from, ends) = (self.loop_start, self.recent.ends_of_loops(self.loop_start, self.length()));
        let Some(&end) = ends.last() else { return };
        self.loop_start = end;
        for entry in self.entries_before(from)..self.entries_before(end).min(self.opened) {
            if self.view.entries[entry].required == Required::InLoop && !self.is_kept(entry) {
                self.open(entry);
            }
        }
    }

    /// Notes what a result says, shows anew and tells to be changed.
    fn came(&mut self, entry: usize) {
        let (view, options) = (&self.view, &self.options);
        let Some(tool_call) = view.entries[entry].tool_call else { return };
        if options.collapse_duplicate_results {
            self.copies.add(view, entry);
        }
        self.action(tool_call);
        let Some(action) = self.actions[tool_call].get() else { return };
        let mut superseded = action.resource.as_ref().map_or_else(Vec::new, |resource| self.reads.add(view, entry, resource));
        superseded.retain(|_| options.elide_superseded_reads);
        let stale = if options.elide_stale_reads { self.changes.add(view, entry, action) } else { Vec::new() };
        for (pass, older) in superseded.into_iter().map(|older| (Pass::Superseded, older)).chain(stale.into_iter().map(|older| (Pass::Stale, older)))
        {
            if older < self.opened && !self.is_kept(older) {
                self.await_pass(pass, older);
            }
        }
    }

    /// Has an entry that protection has left wait for each pass that might shorten it, or what an edit has left of it.
    pub(super) fn open(&mut self, entry: usize) {
        let Entry { kind, required, bytes, .. } = self.view.entries[entry];
        if self.is_gone(entry) {
            return;
        }
        match kind {
            EntryKind::Text => {}
            EntryKind::Reasoning => {
                let is_needed = || required == Required::Always || (required == Required::InLoop && self.loop_ended(entry).is_none());
                if self.options.drop_reasoning && !is_needed() {
                    self.await_pass(Pass::Reasoning, entry);
                }
            }
            EntryKind::Result => {
                if self.copies.earlier(&self.view, entry).next().is_some() {
                    self.await_pass(Pass::Duplicates, entry);
                }
                if self.options.elide_superseded_reads && self.reads.first_superseder(entry).is_some() {
                    self.await_pass(Pass::Superseded, entry);
                }
                if self.changes.of(entry).is_some() {
                    self.await_pass(Pass::Stale, entry);
                }
                if bytes as usize > self.policy_of(entry).max_bytes {
                    self.await_pass(Pass::Truncation, entry);
                }
            }
        }
    }

    fn await_pass(&mut self, pass: Pass, entry: usize) {
        let found = &self.view.entries[entry];
        if found.message < self.read_from() || self.is_gone(entry) {
            return;
        }
        if found.kind == EntryKind::Result && (found.bytes as usize) < self.options.min_saved_bytes.max(LEAST_SAVED) + SHORTEST_LINE {
            return;
        }
        let pass = match self.edit_of(entry).map(|edit| edit.rule) {
            None => pass,
            Some(Rule::Truncated) if pass == Pass::Superseded => Pass::Leftovers,
            Some(Rule::Truncated) if pass == Pass::Stale => Pass::StaleLeftovers,
            Some(_) => return,
        };
        if pass != Pass::Truncation && self.is_original(entry) {
            return;
        }
        // A line would hide that it failed, and nothing else in the prompt says so; truncation keeps the words that do.
        if !matches!(pass, Pass::Truncation | Pass::Reasoning) && found.has_failed() {
            return;
        }
        let waits = Waits { unprotected: self.ready(entry, 0), aged: self.ready(entry, self.protect_calls(entry)) };
        match self.pending.get_mut(entry) {
            Some(pending) => pending.passes.insert(pass),
            None => self.pending.insert(entry, Pending::new(pass, waits)),
        }
    }

    /// No edit of this pass is worth making, or may be made.
    pub(super) fn give_up(&mut self, pass: Pass, entry: usize) {
        let Some(pending) = self.pending.get_mut(entry) else { return };
        pending.passes.remove(pass);
        if pending.passes.are_none() {
            self.pending.remove(entry);
        }
    }

    /// Whether an entry stays whole however old it is: pinned, of the forced tool, a memory, or a result without a call.
    pub(super) fn is_kept(&self, entry: usize) -> bool {
        *self.kept[entry].get_or_init(|| {
            let found = &self.view.entries[entry];
            if self.pinned[entry] || found.kind != EntryKind::Result {
                return self.pinned[entry];
            }
            let tool = self.view.tool_of(found);
            tool.is_none() || tool == self.view.forced_tool || self.action_of(entry).is_some_and(|action| action.kind == ToolKind::Memory)
        })
    }

    /// The edits in force whose entries protection covers at this call.
    pub(super) fn covered(&self, call: usize) -> Vec<usize> {
        let protect_from = self.recent.protect_from(self.calls[call]);
        let covered = |entry: &usize| self.view.entries[*entry].message >= protect_from || self.is_kept(*entry);
        self.in_force.from(0).map(|(entry, _)| entry).filter(covered).collect()
    }

    /// Lets go of them and of such segments; only a cold call may. Returns the message of each, ascending.
    pub(super) fn release(&mut self, call: usize) -> Vec<usize> {
        let protect_from = self.recent.protect_from(self.calls[call]);
        let covered = self.covered(call);
        let is_covered =
            |segment: &&Rc<Segment>| segment.to > protect_from || self.options.pins.iter().any(|pin| segment.messages().contains(&pin.message));
        let segments: Vec<Range<usize>> = self.segments().iter().filter(is_covered).map(|segment| segment.messages()).collect();
        covered.iter().for_each(|entry| _ = self.take(*entry));
        segments.iter().for_each(|messages| _ = self.take_segments(messages));
        let mut released: Vec<usize> =
            covered.into_iter().map(|entry| self.view.entries[entry].message).chain(segments.into_iter().map(|segment| segment.start)).collect();
        released.sort_unstable();
        released
    }
}
