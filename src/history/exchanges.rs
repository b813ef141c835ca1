//! Exchanges: an answer of the model and the results of its tool calls, which live and die together.
//!
//! ```
//! use warmfold::{history::exchanges, Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]}"#)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let found: Vec<_> = exchanges::of(&view, 0..view.messages.len()).collect();
//! assert_eq!((found.len(), found[0].messages.clone(), found[0].follows_user), (1, 1..2, true));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::ops::Range;
use std::rc::Rc;

use super::actions::Action;
use super::findings::Findings;
use super::kinds::ToolKind;
use super::phase::{Did, Phase, Phases};
use super::{EntryKind, Role, View};

/// An answer of the model with the results of its tool calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its messages: the answer, and those of results only that follow. Where a result stands in a message of the user's own, that one is
    /// not among them.
    pub messages: Range<usize>,
    /// Its entries, results in messages of the user's own included, as indices into [`View::entries`].
    pub entries: Range<usize>,
    /// Its tool calls, as indices into [`View::tool_calls`].
    pub calls: Range<usize>,
    /// Whether the user has said something since the exchange before.
    pub follows_user: bool,
}

/// The exchanges that begin among these messages of a history, in order.
pub fn of<'v>(view: &'v View<'_>, messages: Range<usize>) -> impl Iterator<Item = Exchange> + 'v {
    let (mut at, last) = (messages.start, messages.end.min(view.messages.len()));
    let mut follows_user = messages.start == 0 || view.messages.get(messages.start - 1).is_some_and(|message| said(message.role, message.authored));
    std::iter::from_fn(move || {
        while at < last && !view.begins_answer(at) {
            follows_user |= said(view.messages[at].role, view.messages[at].authored);
            at += 1;
        }
        let first = view.messages.get(at).filter(|_| at < last)?;
        let start = at;
        at += 1;
        while at < view.messages.len() && view.messages[at].role == Role::Assistant && view.messages[at].continues {
            at += 1;
        }
        let is_result = |message: &super::Message| message.role == Role::Tool || (message.role == Role::User && !message.authored);
        while at < view.messages.len() && is_result(&view.messages[at]) {
            at += 1;
        }
        let next = (at..view.messages.len()).find(|next| view.messages[*next].role == Role::Assistant);
        let entries = first.entries.start..next.map_or(view.entries.len(), |next| view.messages[next].entries.start);
        let calls = view.calls_of(start).start..view.calls_of(at - 1).end;
        let found = Exchange { messages: start..at, entries, calls, follows_user };
        follows_user = false;
        Some(found)
    })
}

fn said(role: Role, authored: bool) -> bool {
    role == Role::User && authored
}

/// How the tool calls of a history are read.
pub struct Reading<'r> {
    /// What a tool call does.
    pub action: &'r dyn Fn(usize) -> Rc<Action>,
    /// The host's word on the phase of a tool, by its name.
    pub told: &'r dyn Fn(&str) -> Option<Phase>,
    /// Whether what only runs something is asked for what it found, as what verifies always is.
    pub reads_runs: bool,
}

/// A tool call and what came of it.
#[derive(Clone, Debug)]
pub struct CallFacts {
    /// What it does.
    pub action: Rc<Action>,
    /// The host's word on its phase.
    pub told: Option<Phase>,
    /// Whether the host or the first words of a result say that the call failed.
    pub failed: bool,
    /// What builds and tests found.
    pub findings: Findings,
}

impl CallFacts {
    fn did(&self) -> Did {
        Did { kind: self.action.kind, told: self.told, failed: self.failed || self.findings.is_failure() }
    }
}

impl Exchange {
    /// Its tool calls and what came of them; `error` is called with each line that says of an error.
    pub fn facts(&self, view: &View<'_>, reading: &Reading<'_>, error: &mut dyn FnMut(&str)) -> Vec<CallFacts> {
        let fact = |call| CallFacts {
            action: (reading.action)(call),
            told: (reading.told)(view.tool_calls[call].name),
            failed: false,
            findings: Findings::default(),
        };
        let mut facts: Vec<CallFacts> = self.calls.clone().map(fact).collect();
        for entry in view.entries[self.entries.clone()].iter().filter(|entry| entry.kind == EntryKind::Result) {
            let call = entry.tool_call.and_then(|call| call.checked_sub(self.calls.start));
            let Some(fact) = call.and_then(|call| facts.get_mut(call)) else { continue };
            let (text, has_failed) = (entry.text(), entry.has_failed());
            let finds = match fact.action.kind {
                ToolKind::Verify => true,
                ToolKind::Run if reading.reads_runs => true,
                _ => fact.told == Some(Phase::Verification),
            };
            let found = if finds { Findings::read(text, &mut *error) } else { Findings::default() };
            if has_failed && found.errors == 0 {
                error(text.lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or(""));
            }
            fact.failed |= has_failed;
            fact.findings += found;
        }
        facts
    }

    /// Its phase, to which `phases` goes on.
    pub fn phase(&self, facts: &[CallFacts], phases: &mut Phases) -> Option<Phase> {
        if self.follows_user {
            phases.turn();
        }
        let did: Vec<Did> = facts.iter().map(CallFacts::did).collect();
        phases.exchange(&did)
    }
}
