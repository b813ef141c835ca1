//! Until when an entry waits, told from the history alone: nothing of it is stored.

use std::rc::Rc;

use super::state::State;
use crate::history::EntryKind;
use crate::plan::{Edit, Rule};

impl State<'_> {
    /// The first call that sends a message.
    pub(super) fn first_call(&self, message: usize) -> usize {
        self.calls.partition_point(|length| *length <= message)
    }

    /// The call whose history had this length.
    pub(super) fn call_of_length(&self, length: usize) -> usize {
        self.calls.partition_point(|earlier| *earlier < length)
    }

    /// The call whose answer a message is, or a part of it.
    fn call_of_answer(&self, message: usize) -> usize {
        self.first_call(message).saturating_sub(1)
    }

    /// The first call at which an entry's age and its protection allow an edit.
    pub(super) fn ready(&self, entry: usize, protect_calls: usize) -> usize {
        let message = self.view.entries[entry].message;
        let left = self.calls.partition_point(|length| self.recent.protect_from(*length) <= message);
        left.max(self.first_call(message).saturating_add(protect_calls))
    }

    /// The first call that sends what ended the loop of tool calls which an entry belongs to, if the history knows it by now.
    pub(super) fn loop_ended(&self, entry: usize) -> Option<usize> {
        let ends = self.recent.ends_of_loops(self.view.entries[entry].message, self.length());
        ends.first().map(|end| self.first_call(*end))
    }

    /// The first call that sends the change which made a read stale.
    pub(super) fn changed_with(&self, entry: usize) -> usize {
        self.changes.of(entry).map_or(0, |change| self.first_call(self.view.entries[change].message))
    }

    /// The same where the text itself is lost: what was fetched again or quoted lately stays longer.
    pub(super) fn ready_to_lose(&self, entry: usize, ready: usize) -> usize {
        let again = self.refetched(entry);
        let aged = if again == 0 { ready } else { self.ready(entry, self.protect_calls(entry).saturating_mul(1 + again)) };
        aged.max(self.quoted_until(entry))
    }

    /// Until when what the model has quoted of an entry holds it.
    fn quoted_until(&self, entry: usize) -> usize {
        let protect = self.options.protect_quoted_calls as usize;
        let until = self.quotes.last(&self.view, entry).map_or(0, |message| self.call_of_answer(message) + protect);
        if let Some(pending) = self.pending.get(entry) {
            pending.held.set(until);
        }
        until
    }

    /// How often the entry's resource was asked for again after an edit had taken it: each time shows that we cut too early.
    fn refetched(&self, entry: usize) -> usize {
        let Some(call) = self.view.entries[entry].tool_call else { return 0 };
        let asked_in = self.view.tool_calls[call].message;
        let cut_before = |edit: &Rc<Edit>| matches!(edit.rule, Rule::Truncated | Rule::Summarized | Rule::Stale) && edit.since <= asked_in;
        self.reads.earlier(&self.view, entry).filter(|earlier| self.edit_of(*earlier).is_some_and(cut_before)).count()
    }

    pub(super) fn protect_calls(&self, entry: usize) -> usize {
        match self.view.entries[entry].kind {
            EntryKind::Result => self.policy_of(entry).protect_calls as usize,
            EntryKind::Text | EntryKind::Reasoning => 0,
        }
    }

    /// Walks on to what the model has quoted by now.
    pub(super) fn look_for_quotes(&mut self) {
        if self.options.protect_quoted_calls > 0 {
            let length = self.length();
            self.quotes.walk(&self.view, length);
        }
    }
}
