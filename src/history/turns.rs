//! What is recent: model calls, turns and the tail.
//!
//! A model call is made before each answer of the model after the first message, and one more is being made now. An answer is an
//! assistant message, with those that continue it.
//! A turn is a user message with content of its own, or one model call's answer, so a tool loop of ten steps is ten turns.
//! The tail is the newest run of results, or of user messages.
//!
//! ```
//! use warmfold::{history::turns, Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}"#)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! assert_eq!(turns::calls(&view), [1, 3]);
//! assert_eq!(turns::Recent::new(&view, 2).protect_from(3), 1);
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::{Role, View};

/// Lengths of the history at each model call, this one last.
pub fn calls(view: &View<'_>) -> Vec<usize> {
    let mut calls = Vec::new();
    add_calls(&mut calls, view, 0);
    calls
}

/// The same after messages from this one on have come: what was the last call then is none unless it was answered.
pub fn add_calls(calls: &mut Vec<usize>, view: &View<'_>, from: usize) {
    calls.pop();
    calls.extend((from.max(1)..view.messages.len()).filter(|&at| view.begins_answer(at)));
    calls.push(view.messages.len());
}

/// Answers where the protected end of any prefix of a history begins, in one walk forwards.
pub struct Recent {
    protected_turns: usize,
    /// Messages that are turns, in order.
    turns: Vec<usize>,
    /// Messages that end a loop of tool calls, in order.
    ends: Vec<usize>,
    /// For each message, where the tail of the prefix that ends with it begins.
    tails: Vec<usize>,
}

impl Recent {
    /// `protected_turns` newest turns and the tail are protected.
    pub fn new(view: &View<'_>, protected_turns: usize) -> Recent {
        let mut recent = Recent { protected_turns, turns: Vec::new(), ends: Vec::new(), tails: Vec::with_capacity(view.messages.len()) };
        recent.walk(view);
        recent
    }

    /// Walks on to the end of the history.
    pub fn walk(&mut self, view: &View<'_>) {
        for (at, message) in view.messages.iter().enumerate().skip(self.tails.len()) {
            let same_role = at > 0 && view.messages[at - 1].role == message.role;
            let same_run = same_role && (message.continues || matches!(message.role, Role::User | Role::Tool));
            self.tails.push(if same_run { self.tails[at - 1] } else { at });
            let is_turn = match message.role {
                Role::User => message.authored,
                _ => view.begins_answer(at),
            };
            if is_turn {
                self.turns.push(at);
            }
            if view.ends_loop(at) {
                self.ends.push(at);
            }
        }
    }

    /// The messages behind this one, among the first `length`, that end a loop of tool calls.
    pub fn ends_of_loops(&self, after: usize, length: usize) -> &[usize] {
        let before = |message| self.ends.partition_point(|end| *end < message);
        &self.ends[before(after + 1)..before(length).max(before(after + 1))]
    }

    /// The first protected message of the prefix of this length.
    pub fn protect_from(&self, length: usize) -> usize {
        let tail = length.checked_sub(1).map_or(0, |last| self.tails[last]);
        let turns = self.turns.partition_point(|&turn| turn < length);
        let recent = match self.protected_turns {
            0 => length,
            count => turns.checked_sub(count).map_or(0, |turn| self.turns[turn]),
        };
        recent.min(tail)
    }
}
