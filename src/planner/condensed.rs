//! What segments stand for is neither sent nor waits for anything.

use std::ops::Range;
use std::rc::Rc;

use super::state::State;
use crate::history::Role;
use crate::history::kinds::ToolKind;
use crate::plan::Segment;
use crate::render;
use crate::tokens::MESSAGE_OVERHEAD;

impl State<'_> {
    /// The segments in force, ascending.
    pub(super) fn segments(&self) -> &[Rc<Segment>] {
        &self.segments.all
    }

    /// Whether an entry is not sent, since a segment stands for it.
    pub(super) fn is_gone(&self, entry: usize) -> bool {
        self.segments.gone[entry]
    }

    /// Whether a message is not sent, since a segment stands for it.
    pub(super) fn is_condensed(&self, message: usize) -> bool {
        self.segments.of(message).is_some()
    }

    /// Whether an entry is what a tool has remembered.
    pub(super) fn is_memory(&self, entry: usize) -> bool {
        self.action_of(entry).is_some_and(|action| action.kind == ToolKind::Memory)
    }

    /// The entries that go with messages: theirs, and results of their calls that stand beside the user's words behind them.
    fn entries_with(&self, messages: &Range<usize>) -> Vec<usize> {
        let beside =
            self.view.messages.get(messages.end).filter(|message| message.role != Role::Assistant).map_or(0..0, |message| message.entries.clone());
        let is_theirs =
            |entry: &usize| self.view.entries[*entry].tool_call.is_some_and(|call| messages.contains(&self.view.tool_calls[call].message));
        (self.entries_before(messages.start)..self.entries_before(messages.end)).chain(beside.filter(is_theirs)).collect()
    }

    /// Tokens of messages and of all that goes with them, as they are sent now.
    pub(super) fn tokens_of_messages(&self, messages: &Range<usize>) -> u64 {
        let inside = self.entries_before(messages.end);
        let beside =
            self.entries_with(messages).into_iter().filter(|entry| *entry >= inside && !self.is_gone(*entry)).map(|entry| self.tokens_of(entry));
        self.tokens_between(messages.start, messages.end) + beside.sum::<u64>()
    }

    /// The same in bytes.
    pub(super) fn bytes_of_messages(&self, messages: &Range<usize>) -> u64 {
        let fixed = messages.clone().filter(|message| !self.is_condensed(*message)).map(|message| u64::from(self.view.messages[message].fixed.bytes));
        let sent = self.entries_with(messages).into_iter().filter(|entry| !self.is_gone(*entry));
        let entries =
            sent.map(|entry| self.edit_of(entry).map_or(u64::from(self.view.entries[entry].bytes), |edit| render::length(&edit.pieces) as u64));
        let within = self.segments.all.iter().filter(|segment| messages.contains(&segment.from)).map(|segment| segment.text.len() as u64);
        fixed.sum::<u64>() + entries.sum::<u64>() + within.sum::<u64>()
    }

    /// Tokens that the message of a segment takes.
    pub(super) fn tokens_of_segment(&self, text: &str) -> u64 {
        u64::from(self.view.estimator.text(text) + MESSAGE_OVERHEAD)
    }

    /// Puts a segment in force: edits of what it stands for go.
    pub(super) fn put_segment(&mut self, segment: Rc<Segment>) {
        let messages = segment.messages();
        let entries = self.entries_with(&messages);
        let inside = self.entries_before(messages.end);
        let mut full = self.prefix_between(&messages);
        let mut originals = Vec::new();
        for entry in entries {
            let original = self.take(entry).and_then(|taken| self.original_of(&taken.edit));
            originals.extend(original);
            self.pending.remove(entry);
            self.segments.gone[entry] = true;
            full += if entry >= inside { u64::from(self.tokens[entry]) } else { 0 };
        }
        // What was kept whole for a copy that is gone may go, too.
        for original in originals {
            if original < self.opened && !self.is_original(original) && !self.is_kept(original) && !self.is_edited(original) {
                self.open(original);
            }
        }
        let saved = full.saturating_sub(self.tokens_of_segment(&segment.text));
        self.save(self.entries_before(messages.start), saved, true);
        self.segments.insert(segment, saved);
    }

    /// Takes those segments out of force that lie in these messages.
    pub(super) fn take_segments(&mut self, messages: &Range<usize>) -> Vec<Rc<Segment>> {
        let taken = self.segments.take(messages);
        for (segment, saved) in &taken {
            self.save(self.entries_before(segment.from), *saved, false);
            for entry in self.entries_with(&segment.messages()) {
                self.segments.gone[entry] = false;
            }
        }
        taken.into_iter().map(|(segment, _)| segment).collect()
    }
}
