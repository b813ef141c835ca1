//! Phases of work: looking around, changing, checking, answering.
//!
//! The kinds of an exchange's calls tell its phase, from whatever phase the work was in: what looks ([`ToolKind::Read`], `Search`, `List`,
//! `Fetch`) explores, `Write` executes, `Verify` verifies, and an answer without tool calls concludes. Of several calls in one exchange the
//! furthest counts; `Run`, `Memory` and `Other` change nothing. Two things are remembered: what looks after a check that failed still looks
//! into that failure and stays in verification, until a write leads back to execution; and each turn of the user begins with exploration.
//! Before the first tool call there is no phase.
//!
//! ```
//! use warmfold::history::kinds::ToolKind;
//! use warmfold::history::phase::{Did, Phase, Phases};
//!
//! let mut phases = Phases::default();
//! assert_eq!(phases.exchange(&[]), None); // only talk so far
//! assert_eq!(phases.exchange(&[Did::of(ToolKind::Read)]), Some(Phase::Exploration));
//! assert_eq!(phases.exchange(&[Did::of(ToolKind::Write)]), Some(Phase::Execution));
//! assert_eq!(phases.exchange(&[Did { failed: true, ..Did::of(ToolKind::Verify) }]), Some(Phase::Verification));
//! assert_eq!(phases.exchange(&[Did::of(ToolKind::Read)]), Some(Phase::Verification)); // why did it fail?
//! assert_eq!(phases.exchange(&[Did::of(ToolKind::Write)]), Some(Phase::Execution));
//! assert_eq!(phases.exchange(&[]), Some(Phase::Conclusion));
//! ```

use serde::Serialize;

use super::kinds::ToolKind;

/// A phase of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Reads, searches, lists.
    Exploration,
    /// Changes something.
    Execution,
    /// Builds, tests, lints.
    Verification,
    /// Answers.
    Conclusion,
}

impl Phase {
    /// All phases by name.
    pub const NAMES: &[(&str, Phase); 4] = &[
        ("exploration", Phase::Exploration),
        ("execution", Phase::Execution),
        ("verification", Phase::Verification),
        ("conclusion", Phase::Conclusion),
    ];

    /// The phase that a tool call of this kind leads to, if it leads anywhere.
    pub fn of_kind(kind: ToolKind) -> Option<Phase> {
        match kind {
            ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch => Some(Phase::Exploration),
            ToolKind::Write => Some(Phase::Execution),
            ToolKind::Verify => Some(Phase::Verification),
            ToolKind::Run | ToolKind::Memory | ToolKind::Other => None,
        }
    }
}

/// A tool call, as far as phases ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Did {
    /// What it does.
    pub kind: ToolKind,
    /// The host's word on the tool's phase, which goes before its kind.
    pub told: Option<Phase>,
    /// Whether it failed, or found that something does.
    pub failed: bool,
}

impl Did {
    /// A call of this kind that went well.
    pub fn of(kind: ToolKind) -> Did {
        Did { kind, told: None, failed: false }
    }

    fn phase(self) -> Option<Phase> {
        self.told.or_else(|| Phase::of_kind(self.kind))
    }
}

/// Where the work is. It takes one exchange at a time, so that messages that follow cost only themselves; a copy of it goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    phase: Option<Phase>,
    /// Whether the last check failed, and nothing was changed since.
    failing: bool,
}

impl Phases {
    /// The phase of the last exchange; of the next one, if its calls lead nowhere. `None` before the first tool call.
    pub fn current(self) -> Option<Phase> {
        self.phase
    }

    /// The user says something: work begins anew.
    pub fn turn(&mut self) {
        *self = Phases { phase: self.phase.map(|_| Phase::Exploration), failing: false };
    }

    /// The phase of the next exchange, which made these calls.
    pub fn exchange(&mut self, calls: &[Did]) -> Option<Phase> {
        let furthest = calls.iter().filter_map(|call| call.phase()).max();
        let begun = self.phase.unwrap_or(Phase::Exploration);
        self.phase = match furthest {
            None if calls.is_empty() => self.phase.map(|_| Phase::Conclusion),
            None => Some(begun),
            Some(Phase::Exploration) if self.failing && calls.iter().all(|call| call.told.is_none()) => Some(Phase::Verification),
            further => further,
        };
        let mut checks = calls.iter().filter(|call| call.phase() == Some(Phase::Verification)).peekable();
        self.failing = match self.phase {
            Some(Phase::Verification) if checks.peek().is_some() => checks.any(|call| call.failed),
            Some(Phase::Verification) => self.failing,
            _ => false,
        };
        self.phase
    }
}
