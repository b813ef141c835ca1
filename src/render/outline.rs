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

use std::borrow::Cow;
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
    /// Lower ranks stay before higher ones, and from [`BESIDE`] on only next to what stays.
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

/// Guesses of how long a line for a gap is.
const GAPS: &[usize] = &[12, 15, 18, 22, 28, 36, LONGEST_GAP];

/// Stretches so many bytes apart have no line between them, which would be longer.
const NEAR: usize = 9;

/// Lines of this rank and higher ones say little alone.
const BESIDE: u8 = 10;

/// Of a longer stretch only so much stays, in bytes.
const LONGEST_STRETCH: usize = 240;

/// What must not be missed stays in part where it does not fit, but not in less, in bytes.
const SHORTEST_STRETCH: usize = 24;

/// The text in at most `room` bytes; empty where nothing of it fits.
pub fn of(source: &Source<'_>, room: usize) -> Vec<Piece> {
    let text = source.text;
    if text.len() <= room {
        return span(0..text.len()).into_iter().collect();
    }
    let Outline { mut stretches, gap } = match ContentKind::of(source) {
        ContentKind::Code => code::outline(source),
        ContentKind::Diff => diff::outline(source),
        ContentKind::Json => json::outline(source),
        ContentKind::Listing => listing::outline(source),
        ContentKind::Log => log::outline(source),
        ContentKind::Prose => prose::outline(source),
        ContentKind::Search => search::outline(source),
        ContentKind::Table => table::outline(source),
    };
    for Stretch { range, .. } in &mut stretches {
        if range.len() > LONGEST_STRETCH {
            range.end = range.start + cut::head(&text[range.clone()], LONGEST_STRETCH);
        }
    }
    let mut order: Vec<usize> = (0..stretches.len()).collect();
    order.sort_by_key(|&at| stretches[at].rank);
    // How long the lines for gaps are is known only when they are written, so the first guess that fits is taken.
    let tries = GAPS.iter().map(|guess| pieces(text, &select(text, &stretches, &order, room, *guess), gap));
    tries.into_iter().find(|pieces| super::length(pieces) <= room).unwrap_or_default()
}

/// The stretches that stay, ascending; those that touch are one. `gap` is how many bytes a line for a gap takes.
fn select(text: &str, stretches: &[Stretch], order: &[usize], room: usize, gap: usize) -> Vec<Range<usize>> {
    let mut stays = vec![false; stretches.len()];
    let mut parted: Option<(usize, usize)> = None;
    let mut is_empty = true;
    // What nothing stays of is one gap. Each stretch that stays parts a gap in two, unless it touches what stays.
    let mut left = room.saturating_sub(gap);
    for &at in order {
        let Stretch { range, rank } = &stretches[at];
        let between = |before: usize, behind: usize| {
            let (before, behind) = (stretches.get(before)?, stretches.get(behind)?);
            Some(behind.range.start - before.range.end).filter(|between| *between <= NEAR)
        };
        let before = at
            .checked_sub(1)
            .filter(|before| stays[*before] && parted.is_none_or(|(parted, _)| parted != *before))
            .and_then(|before| between(before, at));
        let behind = stays.get(at + 1).filter(|stays| **stays).and_then(|_| between(at, at + 1));
        let needed = match (before, behind) {
            (None, None) if *rank >= BESIDE && !is_empty => continue,
            (None, None) => range.len() + gap,
            (Some(before), Some(behind)) => (range.len() + before + behind).saturating_sub(gap),
            (before, behind) => range.len() + before.or(behind).unwrap_or(0),
        };
        if let Some(rest) = left.checked_sub(needed) {
            left = rest;
            stays[at] = true;
            is_empty = false;
        } else if parted.is_none() && (stretches[at].rank == 0 || is_empty) {
            let most = left.saturating_sub(if before.is_some() { gap } else { 2 * gap });
            let fits = cut::head(&text[range.clone()], most);
            if fits >= SHORTEST_STRETCH {
                left = left.saturating_sub(fits + 2 * gap);
                stays[at] = true;
                is_empty = false;
                parted = Some((at, range.start + fits));
            }
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, Stretch { range, .. }) in stretches.iter().enumerate().filter(|(at, _)| stays[*at]) {
        let end = parted.filter(|(parted, _)| *parted == at).map_or(range.end, |(_, end)| end);
        match ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = end,
            _ => ranges.push(range.start..end),
        }
    }
    ranges
}

