//! What is in force, what that saves, and what each entry is about.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::by_entry::ByEntry;
use super::marks::{Readable, Sent};
use super::pending::Pending;
use super::segments::Segments;
use super::sums::Sums;
use crate::history::View;
use crate::history::actions::Action;
use crate::history::changes::Changes;
use crate::history::copies::Copies;
use crate::history::kinds::ToolKind;
use crate::history::quotes::Quotes;
use crate::history::reads::Reads;
use crate::history::turns::{self, Recent};
use crate::options::{KindPolicy, Options};
use crate::plan::{Edit, Rule, Standing, Target};
use crate::render;

/// An edit in force, and the tokens that it saves.
pub(super) struct InForce {
    pub(super) edit: Rc<Edit>,
    pub(super) saved: u64,
}

pub(super) struct State<'t> {
    pub(super) view: Rc<View<'t>>,
    pub(super) options: Rc<Options>,
    /// Lengths of the history at each call, this one last.
    pub(super) calls: Vec<usize>,
    /// Estimated tokens of each entry in full.
    pub(super) tokens: Vec<u32>,
    /// Reported over estimated tokens.
    pub(super) scale: f64,
    /// Entries that are pinned.
    pub(super) pinned: Vec<bool>,
    /// Entries that stay whole however old they are, as far as that was asked.
    pub(super) kept: Vec<OnceCell<bool>>,
    pub(super) recent: Recent,
    pub(super) in_force: ByEntry<InForce>,
    /// Segments in force, ascending.
    pub(super) segments: Segments,
    /// For an entry, how many duplicates in force say that they are like it.
    originals: Vec<u32>,
    /// Tokens of messages before each, in full.
    prefix: Vec<u64>,
    /// Tokens that the edits in force save, by entry.
    saved_by: Sums,
    /// The same in all.
    pub(super) saved: u64,
    /// The call that is looked at.
    pub(super) call: usize,
    /// Messages whose rendering the provider has cached from the call before.
    pub(super) cached: usize,
    /// Entries before this one have come.
    pub(super) registered: usize,
    /// Protection has left the entries before this one.
    pub(super) opened: usize,
    /// The message that ended the last loop of tool calls.
    pub(super) loop_start: usize,
    /// The entries that a pass might shorten.
    pub(super) pending: ByEntry<Pending>,
    pub(super) actions: Vec<OnceCell<Rc<Action>>>,
    pub(super) copies: Copies,
    pub(super) reads: Reads,
    pub(super) changes: Changes,
    pub(super) quotes: Quotes,
}

impl<'t> State<'t> {
    /// Nothing has been walked; what was carried is in force.
    pub(super) fn new(view: Rc<View<'t>>, options: Rc<Options>, carried: &Standing) -> Self {
        let mut state = State {
            recent: Recent::new(&view, options.protect_recent_turns),
            calls: Vec::new(),
            tokens: Vec::with_capacity(view.entries.len()),
            scale: 1.0,
            pinned: Vec::new(),
            kept: Vec::new(),
            in_force: ByEntry::default(),
            segments: Segments::default(),
            originals: Vec::new(),
            prefix: vec![u64::from(view.overhead.tokens)],
            saved_by: Sums::new(),
            saved: 0,
            call: 0,
            cached: 0,
            registered: 0,
            opened: 0,
            loop_start: 0,
            pending: ByEntry::default(),
            actions: Vec::new(),
            copies: Copies::default(),
            reads: Reads::default(),
            changes: Changes::default(),
            quotes: Quotes::default(),
            view,
            options,
        };
        let mut known = carried.edits.iter().peekable();
        state.measure(|entry| known.next_if(|(edited, _)| *edited == entry).and_then(|(_, edit)| edit.tokens));
        carried.edits.iter().for_each(|(entry, edit)| _ = state.put(*entry, edit.clone()));
        carried.segments.iter().for_each(|segment| state.put_segment(segment.clone()));
        state
    }

