//! What is in force and what is eligible, as far as the history has been walked.
//!
//! Entries are looked at when they come and again when protection leaves them ([`State::register`]); each pass then holds a queue of
//! them. Only what an undone fold has held back is looked at again, so a history of any length is walked in linear time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::history::actions::Action;
use crate::history::copies::Copies;
use crate::history::kinds::ToolKind;
use crate::history::reads::Reads;
use crate::history::turns::Recent;
use crate::history::{Entry, EntryKind, View};
use crate::options::Options;
use crate::plan::{Edit, Rule, Target};
use crate::render;

/// What is done to an entry; in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Duplicates,
    Superseded,
    Truncation,
    Reasoning,
    /// What truncation left goes too where a later call shows it anew: last, since it saves little and costs the cache from there on.
    Leftovers,
}

pub(super) const PASSES: [Pass; 5] = [Pass::Duplicates, Pass::Superseded, Pass::Truncation, Pass::Reasoning, Pass::Leftovers];

/// An edit in force, and the tokens that it saves.
pub(super) struct InForce {
    pub(super) edit: Rc<Edit>,
    pub(super) saved: u64,
}

pub(super) struct State<'v, 't> {
    pub(super) view: &'v View<'t>,
    pub(super) options: &'v Options,
    /// Estimated tokens of each entry in full.
    pub(super) tokens: Vec<u32>,
    /// Reported over estimated tokens.
    pub(super) scale: f64,
    /// The tool that the model must call, whose results stay.
    forced_tool: Option<&'v str>,
    /// Entries that are pinned.
    pinned: Vec<bool>,
    recent: Recent,
    pub(super) in_force: BTreeMap<usize, InForce>,
    /// For an entry, how many duplicates in force say that they are like it.
    originals: Vec<u32>,
    /// Tokens of messages before each, in full.
    pub(super) prefix: Vec<u64>,
    /// Tokens that the edits in force save.
    pub(super) saved: u64,
    /// Length of the history at the call that is looked at.
    pub(super) length: usize,
    /// Entries before this one have come.
    registered: usize,
    /// Protection has left the entries before this one.
    opened: usize,
    /// For each pass, the entries that it might shorten.
    pub(super) queues: [BTreeSet<usize>; PASSES.len()],
    pub(super) copies: Copies<'v, 't>,
    pub(super) reads: Reads,
}

impl<'v, 't> State<'v, 't> {
    /// Nothing has been walked; the carried edits are in force.
    pub(super) fn new(view: &'v View<'t>, options: &'v Options, forced_tool: Option<&'v str>, carried: &[(usize, Rc<Edit>)]) -> Self {
        let mut known = carried.iter().peekable();
        let known_or_estimate = |(at, entry): (usize, &Entry<'_>)| {
            let carried = known.next_if(|(edited, _)| *edited == at);
            carried.and_then(|(_, edit)| edit.tokens).unwrap_or_else(|| entry.estimate())
        };
        let tokens: Vec<u32> = view.entries.iter().enumerate().map(known_or_estimate).collect();
        let mut prefix = Vec::with_capacity(view.messages.len() + 1);
        let mut sum = u64::from(view.overhead.tokens);
        prefix.push(sum);
        for message in &view.messages {
            sum += u64::from(message.fixed.tokens) + tokens[message.entries.clone()].iter().map(|tokens| u64::from(*tokens)).sum::<u64>();
            prefix.push(sum);
        }
        let mut state = State {
            view,
            options,
            tokens,
            scale: 1.0,
            forced_tool,
            pinned: pinned(view, options),
            recent: Recent::new(view, options.protect_recent_turns),
            in_force: BTreeMap::new(),
            originals: vec![0; view.entries.len()],
            prefix,
            saved: 0,
            length: 0,
            registered: 0,
            opened: 0,
            queues: Default::default(),
            copies: Copies::new(view),
            reads: Reads::default(),
        };
        carried.iter().for_each(|(entry, edit)| _ = state.put(*entry, edit.clone()));
        state
    }

    /// The edits in force, ascending.
    pub(super) fn edits(&self) -> impl Iterator<Item = (usize, &Rc<Edit>)> {
        self.in_force.iter().map(|(entry, in_force)| (*entry, &in_force.edit))
    }

    /// The edit of an entry.
    pub(super) fn edit_of(&self, entry: usize) -> Option<&Edit> {
        self.in_force.get(&entry).map(|in_force| &*in_force.edit)
    }

    /// Tokens of an entry as it is sent now.
    pub(super) fn tokens_of(&self, entry: usize) -> u64 {
        u64::from(self.tokens[entry]) - self.in_force.get(&entry).map_or(0, |in_force| in_force.saved)
    }

    /// Whether an edit of the entry is in force.
    pub(super) fn is_edited(&self, entry: usize) -> bool {
        self.in_force.contains_key(&entry)
    }

    /// Whether a duplicate in force says that it is like this entry, which therefore stays at least in part.
    pub(super) fn is_original(&self, entry: usize) -> bool {
        self.originals[entry] > 0
    }

    /// Tokens of the history in full, as estimated.
    pub(super) fn raw(&self) -> u64 {
        self.prefix[self.length]
    }

    /// Tokens as planned, as estimated.
    pub(super) fn unscaled(&self) -> u64 {
        self.raw().saturating_sub(self.saved)
    }

    /// An estimate, corrected by what usage has taught.
    pub(super) fn scaled(&self, tokens: u64) -> u32 {
        (tokens as f64 * self.scale).round().min(f64::from(u32::MAX)) as u32
    }