/// What stays, and a line for each gap. A gap that is no longer than its line stays, too.
fn pieces(text: &str, ranges: &[Range<usize>], gap: fn(&str, Range<usize>) -> String) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if ranges.is_empty() {
        return pieces;
    }
    let mut from = 0;
    let mut at = 0;
    for range in ranges.iter().chain([&(text.len()..text.len())]) {
        let line = if at < range.start { gap_line(text, at..range.start, gap) } else { String::new() };
        if range.start - at > line.len() {
            pieces.extend(span(from..at));
            pieces.push(Piece::Text(line));
            from = range.start;
        }
        at = range.end;
    }
    pieces.extend(span(from..at));
    pieces
}

fn span(range: Range<usize>) -> Option<Piece> {
    (!range.is_empty()).then_some(Piece::Span(range.start as u32, range.end as u32))
}

fn gap_line(text: &str, gone: Range<usize>, gap: fn(&str, Range<usize>) -> String) -> String {
    let start = if gone.start > 0 && !text[..gone.start].ends_with('\n') { "\n[" } else { "[" };
    let fits = |said: &String| start.len() + said.len() + "]\n".len() <= LONGEST_GAP;
    let said = Some(gap(text, gone.clone())).filter(fits).unwrap_or_else(|| lines_gone(text, gone));
    [start, &said, "]\n"].concat()
}

/// "38 lines".
pub(super) fn lines_gone(text: &str, gone: Range<usize>) -> String {
    let lines = match &text[gone.clone()] {
        gone if is_envelope(text) => gone.matches("\\n").count() as u64,
        gone => bytes::count(gone.as_bytes(), b'\n'),
    };
    match lines {
        0 | 1 => format!("{} bytes", gone.len()),
        lines => format!("{lines} lines"),
    }
}

/// The lines of a text with their ends. In a JSON envelope an escaped line end is one, too.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + Clone {
    let is_envelope = is_envelope(text);
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let from = at;
        let escaped = if is_envelope { rest.find("\\n").map_or(rest.len(), |found| found + 2) } else { rest.len() };
        at += rest[..escaped].find('\n').map_or(escaped, |found| found + 1);
        Some(from..at)
    })
}

/// Whether a text is JSON around a text of many lines.
fn is_envelope(text: &str) -> bool {
    text.starts_with(['{', '[', '"']) && text.matches("\\n").count() as u64 > 2 * bytes::count(text.as_bytes(), b'\n')
}

/// A line without the escapes of a terminal.
pub(super) fn bare(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut bare = String::new();
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        // Colours and the like; another escape stays as it is.
        let ends = |letter: char| letter.is_ascii_alphabetic();
        rest = escape.strip_prefix('[').and_then(|code| code.split_once(ends)).map_or(escape, |(_, rest)| rest);
    }
    Cow::Owned(bare + rest)
}

/// Whether a line of a tool's own says that there is more than it shows.
pub(super) fn rest_of_result(line: &str) -> bool {
    let line = line.trim_start();
    line.len() < 300
        && line.starts_with(['(', '[', '<', '.'])
        && ["truncated", "offset", "more lines", "more files", "omitted", "of file"].iter().any(|word| line.contains(word))
}

/// A line without what [`lines`] takes for its end.
pub(super) fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r']).trim_end_matches("\\n").trim_end_matches("\\r")
}

/// Stretches of all lines that a rank is given, by number and text without its end.
pub(super) fn ranked(text: &str, mut rank: impl FnMut(usize, &str) -> Option<u8>) -> Vec<Stretch> {
    let ranked = |(at, range): (usize, Range<usize>)| Some(Stretch { rank: rank(at, without_end(&text[range.clone()]))?, range });
    lines(text).enumerate().filter_map(ranked).collect()
}
