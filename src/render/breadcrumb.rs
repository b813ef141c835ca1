//! The line that says what is not there: how much, whether the source is intact, and how to have it again.
//!
//! One line of ASCII in brackets from a fixed vocabulary. A tool with side effects never gets "call again".
//!
//! ```
//! use warmfold::{history::kinds::ToolKind, render::breadcrumb::Breadcrumb};
//!
//! let breadcrumb = Breadcrumb { label: "warmfold", tool: Some("read"), kind: ToolKind::Read };
//! assert_eq!(
//!     breadcrumb.truncated("1180 of 1200 lines"),
//!     "[warmfold: 1180 of 1200 lines elided to save context; the source is intact. Call read again with the same arguments to see them.]"
//! );
//! ```

use std::ops::Range;

use crate::bytes;
use crate::history::failures::ERROR_SIGN_BYTES;
use crate::history::kinds::ToolKind;

/// Longest name, resource or label in a breadcrumb, in bytes.
const LONGEST: usize = 120;

/// The longest line that stands beside a head and a tail, the gap and an error's sign included: label, tool and the words around them.
pub const LONGEST_LINE: usize = 2 * LONGEST + 180 + ERROR_SIGN_BYTES;

/// What every breadcrumb of one entry has in common.
#[derive(Clone, Copy, Debug)]
pub struct Breadcrumb<'a> {
    /// Our name.
    pub label: &'a str,
    /// The tool's name.
    pub tool: Option<&'a str>,
    /// What the tool does.
    pub kind: ToolKind,
}

impl Breadcrumb<'_> {
    /// Head and tail stay, `elided` went ("1180 of 1200 lines").
    pub fn truncated(&self, elided: &str) -> String {
        format!("[{}: {elided} elided to save context; {}{}]", self.label, self.source(), self.again("see them"))
    }

    /// An earlier result says the same; this one went whole.
    pub fn duplicate(&self, elided: &str, resource: Option<&str>) -> String {
        let (tool, of) = (self.tool_name(), of(resource));
        format!(
            "[{}: {elided}{of} elided to save context: an earlier result of {tool} is the same; {}{}]",
            self.label,
            self.source(),
            self.again("see it")
        )
    }

    /// A later call shows the resource as it is by then; this one went whole.
    pub fn superseded(&self, elided: &str, resource: Option<&str>) -> String {
        let (tool, of) = (self.tool_name(), of(resource));
        format!(
            "[{}: {elided}{of} elided to save context: a later call of {tool} returned it anew; {}{}]",
            self.label,
            self.source(),
            self.again("see it")
        )
    }

    fn tool_name(&self) -> String {
        self.tool.map_or("the tool".to_owned(), plain)
    }

    fn source(&self) -> &'static str {
        if self.kind.has_source() { "the source is intact." } else { "only this transcript is shortened." }
    }

    fn again(&self, to: &str) -> String {
        match self.tool {
            Some(tool) if self.kind.is_repeatable() => format!(" Call {} again with the same arguments to {to}.", plain(tool)),
            _ => String::new(),
        }
    }
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
    match (lines(gone, &text[elided.clone()]), lines(all, text)) {
        (gone, all) if gone >= 3 => format!("{gone} of {all} lines"),
        _ => format!("{} of {} bytes", elided.len(), text.len()),
    }
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
