//! The line that says what is not there: how much, whether the source is intact, and how to have it again.
//!
//! One line of ASCII in brackets from a fixed vocabulary, and short, since there is one in every edit. A call that may
//! change anything never gets "call again".
//!
//! ```
//! use warmfold::{history::kinds::ToolKind, render::breadcrumb::Breadcrumb};
//!
//! let breadcrumb = Breadcrumb { label: "warmfold", tool: Some("read"), kind: ToolKind::Read };
//! assert_eq!(
//!     breadcrumb.truncated("1180 of 1200 lines"),
//!     "[warmfold: 1180 of 1200 lines elided; source intact, call read again]"
//! );
//! ```

use std::ops::Range;

use crate::bytes;
use crate::history::kinds::ToolKind;

/// Longest name, resource or label in a breadcrumb, in bytes.
const LONGEST: usize = 120;

const LONGEST_AMOUNT: usize = "4294967295 of 4294967295 lines".len();

/// What every breadcrumb of one entry has in common.
#[derive(Clone, Copy, Debug)]
pub struct Breadcrumb<'a> {
    /// Our name.
    pub label: &'a str,
    /// The tool's name.
    pub tool: Option<&'a str>,
    /// What the call does where it may be repeated, else [`ToolKind::Other`].
    pub kind: ToolKind,
}

impl Breadcrumb<'_> {
    /// Head and tail stay, `elided` went ("1180 of 1200 lines").
    pub fn truncated(&self, elided: &str) -> String {
        self.line(elided, None, "")
    }

    /// How long such a line can be.
    pub fn longest_truncated(label: &str, tool: Option<&str>) -> usize {
        const AROUND: usize = "[:  elided; source intact, call  again]".len();
        label.len() + shown(tool) + LONGEST_AMOUNT + AROUND
    }

    /// How long a line can be that stands alone.
    pub fn longest_alone(label: &str, tool: Option<&str>, resource: Option<&str>) -> usize {
        const AROUND: usize = "[:  of  elided: an earlier result of the tool is the same; source intact, call  again]".len();
        label.len() + 2 * shown(tool) + shown(resource) + LONGEST_AMOUNT + AROUND
    }

    /// An earlier result says the same; this one went whole.
    pub fn duplicate(&self, elided: &str, resource: Option<&str>) -> String {
        self.line(elided, resource, &format!(": an earlier result of {} is the same", self.tool_name()))
    }

    /// A later call shows the resource as it is by then; this one went whole.
    pub fn superseded(&self, elided: &str, resource: Option<&str>) -> String {
        self.line(elided, resource, &format!(": a later call of {} returned it anew", self.tool_name()))
    }

    /// A later call has changed what this one showed; it went whole.
    pub fn stale(&self, elided: &str) -> String {
        let again = self.again().map_or(String::new(), |call| format!("; {call}"));
        format!("[{}: {elided} elided: changed by a later call{again}]", self.label)
    }

    /// What stood there in a line of fact; it went whole.
    pub fn summarized(&self, fact: &str) -> String {
        self.line(fact, None, "")
    }

    fn line(&self, elided: &str, resource: Option<&str>, why: &str) -> String {
        let source = match (self.kind.has_source(), self.again()) {
            (true, Some(call)) => format!("; source intact, {call}"),
            (true, None) => "; source intact".to_owned(),
            (false, Some(call)) => format!("; {call}"),
            (false, None) => String::new(),
        };
        format!("[{}: {elided}{} elided{why}{source}]", self.label, of(resource))
    }

    fn tool_name(&self) -> String {
        self.tool.map_or("the tool".to_owned(), plain)
    }

    /// How to have it again.
    fn again(&self) -> Option<String> {
        self.tool.filter(|_| self.kind.is_repeatable()).map(|tool| format!("call {} again", plain(tool)))
    }
}

/// Bytes of a name as it is shown, at the most.
fn shown(name: Option<&str>) -> usize {
    name.map_or(0, |name| name.len().min(LONGEST))
}

fn of(resource: Option<&str>) -> String {
    resource.filter(|resource| !resource.is_empty()).map_or(String::new(), |resource| format!(" of {}", plain(resource)))
}

/// How much of a text went, if this range did, in the larger unit that says it well.
pub fn amount(text: &str, elided: Range<usize>) -> String {
    let ends = |text: &str| bytes::count(text.as_bytes(), b'\n');
    let lines = |ends: u64, text: &str| ends + u64::from(!text.is_empty() && !text.ends_with('\n'));
    let all = ends(text);
    let gone = all - ends(&text[..elided.start]) - ends(&text[elided.end..]); // what stays is short
    let (gone, all, unit) = match (lines(gone, &text[elided.clone()]), lines(all, text)) {
        (gone, all) if gone >= 3 => (gone, all, "lines"),
        _ => (elided.len() as u64, text.len() as u64, "bytes"),
    };
    // Of a line that is cut in two, a part stays.
    if elided.len() == text.len() { format!("all {all} {unit}") } else { format!("{gone} of {all} {unit}") }
}

/// The same of what is in none of these ranges, which are ascending; `None` where nothing stays, or all of it.
pub fn amount_without(text: &str, stays: impl Iterator<Item = Range<usize>>) -> Option<String> {
    let (mut kept, mut lines) = (0, 0);
    for range in stays {
        kept += range.len();
        lines += bytes::count(text[range].as_bytes(), b'\n');
    }
    if kept == 0 || kept >= text.len() {
        return None;
    }
    let all = bytes::count(text.as_bytes(), b'\n') + u64::from(!text.ends_with('\n'));
    let (gone, all, unit) = match all.saturating_sub(lines) {
        gone if gone >= 3 => (gone, all, "lines"),
        _ => ((text.len() - kept) as u64, text.len() as u64, "bytes"),
    };
    Some(format!("{gone} of {all} {unit}"))
}

/// Printable ASCII without brackets, at most 120 bytes: what cannot be, becomes `?`.
pub fn plain(text: &str) -> String {
    let safe = |letter: char| {
        if (' '..='~').contains(&letter) && !"[]".contains(letter) { letter } else { '?' }
    };
    let mut plain: String = text.chars().map(safe).take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        plain.replace_range(LONGEST - 3.., "...");
    }
    plain
}

/// Whether a label can stand in a breadcrumb as it is.
pub fn is_plain(label: &str) -> bool {
    !label.is_empty() && plain(label) == label
}
