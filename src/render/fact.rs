//! A result in one line of fact, without what a breadcrumb says around it.
//!
//! ```
//! use warmfold::history::kinds::ToolKind;
//! use warmfold::render::{fact, outline::Source};
//!
//! let source = Source { text: "a\nb\n", kind: ToolKind::Read, about: Some("src/a.rs") };
//! assert_eq!(fact::of(&source, "read"), "read src/a.rs (2 lines)");
//! ```

use super::breadcrumb::plain;
use super::outline::Source;
use crate::bytes;
use crate::history::kinds::ToolKind;
use crate::history::outcome::{Outcome, Sign, shown};

/// Bytes of a name or of a line that is told, at the most.
const LONGEST: usize = 80;

/// Printable ASCII without brackets, some 250 bytes at the most.
pub fn of(source: &Source<'_>, tool: &str) -> String {
    let Source { text, kind, about } = *source;
    let about = about.filter(|about| !about.is_empty()).map(|about| short(about.lines().next().unwrap_or("")));
    let named = |tool: &str| [short(tool).as_str(), about.as_ref().map_or("", |_| " "), about.as_deref().unwrap_or("")].concat();
    let lines = bytes::count(text.as_bytes(), b'\n') as usize + usize::from(!text.is_empty() && !text.ends_with('\n'));
    match kind {
        ToolKind::Read | ToolKind::Fetch => format!("{} ({})", named(tool), many(lines, "line")),
        ToolKind::Search => format!("{}: {}", named(tool), many(told(text), "hit")),
        ToolKind::List => format!("{}: {}", named(tool), many(told(text), "entr")),
        ToolKind::Write => named(tool),
        ToolKind::Verify | ToolKind::Run | ToolKind::Memory | ToolKind::Other => {
            let name = about.clone().unwrap_or_else(|| short(tool));
            format!("{name}: {}", outcome(text).unwrap_or_else(|| many(lines, "line")))
        }
    }
}

/// "3 failed, 12 passed", "exit 1: error: no such thing".
fn outcome(text: &str) -> Option<String> {
    let outcome = Outcome::of(text);
    let mut said = Vec::new();
    if let (Some(failed), Some(passed)) = (outcome.failed.or(outcome.passed.map(|_| 0)), outcome.passed.or(outcome.failed.map(|_| 0))) {
        said.push(if failed > 0 { format!("{failed} failed, {passed} passed") } else { format!("{passed} passed") });
    } else {
        said.extend((outcome.errors > 0).then(|| many(outcome.errors as usize, "error")));
        said.extend((outcome.warnings > 0).then(|| many(outcome.warnings as usize, "warning")));
    }
    let said = said.join(", ");
    match outcome.exit.filter(|exit| *exit != 0) {
        None => (!said.is_empty()).then_some(said),
        Some(exit) if !said.is_empty() && outcome.failed.is_some() => Some(format!("exit {exit}, {said}")),
        Some(exit) => {
            let first = text.lines().find(|line| Sign::of(line) == Sign::Failure).map(|line| short(shown(line).trim_ascii()));
            Some(first.map_or(format!("exit {exit}"), |first| format!("exit {exit}: {first}")))
        }
    }
}

/// Lines that hold something.
fn told(text: &str) -> usize {
    text.lines().filter(|line| !line.trim_ascii().is_empty()).count()
}

/// "1 line", "2 lines", "2 entries".
fn many(count: usize, name: &str) -> String {
    let end = match (name == "entr", count) {
        (true, 1) => "y",
        (true, _) => "ies",
        (false, 1) => "",
        (false, _) => "s",
    };
    format!("{count} {name}{end}")
}

fn short(name: &str) -> String {
    let mut name = plain(name);
    if name.len() > LONGEST {
        name.replace_range(LONGEST - 3.., "...");
    }
    name
}
