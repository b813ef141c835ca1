//! What of a text is worth keeping, by the kind of its content.
//!
//! A kind ranks stretches of the text. Those that fit the room stay, the best ranks first and in their order, as spans of the original,
//! so that quotes stay exact; a line in brackets says what is gone from each gap. A kind decides nothing about room.
//!
//! ```
//! use warmfold::history::kinds::ToolKind;
//! use warmfold::render::outline::{self, Source};
//!
//! let text = "use a;\n\nfn one() {\n    1\n}\n\nfn two() {\n    2\n}\n".repeat(20);
//! let pieces = outline::of(&Source { text: &text, kind: ToolKind::Read, about: Some("src/a.rs") }, 200);
//! assert!(warmfold::render::length(&pieces) <= 200);
//! ```

use std::ops::Range;

use super::cut;
use crate::bytes;
use crate::history::kinds::ToolKind;
use crate::plan::Piece;

mod code;
mod content;
mod diff;
mod json;
mod listing;
mod log;
mod prose;
mod search;
mod table;

pub use content::ContentKind;

/// A tool result, and what is known of the call that it answers.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    /// The result.
    pub text: &'t str,
    /// What the call does.
    pub kind: ToolKind,
    /// What the call is about: a path, a command line, a pattern.
    pub about: Option<&'t str>,
}

/// A stretch of the text, and how much it matters: 0 is what must not be missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Bytes of the text: a line with its end, or a part of one where lines are long.
    pub range: Range<usize>,
    /// Lower ranks stay before higher ones.
    pub rank: u8,
}

/// What a kind makes of a text.
pub struct Outline {
    /// What might stay, ascending and apart; what is in none of them goes.
    pub stretches: Vec<Stretch>,
    /// Says in a few ASCII words, without brackets, what is gone from a gap of the text: "38 lines", "12 hits in 3 files".
    pub gap: fn(&str, Range<usize>) -> String,
}

/// Longest line that stands for a gap, brackets and line end included, in bytes.
const LONGEST_GAP: usize = 48;

/// Of a longer stretch only so much stays, in bytes.
const LONGEST_STRETCH: usize = 240;

/// The text in at most `room` bytes; empty where nothing of it fits.
pub fn of(source: &Source<'_>, room: usize) -> Vec<Piece> {
    let Outline { stretches, gap } = match ContentKind::of(source) {
        ContentKind::Code => code::outline(source),
        ContentKind::Diff => diff::outline(source),
        ContentKind::Json => json::outline(source),
        ContentKind::Listing => listing::outline(source),
        ContentKind::Log => log::outline(source),
        ContentKind::Prose => prose::outline(source),
        ContentKind::Search => search::outline(source),
        ContentKind::Table => table::outline(source),
    };
    pieces(source.text, &select(source.text, stretches, room), gap)
}

/// The stretches that stay, ascending; those that touch are one.
fn select(text: &str, mut stretches: Vec<Stretch>, room: usize) -> Vec<Range<usize>> {
    for stretch in &mut stretches {
        if stretch.range.len() > LONGEST_STRETCH {
            stretch.range.end = stretch.range.start + cut::head(&text[stretch.range.clone()], LONGEST_STRETCH);
        }
    }
    let mut order: Vec<usize> = (0..stretches.len()).collect();
    order.sort_by_key(|&at| stretches[at].rank);
    let mut stays = vec![false; stretches.len()];
    // What nothing stays of is one gap. Each stretch that stays parts a gap in two, unless it touches what stays.
    let mut left = room.saturating_sub(LONGEST_GAP);
    for at in order {
        let range = &stretches[at].range;
        let touches = |other: Option<usize>| {
            other.is_some_and(|other| stays[other] && (stretches[other].range.end == range.start || range.end == stretches[other].range.start))
        };
        let gaps = if touches(at.checked_sub(1)) || touches(Some(at + 1).filter(|next| *next < stays.len())) { 0 } else { LONGEST_GAP };
        if let Some(rest) = left.checked_sub(range.len() + gaps) {
            left = rest;
            stays[at] = true;
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (_, stretch) in stays.into_iter().zip(stretches).filter(|(stays, _)| *stays) {
        match ranges.last_mut() {
            Some(last) if last.end == stretch.range.start => last.end = stretch.range.end,
            _ => ranges.push(stretch.range),
        }
    }
    ranges
}

/// What stays, and a line for each gap.
fn pieces(text: &str, ranges: &[Range<usize>], gap: fn(&str, Range<usize>) -> String) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for range in ranges.iter().chain([&(text.len()..text.len())]) {
        if at < range.start {
            let parts_line = at > 0 && !text[..at].ends_with('\n');
            let said = gap_line(text, at..range.start, gap);
            pieces.push(Piece::Text(format!("{}{said}", if parts_line { "\n" } else { "" })));
        }
        if !range.is_empty() {
            pieces.push(Piece::Span(range.start as u32, range.end as u32));
        }
        at = range.end;
    }
    pieces
}

fn gap_line(text: &str, gone: Range<usize>, gap: fn(&str, Range<usize>) -> String) -> String {
    let said = gap(text, gone.clone());
    let said = if said.len() + 3 > LONGEST_GAP - 1 { lines_gone(text, gone) } else { said };
    format!("[{said}]\n")
}

/// "38 lines".
pub(super) fn lines_gone(text: &str, gone: Range<usize>) -> String {
    match bytes::count(text[gone.clone()].as_bytes(), b'\n') {
        0 | 1 => format!("{} bytes", gone.len()),
        lines => format!("{lines} lines"),
    }
}

/// The lines of a text with their ends. In a JSON envelope of one line an escaped line end is one, too.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let end = if has_escaped_lines(text) { "\\n" } else { "\n" };
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let from = at;
        at += rest.find(end).map_or(rest.len(), |found| found + end.len());
        Some(from..at)
    })
}

/// Whether a text is an envelope of one line that holds others.
fn has_escaped_lines(text: &str) -> bool {
    text.starts_with(['{', '[', '"']) && bytes::count(text.as_bytes(), b'\n') < 2 && text.contains("\\n")
}

/// Stretches of all lines that a rank is given.
pub(super) fn ranked(text: &str, mut rank: impl FnMut(usize, &str) -> Option<u8>) -> Vec<Stretch> {
    lines(text).enumerate().filter_map(|(at, range)| rank(at, &text[range.clone()]).map(|rank| Stretch { range, rank })).collect()
}
