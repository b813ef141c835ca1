//! One walk over the model calls of a history: what is in force, what is eligible, and the step that folds.
//!
//! Entries are looked at when they come ([`State::register`]) and again when protection leaves them; each pass then holds a queue of
//! them. Nothing is looked at twice, so a history of any length is walked in linear time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::duplicates::Copies;
use super::proposal::Proposal;
use super::superseded::Reads;
use super::{reasoning, truncation};
use crate::cache::fold::Rewrite;
use crate::history::kinds::ToolKind;
use crate::history::turns::Recent;
use crate::history::{EntryKind, View};
use crate::options::{Options, When};
use crate::plan::{Edit, Rule, Target};
use crate::render;

/// One model call of the history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Messages that its request is made from.
    pub(super) length: usize,
    /// Model calls before it.
    pub(super) earlier: usize,
    /// Messages whose rendering the provider has cached.
    pub(super) cached: usize,
}

/// What one step did.
pub(super) struct Fold {
    /// Entries that got an edit, ascending.
    pub(super) made: Vec<usize>,
    /// What that costs in the cache, and saves.
    pub(super) rewrite: Rewrite,
}

const PASSES: [Rule; 4] = [Rule::Duplicate, Rule::Superseded, Rule::Truncated, Rule::Reasoning];

/// An edit in force, and the tokens that it saves.
struct InForce {
    edit: Rc<Edit>,
    saved: u64,
}

pub(super) struct State<'v, 't> {
    pub(super) view: &'v View<'t>,
    pub(super) options: &'v Options,
    /// Reported over estimated tokens.
    pub(super) scale: f64,
    forced_tool: Option<&'v str>,
    /// Entries that are pinned.
    pinned: Vec<bool>,
    recent: Recent,
    in_force: BTreeMap<usize, InForce>,
    /// For an entry, how many edits in force point at it.
    targets: Vec<u32>,
    /// Tokens of messages before each, in full.
    prefix: Vec<u64>,
    saved: u64,
    /// Length of the history at the call that is looked at.
    pub(super) length: usize,
    registered: usize,
    opened: usize,
    queues: [BTreeSet<usize>; PASSES.len()],
    pub(super) copies: Copies<'v, 't>,
    pub(super) reads: Reads,
}

impl<'v, 't> State<'v, 't> {
    pub(super) fn new(view: &'v View<'t>, options: &'v Options, forced_tool: Option<&'v str>) -> Self {
        let mut prefix = Vec::with_capacity(view.messages.len() + 1);
        let mut sum = u64::from(view.overhead.tokens);
        prefix.push(sum);
        for message in &view.messages {
            sum += u64::from(message.fixed.tokens);
            sum += view.entries[message.entries.clone()].iter().map(|entry| u64::from(entry.size.tokens)).sum::<u64>();
            prefix.push(sum);
        }
        State {
            view,
            options,
            scale: 1.0,
            forced_tool,
            pinned: pinned(view, options),
            recent: Recent::new(view, options.protect_recent_turns),
            in_force: BTreeMap::new(),
            targets: vec![0; view.entries.len()],
            prefix,
            saved: 0,
            length: 0,
            registered: 0,
            opened: 0,
            queues: Default::default(),
            copies: Copies::new(view),
            reads: Reads::default(),
        }
    }

    /// The edits in force, ascending.
    pub(super) fn edits(&self) -> impl Iterator<Item = (usize, &Rc<Edit>)> {
        self.in_force.iter().map(|(entry, in_force)| (*entry, &in_force.edit))
    }

    /// Whether an edit of the entry is in force.
    pub(super) fn is_edited(&self, entry: usize) -> bool {
        self.in_force.contains_key(&entry)
    }

