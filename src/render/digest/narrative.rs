//! What is told of each phase, in sentences.

use rustc_hash::FxHashSet;

use super::{Call, Condensed, counted, listed};
use crate::history::findings::Findings;
use crate::history::kinds::ToolKind;
use crate::history::phase::Phase;

/// What is told of a phase.
pub(super) struct Told<'e> {
    phase: Option<Phase>,
    groups: Vec<Group<'e>>,
    answers: Vec<&'e str>,
    answered: usize,
    found: Findings,
}

/// Calls that do the same.
struct Group<'e> {
    kind: ToolKind,
    subjects: Vec<&'e str>,
    known: FxHashSet<&'e str>,
    calls: usize,
    failed: usize,
}

impl<'e> Told<'e> {
    pub(super) fn of(phase: Option<Phase>, exchanges: &'e [Condensed]) -> Told<'e> {
        let mut told = Told { phase, groups: Vec::new(), answers: Vec::new(), answered: 0, found: Findings::default() };
        for exchange in exchanges.iter().filter(|exchange| exchange.phase == phase) {
            told.answered += usize::from(exchange.calls.is_empty());
            told.answers.extend(exchange.answer.as_deref().filter(|answer| is_readable(answer)));
            exchange.calls.iter().for_each(|call| told.add(call));
        }
        told
    }

    fn add(&mut self, call: &'e Call) {
        self.found += call.findings;
        let at = self.groups.iter().position(|group| group.kind == call.kind).unwrap_or_else(|| {
            self.groups.push(Group { kind: call.kind, subjects: Vec::new(), known: FxHashSet::default(), calls: 0, failed: 0 });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        group.calls += 1;
        group.failed += usize::from(call.failed);
        let name = std::slice::from_ref(&call.tool);
        for subject in if call.subjects.is_empty() { name } else { &call.subjects } {
            if group.known.insert(subject) {
                group.subjects.push(subject);
            }
        }
    }

    /// `[**Exploration:** Read main.rs, lib.rs (2 reads).]`, with at most so many items in each list.
    pub(super) fn line(&self, most: usize) -> String {
        let name = match self.phase {
            Some(Phase::Exploration) => "Exploration",
            Some(Phase::Execution) => "Execution",
            Some(Phase::Verification) => "Verification",
            Some(Phase::Conclusion) => "Conclusion",
            None => "Before",
        };
        let mut sentences: Vec<String> = self.groups.iter().map(|group| group.sentence(most)).collect();
        let Findings { errors, warnings, failed_tests, passed_tests } = self.found;
        let tests = failed_tests.saturating_add(passed_tests);
        if self.phase == Some(Phase::Verification) || self.found != Findings::default() {
            let tests = if tests > 0 { format!(", {failed_tests} of {} failed", counted(tests as usize, "test", "tests")) } else { String::new() };
            let (errors, warnings) = (counted(errors as usize, "error", "errors"), counted(warnings as usize, "warning", "warnings"));
            sentences.push(format!("Found: {errors}, {warnings}{tests}."));
        }
        if self.answered > 0 {
            let answers = listed(self.answers.iter().copied(), most, "; ");
            let colon = if answers.is_empty() { "" } else { ": " };
            sentences.push(format!("Answered{colon}{answers} ({}).", counted(self.answered, "answer", "answers")));
        }
        format!("[**{name}:** {}]\n", sentences.join(" "))
    }
}

impl Group<'_> {
    fn sentence(&self, most: usize) -> String {
        let (verb, one, many) = match self.kind {
            ToolKind::Read => ("Read ", "read", "reads"),
            ToolKind::Search => ("Searched ", "search", "searches"),
            ToolKind::List => ("Listed ", "listing", "listings"),
            ToolKind::Fetch => ("Fetched ", "fetch", "fetches"),
            ToolKind::Write => ("Edited ", "edit", "edits"),
            ToolKind::Verify => ("", "run", "runs"),
            ToolKind::Run => ("Ran ", "command", "commands"),
            ToolKind::Memory | ToolKind::Other => ("Called ", "call", "calls"),
        };
        let subjects = listed(self.subjects.iter().copied(), most, ", ");
        let calls = counted(self.calls, one, many);
        // Of what verifies, each run once is told by its name; whether it failed, by what it found.
        let amount = match (self.kind, self.failed) {
            (ToolKind::Verify, _) if self.calls == self.subjects.len() && !subjects.is_empty() => return format!("{subjects}."),
            (ToolKind::Verify, _) | (_, 0) => calls,
            (_, failed) => format!("{calls}, {failed} failed"),
        };
        let gap = if subjects.is_empty() { "" } else { " " };
        format!("{verb}{subjects}{gap}({amount}).")
    }
}

/// Whether enough of a text stays when it is escaped.
fn is_readable(text: &str) -> bool {
    let foreign = text.chars().filter(|letter| !letter.is_ascii()).count();
    !text.trim_ascii().is_empty() && foreign * 8 <= text.len()
}
