//! What a digest tells of, found in a history.

use std::ops::Range;

use super::{Call, Condensed, MOST_ERRORS, short};
use crate::history::exchanges::{self, CallFacts, Exchange, Reading};
use crate::history::kinds::ToolKind;
use crate::history::phase::Phases;
use crate::history::{EntryKind, Role, View, actions};

/// The exchanges that begin among these messages of a history, told; `phases` goes on with them.
pub fn gather(view: &View<'_>, messages: Range<usize>, phases: &mut Phases, reading: &Reading<'_>) -> Vec<Condensed> {
    let condensed = |exchange: Exchange| {
        let mut errors = Vec::new();
        let facts = exchange.facts(view, reading, &mut |line| {
            if errors.len() < MOST_ERRORS {
                errors.push(short(line));
            }
        });
        let phase = exchange.phase(&facts, phases);
        let calls = exchange.calls.clone().zip(&facts).map(|(call, facts)| call_of(view, call, facts)).collect();
        let answer = if exchange.calls.is_empty() { first_line(view, exchange.messages) } else { None };
        Condensed { phase, calls, errors, answer }
    };
    exchanges::of(view, messages).map(condensed).collect()
}

fn call_of(view: &View<'_>, call: usize, facts: &CallFacts) -> Call {
    let made = &view.tool_calls[call];
    let action = &*facts.action;
    let files = match action.kind {
        ToolKind::Read => &action.reads[..],
        ToolKind::Write => &action.writes[..],
        _ => &[],
    };
    let label = || match action.kind {
        ToolKind::Verify | ToolKind::Run => actions::command_line(made.name, made.arguments?),
        ToolKind::Memory | ToolKind::Other => None,
        _ => action.resource.as_ref().map(|resource| resource.label.clone()),
    };
    let subjects = if files.is_empty() { label().filter(|label| !label.is_empty()).into_iter().collect() } else { files.to_vec() };
    Call {
        tool: made.name.to_owned(),
        kind: action.kind,
        subjects,
        reads: action.reads.clone(),
        writes: action.writes.clone(),
        failed: facts.failed,
        findings: facts.findings,
    }
}

/// Of what the model says in these messages.
fn first_line(view: &View<'_>, messages: Range<usize>) -> Option<String> {
    let said = view.messages[messages].iter().filter(|message| message.role == Role::Assistant).flat_map(|message| message.entries.clone());
    let texts = said.map(|entry| &view.entries[entry]).filter(|entry| entry.kind == EntryKind::Text);
    texts.flat_map(|entry| entry.text().lines()).map(str::trim_ascii).find(|line| !line.is_empty()).map(short)
}