    /// The edits in force whose entries protection covers in a history of this length.
    pub(super) fn covered(&self, length: usize) -> Vec<usize> {
        let protect_from = self.recent.protect_from(length);
        let covered = |entry: &usize| self.view.entries[*entry].message >= protect_from || self.is_kept(*entry);
        self.in_force.keys().copied().filter(covered).collect()
    }

    /// Lets go of them; only a cold call may.
    pub(super) fn release(&mut self, length: usize) -> Vec<usize> {
        let released = self.covered(length);
        released.iter().for_each(|entry| _ = self.take(*entry));
        released
    }

    /// Looks at what came since the last time, then opens what protection has left.
    pub(super) fn register(&mut self) {
        let entries_before = |message: usize| message.checked_sub(1).map_or(0, |last| self.view.messages[last].entries.end);
        let (came, left) = (entries_before(self.length), entries_before(self.recent.protect_from(self.length)));
        for entry in self.registered..came {
            if self.view.entries[entry].kind == EntryKind::Result {
                self.came(entry);
            }
        }
        self.registered = self.registered.max(came);
        for entry in self.opened..left {
            if !self.is_kept(entry) {
                self.open(entry);
            }
        }
        self.opened = self.opened.max(left);
    }

    /// Notes what a result says and shows anew.
    fn came(&mut self, entry: usize) {
        let (view, options) = (self.view, self.options);
        let Some(tool_call) = view.entries[entry].tool_call else { return };
        if options.collapse_duplicate_results {
            self.copies.add(entry);
        }
        let resource = if options.elide_superseded_reads { self.action(tool_call).resource } else { None };
        let Some(resource) = resource else { return };
        for older in self.reads.add(view, entry, &resource) {
            if older < self.opened && !self.is_kept(older) {
                self.enqueue_superseded(older);
            }
        }
    }

    /// What a tool call does, the host's word heard.
    pub(super) fn action(&self, tool_call: usize) -> Action {
        let tool = self.view.tool_calls[tool_call].name;
        self.view.action(tool_call, self.options.host_kind_of(tool), self.options.resource_of(tool))
    }

    /// Puts an entry that protection has left into the queue of each pass that might shorten it.
    fn open(&mut self, entry: usize) {
        let found = &self.view.entries[entry];
        match found.kind {
            EntryKind::Text => {}
            EntryKind::Reasoning => {
                if self.options.drop_reasoning && !found.required {
                    self.enqueue(Pass::Reasoning, entry);
                }
            }
            EntryKind::Result => {
                if !self.is_original(entry) && self.copies.earlier(entry).next().is_some() {
                    self.enqueue(Pass::Duplicates, entry);
                }
                if self.reads.superseders(entry).next().is_some() {
                    self.enqueue_superseded(entry);
                }
                if found.bytes as usize > self.options.large_result_bytes() {
                    self.enqueue(Pass::Truncation, entry);
                }
            }
        }
    }

    fn enqueue(&mut self, pass: Pass, entry: usize) {
        self.queues[pass as usize].insert(entry);
    }

    fn enqueue_superseded(&mut self, entry: usize) {
        match self.edit_of(entry).map(|edit| edit.rule) {
            _ if self.is_original(entry) => {}
            None => self.enqueue(Pass::Superseded, entry),
            Some(Rule::Truncated) => self.enqueue(Pass::Leftovers, entry),
            Some(_) => {}
        }
    }

    /// Whether an entry stays whole however old it is: pinned, of the forced tool, a memory, or a result without a call.
    fn is_kept(&self, entry: usize) -> bool {
        let found = &self.view.entries[entry];
        if self.pinned[entry] || found.kind != EntryKind::Result {
            return self.pinned[entry];
        }
        let tool = self.view.tool_of(found);
        tool.is_none_or(|tool| Some(tool) == self.forced_tool || self.options.kind_of(tool) == ToolKind::Memory)
    }

    /// Puts an edit in force; returns the one that it takes the place of.
    pub(super) fn put(&mut self, entry: usize, edit: Rc<Edit>) -> Option<InForce> {
        let before = self.take(entry);
        let full = self.tokens[entry];
        let saved = u64::from(full.saturating_sub(render::tokens(self.view.entries[entry].text(), &edit.pieces)));
        if let Some(original) = self.original_of(&edit) {
            self.originals[original] += 1;
        }
        self.saved += saved;
        self.in_force.insert(entry, InForce { edit, saved });
        before
    }

    /// Takes an edit out of force.
    pub(super) fn take(&mut self, entry: usize) -> Option<InForce> {
        let taken = self.in_force.remove(&entry)?;
        self.saved -= taken.saved;
        if let Some(original) = self.original_of(&taken.edit) {
            self.originals[original] -= 1;
        }
        Some(taken)
    }

    /// The first copy that a duplicate points at.
    pub(super) fn original_of(&self, edit: &Edit) -> Option<usize> {
        let Target { message, part, .. } = edit.target.as_ref().filter(|_| edit.rule == Rule::Duplicate)?;
        self.view.entry_at(*message, *part)
    }
}

fn pinned(view: &View<'_>, options: &Options) -> Vec<bool> {
    let mut pinned = vec![false; view.entries.len()];
    for pin in &options.pins {
        let entries = view.messages.get(pin.message).map_or(0..0, |message| message.entries.clone());
        for entry in entries.filter(|entry| pin.part.is_none_or(|part| part == view.entries[*entry].part)) {
            pinned[entry] = true;
        }
    }
    pinned
}