    /// Messages follow those that are there.
    pub(super) fn append(&mut self, read: impl FnOnce(&mut View<'t>) -> crate::Result<()>) -> crate::Result<()> {
        read(Rc::make_mut(&mut self.view))?; // nobody else holds it between calls
        self.recent.walk(&self.view);
        self.measure(|_| None);
        Ok(())
    }

    /// Counts the messages that have come; `known` tells the tokens of entries that need not be counted again.
    fn measure(&mut self, mut known: impl FnMut(usize) -> Option<u32>) {
        let view = &self.view;
        let (first, entries) = (self.prefix.len() - 1, view.entries.len());
        turns::add_calls(&mut self.calls, view, first);
        self.pinned.resize(entries, false);
        self.kept.resize(entries, OnceCell::new());
        for pin in &self.options.pins {
            let entries = view.messages.get(pin.message).map_or(0..0, |message| message.entries.clone());
            for entry in entries.filter(|entry| pin.part.is_none_or(|part| part == view.entries[*entry].part)) {
                self.pinned[entry] = true;
            }
        }
        for message in &view.messages[first..] {
            let mut sum = self.prefix[self.prefix.len() - 1] + u64::from(message.fixed.tokens);
            for entry in message.entries.clone() {
                let tokens = known(entry).unwrap_or_else(|| view.entries[entry].estimate(view.estimator));
                self.tokens.push(tokens);
                sum += u64::from(tokens);
            }
            self.prefix.push(sum);
        }
        self.originals.resize(entries, 0);
        self.saved_by.grow(entries);
        self.in_force.grow(entries);
        self.pending.grow(entries);
        self.segments.grow(entries);
        self.actions.resize(view.tool_calls.len(), OnceCell::new());
    }

    /// Begins anew, with this in force.
    pub(super) fn restart(&mut self, standing: &Standing) {
        *self = State { scale: self.scale, ..State::new(self.view.clone(), self.options.clone(), standing) };
    }

    /// The edits in force, ascending.
    pub(super) fn edits(&self) -> impl Iterator<Item = (usize, &Rc<Edit>)> {
        self.in_force.from(0).map(|(entry, in_force)| (entry, &in_force.edit))
    }

    /// What is in force, to keep.
    pub(super) fn standing(&self) -> Standing {
        Standing { edits: self.edits().map(|(entry, edit)| (entry, edit.clone())).collect(), segments: self.segments().to_vec() }
    }

    /// The edit of an entry.
    pub(super) fn edit_of(&self, entry: usize) -> Option<&Rc<Edit>> {
        self.in_force.get(entry).map(|in_force| &in_force.edit)
    }

    /// Tokens of an entry as it is sent now.
    pub(super) fn tokens_of(&self, entry: usize) -> u64 {
        u64::from(self.tokens[entry]) - self.in_force.get(entry).map_or(0, |in_force| in_force.saved)
    }

    /// Whether the entry is not sent in full.
    pub(super) fn is_edited(&self, entry: usize) -> bool {
        self.in_force.get(entry).is_some() || self.is_gone(entry)
    }

    /// Whether a duplicate in force says that it is like this entry, which therefore stays at least in part.
    pub(super) fn is_original(&self, entry: usize) -> bool {
        self.originals[entry] > 0
    }

    /// What a tool call does; the host's word goes first.
    pub(super) fn action(&self, tool_call: usize) -> &Rc<Action> {
        let tool = self.view.tool_calls[tool_call].name;
        self.actions[tool_call].get_or_init(|| self.view.action(tool_call, self.options.kind_of(tool), self.options.resource_of(tool)))
    }

    /// What the tool call that an entry answers does.
    pub(super) fn action_of(&self, entry: usize) -> Option<&Action> {
        self.view.entries[entry].tool_call.map(|call| &**self.action(call))
    }

    /// Whether that tool call may be made again; the host's word goes first.
    pub(super) fn is_harmless(&self, entry: usize) -> bool {
        let harmless = |call: usize| self.view.is_harmless(call, self.options.kind_of(self.view.tool_calls[call].name));
        self.view.entries[entry].tool_call.is_some_and(harmless)
    }

    /// How results of the entry's kind are cut.
    pub(super) fn policy_of(&self, entry: usize) -> KindPolicy {
        self.options.by_kind.of(self.action_of(entry).map_or(ToolKind::Other, |action| action.kind))
    }

    /// The first message that protection covers.
    pub(super) fn protect_from(&self) -> usize {
        self.recent.protect_from(self.length())
    }

    /// Messages of the history at the call that is looked at.
    pub(super) fn length(&self) -> usize {
        self.calls[self.call]
    }

    /// The first message that the provider reads.
    pub(super) fn read_from(&self) -> usize {
        self.view.read_from(self.length())
    }

    /// Tokens of the history in full, as estimated.
    pub(super) fn raw(&self) -> u64 {
        self.prefix[0] + self.prefix[self.length()] - self.prefix[self.read_from()]
    }

    /// Tokens as planned, as estimated.
    pub(super) fn unscaled(&self) -> u64 {
        self.raw().saturating_sub(self.saved - self.saved_by.before(self.entries_before(self.read_from())))
    }

    /// An estimate, corrected by what usage has taught.
    pub(super) fn scaled(&self, tokens: u64) -> u32 {
        (tokens as f64 * self.scale).round().min(f64::from(u32::MAX)) as u32
    }

    /// Tokens of the messages from this one up to `to`, as they are sent now.
    pub(super) fn tokens_between(&self, from: usize, to: usize) -> u64 {
        let from = from.max(self.read_from());
        if from >= to {
            return 0;
        }
        let saved = self.saved_by.before(self.entries_before(to)) - self.saved_by.before(self.entries_before(from));
        self.prefix_between(&(from..to)).saturating_sub(saved) // a segment saves at its first message
    }

    /// Tokens of these messages in full.
    pub(super) fn prefix_between(&self, messages: &Range<usize>) -> u64 {
        self.prefix[messages.end] - self.prefix[messages.start]
    }

    /// Tokens that are saved of what the provider has cached.
    pub(super) fn saved_of_cached(&self) -> u64 {
        self.saved_by.before(self.entries_before(self.cached))
    }

    /// So many tokens are saved at an entry, or are no more.
    pub(super) fn save(&mut self, entry: usize, tokens: u64, are_saved: bool) {
        if are_saved {
            self.saved += tokens;
            self.saved_by.add(entry, tokens);
        } else {
            self.saved -= tokens;
            self.saved_by.subtract(entry, tokens);
        }
    }

    /// Tokens in the cache that a change behind the first `from` messages makes useless: all, where what stays is too little to be found
    /// again (as estimated: what usage has taught changes no price against another). `saved_since` were sent and are saved by now.
    pub(super) fn cached_behind(&self, from: usize, saved_since: u64) -> u64 {
        if from >= self.cached {
            return 0;
        }
        let before = self.prefix[0] + self.tokens_between(0, from);
        let behind = self.tokens_between(from, self.cached) + saved_since;
        if before >= u64::from(self.options.cache.minimum_tokens) { behind } else { before + behind }
    }

    pub(super) fn entries_before(&self, message: usize) -> usize {
        message.checked_sub(1).map_or(0, |last| self.view.messages[last].entries.end)
    }

    /// Where the request of the call before can be read again.
    pub(super) fn readable(&self) -> Readable {
        Readable::of(&self.view, &self.options, self.edits(), self.segments(), Sent::before(&self.calls, self.call))
    }

    /// Calls still to come.
    pub(super) fn expected_calls(&self) -> u64 {
        self.options.expected_calls.map_or(self.call.max(10) as u64, u64::from)
    }

    /// Puts an edit in force; returns the one that it takes the place of.
    pub(super) fn put(&mut self, entry: usize, edit: Rc<Edit>) -> Option<InForce> {
        let before = self.take(entry);
        let full = self.tokens[entry];
        let saved = u64::from(full.saturating_sub(render::tokens(self.view.estimator, self.view.entries[entry].text(), &edit.pieces)));
        if let Some(original) = self.original_of(&edit) {
            self.originals[original] += 1;
        }
        self.save(entry, saved, true);
        self.in_force.insert(entry, InForce { edit, saved });
        before
    }

    /// Takes an edit out of force.
    pub(super) fn take(&mut self, entry: usize) -> Option<InForce> {
        let taken = self.in_force.remove(entry)?;
        self.save(entry, taken.saved, false);
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

    /// Whether no part of the result that an entry belongs to was edited when this call began to truncate: which of two passes comes
    /// first must not decide whether what truncation left of an older read may go.
    pub(super) fn is_whole(&self, entry: usize) -> bool {
        let message = self.view.entries[entry].message;
        let mut edits = self.in_force.range(self.view.messages[message].entries.clone());
        !self.is_gone(entry) && edits.all(|(_, in_force)| in_force.edit.rule == Rule::Truncated && in_force.edit.since == self.length())
    }
}

/// Below this no edit is made whatever is asked for: one line in place of another of its kind saves nothing.
pub(super) const LEAST_SAVED: usize = 32;