    /// Whether an edit in force points at an entry.
    pub(super) fn is_target(&self, entry: usize) -> bool {
        self.targets[entry] > 0
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

    /// Puts a carried edit in force.
    pub(super) fn restore(&mut self, entry: usize, edit: Rc<Edit>) {
        self.put(entry, edit);
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
        released.iter().for_each(|entry| self.take(*entry));
        released
    }

    /// Takes one model call: folds if it is over the limit, and reaches the target or is worth it.
    pub(super) fn step(&mut self, call: Call) -> Option<Fold> {
        self.length = call.length;
        let limit = self.options.limit_tokens().filter(|_| self.options.when == When::Budget)?;
        if self.scaled(self.unscaled()) <= limit {
            return None;
        }
        self.register();
        let target = (f64::from(limit) * self.options.floor_ratio).floor() as u32;
        let over_window = self.is_over_window();
        let made = self.attempt(target);
        let first = *made.first()?;
        let rewrite =
            Rewrite { saved: made.iter().map(|entry| self.in_force[entry].saved).sum(), cached: self.cached_from(first, &made, call.cached) };
        let calls = self.options.expected_calls.map_or(call.earlier.max(10) as u64, u64::from);
        let reached = self.scaled(self.unscaled()) <= target;
        if reached || over_window || rewrite.saved * 10 >= u64::from(limit) || rewrite.pays(&self.options.cache, calls) {
            for queue in &mut self.queues {
                made.iter().for_each(|entry| _ = queue.remove(entry));
            }
            return Some(Fold { made, rewrite });
        }
        made.iter().for_each(|entry| self.take(*entry));
        None
    }

    fn is_over_window(&self) -> bool {
        self.options.fit_to_window && self.options.window_tokens().is_some_and(|window| self.scaled(self.unscaled()) > window)
    }

    /// Over a limit: tokens left if every eligible edit were made, and how many edits that takes. Changes nothing.
    pub(super) fn floor(&mut self) -> (u64, usize) {
        let limit = self.options.limit_tokens().into_iter().chain(self.options.window_tokens()).min();
        if limit.is_none_or(|limit| self.scaled(self.unscaled()) <= limit) {
            return (self.unscaled(), 0);
        }
        self.register();
        let made = self.attempt(0);
        let floor = self.unscaled();
        made.iter().for_each(|entry| self.take(*entry));
        (floor, made.len())
    }

    /// Tokens in the cache from the message of `first` on, as they were rendered before `made`.
    fn cached_from(&self, first: usize, made: &[usize], cached: usize) -> u64 {
        let from = self.view.entries[first].message;
        let Some(full) = self.prefix[cached].checked_sub(self.prefix[from]) else {
            return 0;
        };
        let behind = self.in_force.range(first..).take_while(|(entry, _)| self.view.entries[**entry].message < cached);
        full - behind.filter(|(entry, _)| made.binary_search(entry).is_err()).map(|(_, in_force)| in_force.saved).sum::<u64>()
    }

    /// Runs the passes in order until the target is reached; returns the entries that got an edit.
    fn attempt(&mut self, target: u32) -> Vec<usize> {
        let mut made = Vec::new();
        for (pass, rule) in PASSES.into_iter().enumerate() {
            let queue = std::mem::take(&mut self.queues[pass]);
            let mut hopeless = Vec::new();
            for &entry in &queue {
                if self.scaled(self.unscaled()) <= target {
                    break;
                }
                if self.is_edited(entry) {
                    continue;
                }
                match self.propose(rule, entry) {
                    Proposal::Edit(edit) => {
                        self.put(entry, Rc::new(edit));
                        made.push(entry);
                    }
                    Proposal::NotNow => {}
                    Proposal::Never => hopeless.push(entry),
                }
            }
            self.queues[pass] = queue;
            hopeless.iter().for_each(|entry| _ = self.queues[pass].remove(entry));
        }
        made.sort_unstable();
        made
    }

    fn propose(&self, rule: Rule, entry: usize) -> Proposal {
        match rule {
            Rule::Duplicate => super::duplicates::propose(self, entry),
            Rule::Superseded => super::superseded::propose(self, entry),
            Rule::Truncated => truncation::propose(self, entry),
            Rule::Reasoning => reasoning::propose(self, entry),
        }
    }

    /// Looks at what came since the last time, then opens what protection has left.
    fn register(&mut self) {
        let (view, options) = (self.view, self.options);
        let end = self.length.checked_sub(1).map_or(0, |last| view.messages[last].entries.end);
        for entry in self.registered..end {
            if view.entries[entry].kind != EntryKind::Result || view.entries[entry].tool_call.is_none() {
                continue;
            }
            if options.collapse_duplicate_results {
                self.copies.add(view, entry);
            }
            if options.elide_superseded_reads {
                let mut superseded = self.reads.add(view, options, entry);
                superseded.retain(|older| *older < self.opened && !self.is_kept(*older));
                self.queues[1].extend(superseded);
            }
        }
        self.registered = self.registered.max(end);
        let protect_from = self.recent.protect_from(self.length);
        let end = protect_from.checked_sub(1).map_or(0, |last| view.messages[last].entries.end);
        for entry in self.opened..end {
            if !self.is_kept(entry) {
                self.open(entry);
            }
        }
        self.opened = self.opened.max(end);
    }

    /// Puts an entry that protection has left into the queue of each pass that might shorten it.
    fn open(&mut self, entry: usize) {
        let (found, options) = (&self.view.entries[entry], self.options);
        match found.kind {
            EntryKind::Text => return,
            EntryKind::Reasoning if options.drop_reasoning && !found.required => _ = self.queues[3].insert(entry),
            EntryKind::Reasoning => return,
            EntryKind::Result => {}
        }
        if self.copies.has_earlier(self.view, entry) {
            self.queues[0].insert(entry);
        }
        if self.reads.is_superseded(entry) {
            self.queues[1].insert(entry);
        }
        if found.kind == EntryKind::Result && found.size.bytes as usize > options.max_tool_result_bytes {
            self.queues[2].insert(entry);
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

    fn put(&mut self, entry: usize, edit: Rc<Edit>) {
        let before = self.view.entries[entry].size.tokens;
        let after = render::tokens(self.view.entries[entry].text(), &edit.pieces);
        let saved = u64::from(before.saturating_sub(after));
        if let Some(target) = self.target_of(&edit) {
            self.targets[target] += 1;
        }
        self.saved += saved;
        self.in_force.insert(entry, InForce { edit, saved });
    }

    fn take(&mut self, entry: usize) {
        let Some(InForce { edit, saved }) = self.in_force.remove(&entry) else {
            return;
        };
        self.saved -= saved;
        if let Some(target) = self.target_of(&edit) {
            self.targets[target] -= 1;
        }
    }

    fn target_of(&self, edit: &Edit) -> Option<usize> {
        let Target { message, part, .. } = edit.target.as_ref()?;
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
