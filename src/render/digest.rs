//! Whole exchanges in a few lines: what was read, changed and checked in each phase, told mechanically.
//!
//! Every line is one of ASCII in brackets, as all that we generate: the first says whose doing it is, each further one what happened in a
//! phase. Lists are in the order in which their items came first, and are cut to fit: the rest is counted.
//!
//! ```
//! use warmfold::history::{findings::Findings, kinds::ToolKind, phase::Phase};
//! use warmfold::render::digest::{Call, Condensed, Digest};
//!
//! let read = |file: &str| Call { subjects: vec![file.into()], ..Call::of("read_file", ToolKind::Read) };
//! let explored = Condensed { phase: Some(Phase::Exploration), calls: vec![read("main.rs"), read("lib.rs")], ..Condensed::default() };
//! let digest = Digest::of("warmfold", 4, &[explored], 2048);
//! assert_eq!(digest.text, "[warmfold: 4 messages condensed by the host's context manager to save context; nothing failed by that]\n\
//!                          [**Exploration:** Read main.rs, lib.rs (2 reads).]\n");
//! assert_eq!(digest.summary.calls[0].calls, 2);
//! ```

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::breadcrumb::plain;
use crate::history::findings::Findings;
use crate::history::kinds::ToolKind;
use crate::history::phase::Phase;
use narrative::Told;

mod gather;
mod narrative;

pub use gather::gather;

/// Distinct errors that a summary holds.
const MOST_ERRORS: usize = 16;

/// Bytes of an error's line that are kept, at the most.
const LONGEST_ERROR: usize = 120;

/// An exchange, as far as a digest tells of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condensed {
    /// Its phase; `None` before the first tool call.
    pub phase: Option<Phase>,
    /// Its tool calls.
    pub calls: Vec<Call>,
    /// Lines of its results that say of an error.
    pub errors: Vec<String>,
    /// The first line of what the model says in it, where it calls no tool.
    pub answer: Option<String>,
}

/// A tool call, as far as a digest tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What it does.
    pub kind: ToolKind,
    /// What it is about, for people: files, a pattern, a command line. Empty: the tool's name has to do.
    pub subjects: Vec<String>,
    /// Files that it shows.
    pub reads: Vec<String>,
    /// Files that it changes.
    pub writes: Vec<String>,
    /// Whether it failed.
    pub failed: bool,
    /// What builds and tests found.
    pub findings: Findings,
}

impl Call {
    /// A call of a tool that went well.
    pub fn of(tool: &str, kind: ToolKind) -> Call {
        Call {
            tool: tool.to_owned(),
            kind,
            subjects: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            failed: false,
            findings: Findings::default(),
        }
    }
}

/// What happened in condensed exchanges, as data. Names are as the history has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionSummary {
    /// Messages that were condensed.
    pub messages: usize,
    /// Calls by tool.
    pub calls: Vec<ToolCalls>,
    /// What builds and tests found, all together.
    pub findings: Findings,
    /// Exchanges by phase.
    pub phases: Vec<PhaseExchanges>,
    /// Files that were shown.
    pub files_read: Vec<String>,
    /// Files that were changed.
    pub files_edited: Vec<String>,
    /// The first lines of distinct errors, at most sixteen of at most 120 bytes.
    pub errors: Vec<String>,
    /// A narrative in the words of a model, where the host has one written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// Calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolCalls {
    /// Its name.
    pub tool: String,
    /// How often it was called.
    pub calls: usize,
    /// How many of the calls failed.
    pub failed: usize,
}

/// Exchanges of one phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PhaseExchanges {
    /// The phase; `None` for exchanges before the first tool call.
    pub phase: Option<Phase>,
    /// How many.
    pub exchanges: usize,
}

/// Condensed exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// What happened, as data.
    pub summary: CompactionSummary,
    /// What is sent in place of them: lines, each in brackets.
    pub text: String,
}

impl Digest {
    /// Of exchanges that are so many messages. The text is no longer than `room` bytes, except that its first line always stands.
    pub fn of(label: &str, messages: usize, exchanges: &[Condensed], room: usize) -> Digest {
        let summary = CompactionSummary::of(messages, exchanges);
        let phases: Vec<Told<'_>> = summary.phases.iter().map(|phase| Told::of(phase.phase, exchanges)).collect();
        let first = format!(
            "[{label}: {} condensed by the host's context manager to save context; nothing failed by that]\n",
            counted(messages, "message", "messages")
        );
        let text = |items: usize| {
            let mut lines: Vec<String> = phases.iter().map(|told| told.line(items)).collect();
            if !summary.errors.is_empty() && items > 0 {
                let errors: Vec<String> = summary.errors.iter().map(|line| line.replace('[', "(").replace(']', ")")).collect();
                lines.push(format!("[Errors: {}]\n", listed(errors.iter().map(String::as_str), items, "; ")));
            }
            lines
        };
        let length = |lines: &[String]| first.len() + lines.iter().map(String::len).sum::<usize>();
        let mut lines = [24, 12, 6, 3, 1, 0].into_iter().map(text).find(|lines| length(lines) <= room).unwrap_or_else(|| text(0));
        while length(&lines) > room && lines.pop().is_some() {}
        Digest { summary, text: first + &lines.concat() }
    }
}

impl CompactionSummary {
    /// Of exchanges that are so many messages.
    pub fn of(messages: usize, exchanges: &[Condensed]) -> CompactionSummary {
        let mut summary = CompactionSummary { messages, ..CompactionSummary::default() };
        let mut tools: FxHashMap<&str, usize> = FxHashMap::default();
        for exchange in exchanges {
            match summary.phases.iter_mut().find(|known| known.phase == exchange.phase) {
                Some(known) => known.exchanges += 1,
                None => summary.phases.push(PhaseExchanges { phase: exchange.phase, exchanges: 1 }),
            }
            for call in &exchange.calls {
                let at = *tools.entry(&call.tool).or_insert_with(|| {
                    summary.calls.push(ToolCalls { tool: call.tool.clone(), calls: 0, failed: 0 });
                    summary.calls.len() - 1
                });
                let known = &mut summary.calls[at];
                (known.calls, known.failed) = (known.calls + 1, known.failed + usize::from(call.failed));
                summary.findings += call.findings;
            }
            for line in exchange.errors.iter().filter(|line| !line.is_empty()) {
                let line = short(line);
                if summary.errors.len() < MOST_ERRORS && !summary.errors.contains(&line) {
                    summary.errors.push(line);
                }
            }
        }
        let calls = || exchanges.iter().flat_map(|exchange| &exchange.calls);
        summary.files_read = distinct(calls().flat_map(|call| &call.reads));
        summary.files_edited = distinct(calls().flat_map(|call| &call.writes));
        summary
    }
}

/// Each once, in the order in which they came first.
fn distinct<'t>(texts: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut known = FxHashSet::default();
    texts.filter(|text| known.insert(text.as_str())).cloned().collect()
}

fn short(line: &str) -> String {
    let line = line.trim_ascii();
    let end = (0..=LONGEST_ERROR.min(line.len())).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
    line[..end].to_owned()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// So many items, escaped, and how many there are beside them.
fn listed<'t>(items: impl ExactSizeIterator<Item = &'t str>, most: usize, separator: &str) -> String {
    let more = items.len().saturating_sub(most);
    let shown: Vec<String> = items.take(most).map(plain).collect();
    let shown = shown.join(separator);
    match more {
        0 => shown,
        _ if shown.is_empty() => shown,
        more => format!("{shown} and {more} more"),
    }
}
