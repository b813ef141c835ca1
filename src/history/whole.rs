//! Which messages are whole exchanges, so that one message can stand in their place, and where the others stand then.
//!
//! ```
//! use warmfold::{Format, tape::Tape, wire::Request};
//!
//! let call = |id| serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "ls", "arguments": "{}"}}]});
//! let result = |id| serde_json::json!({"role": "tool", "tool_call_id": id, "content": "a.rs"});
//! let user = serde_json::json!({"role": "user", "content": "go"});
//! let request = serde_json::json!({"messages": [user, call("x"), result("x"), call("y"), result("y")]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! assert!(view.is_whole(1..3) && view.is_whole(1..5));
//! assert!(!view.is_whole(1..4) && !view.is_whole(0..3), "a call without its result, and the user's own words");
//! let replaced = [1..3];
//! assert_eq!([0, 1, 2, 3, 4].map(|message| view.returned_at(&replaced, message)), [0, 1, 1, 2, 3]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::ops::Range;

use super::{EntryKind, Required, Role, View};

impl View<'_> {
    /// Whether messages are whole exchanges: answers of the model and all results of their calls, nothing that the user or the system says,
    /// and nothing that what is left points at. Where results share the next message with the user's words, that message is not among them:
    /// it loses those results and keeps all else.
    pub fn is_whole(&self, messages: Range<usize>) -> bool {
        let is_said = |role: Role| matches!(role, Role::Assistant | Role::Tool);
        let held = self.messages.get(messages.clone()).unwrap_or(&[]);
        held.first().is_some_and(|first| first.role == Role::Assistant)
            && held.iter().all(|message| is_said(message.role))
            && self.is_closed(messages)
    }

    /// Whether nothing that is left points into these messages, and nothing in them out: the user's words may be among them, the system's not.
    pub fn is_closed(&self, messages: Range<usize>) -> bool {
        let Range { start, end } = messages;
        let Some(held) = self.messages.get(start..end).filter(|held| !held.is_empty()) else { return false };
        let is_models = |at: usize| self.messages.get(at).is_some_and(|message| message.role == Role::Assistant);
        // What the model writes in a row is not parted: there may be reasoning in it, or a call that the provider runs and its result.
        let is_parted = |at: usize| at > 0 && is_models(at - 1) && is_models(at);
        let may_go = |role: Role| matches!(role, Role::Assistant | Role::Tool | Role::User);
        let may_go = held.iter().all(|message| may_go(message.role) && !message.stays);
        may_go && !is_parted(start) && !is_parted(end) && self.has_all_results(messages) && !self.leaves_calls(start..end)
    }

    /// Whether all calls have their results here, or beside the user's words in the next message, and all results their calls.
    fn has_all_results(&self, messages: Range<usize>) -> bool {
        let Range { start, end } = messages;
        let calls = self.calls_of(start).start..self.calls_of(end).start;
        let is_own = |call: &usize| calls.contains(call);
        let inside = self.answers_in(start..end);
        let before_next_answer = (end..self.messages.len()).take_while(|at| self.messages[*at].role != Role::Assistant).count();
        let behind = self.answers_in(end..end + before_next_answer);
        // One of another call would stand behind the message that is put in, and no longer behind its call.
        let crosses = behind.iter().any(|answer| answer.tool_call.is_none_or(|call| call < calls.start));
        let shares = |message: usize| message == end && self.messages[end].authored && !self.messages[end].stays;
        let shared = behind.iter().filter(|answer| answer.tool_call.as_ref().is_some_and(is_own));
        inside.iter().all(|answer| answer.tool_call.as_ref().is_some_and(is_own))
            && shared.clone().all(|answer| shares(answer.message))
            && inside.len() + shared.count() == calls.len()
            && !crosses
    }

    /// Whether a call stays that may have been made with reasoning which goes: a host may list each call of an answer with its result.
    fn leaves_calls(&self, messages: Range<usize>) -> bool {
        let reasons = |at: usize| {
            let entries = &self.entries[self.messages[at].entries.clone()];
            let is_required = entries.iter().any(|entry| entry.kind == EntryKind::Reasoning && entry.required == Required::Always);
            is_required && entries.len() == 1 && self.calls_of(at).is_empty()
        };
        !self.calls_of(messages.end).is_empty() && messages.into_iter().any(reasons)
    }

    /// Where a message of the history is returned, as an index, if one message stands for each of these ranges: they are ascending and apart.
    /// What stands in a range is returned as that message.
    pub fn returned_at(&self, replaced: &[Range<usize>], message: usize) -> usize {
        let before = replaced.iter().take_while(|range| range.start < message);
        let gone: usize = before.map(|range| range.end.min(message + 1).saturating_sub(range.start + 1)).sum();
        self.shift() + message - gone
    }
}
