//! Hits in files: how many, then the first of each file and what declares something, then the others; lines around hits go first.

use std::ops::Range;

use super::code::{self, Line};
use super::{Outline, Source, bare, lines, lines_gone, ranked, rest_of_result};
use crate::history::failures::is_error;

/// What a line of a search is.
#[derive(Debug, PartialEq, Eq)]
enum Found<'t> {
    /// A hit, with its file where the line names it.
    Hit(Option<&'t str>, &'t str),
    /// A line around a hit.
    Around,
    /// A file by itself, above its hits or in a list.
    File(&'t str),
    /// Anything else.
    Other,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let mut file = String::new();
    let mut hits = 0;
    let rank = |at: usize, line: &str| {
        let line = &*bare(line);
        if is_count(at, line) || rest_of_result(line) || is_refusal(line) {
            return Some(0);
        }
        match found(line) {
            Found::Hit(path, text) => {
                if let Some(path) = path.filter(|path| *path != file) {
                    path.clone_into(&mut file);
                    hits = 0;
                }
                hits += 1;
                let declares = matches!(code::told(text.trim_start()), Line::Declaration(_));
                Some(match hits {
                    1 => 2,
                    _ if declares => 3,
                    2 | 3 => 4,
                    _ => 5,
                })
            }
            Found::File(_) => {
                hits = 0;
                Some(2)
            }
            Found::Around => Some(8),
            Found::Other => line.bytes().any(|byte| byte.is_ascii_alphanumeric()).then_some(7),
        }
    };
    Outline { stretches: ranked(source.text, rank), gap }
}

/// "Found 12 files", "No matches found", "7 matches".
fn is_count(at: usize, line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    let counts = |line: &str| ["match", "file", "result", "hit", "line"].iter().any(|thing| line.contains(thing));
    line.len() < 120
        && ((at < 3 && ["found ", "no ", "error", "showing "].iter().any(|start| line.starts_with(start)))
            || (line.starts_with(|first: char| first.is_ascii_digit()) && !line.contains([':', '/']) && line.split(' ').nth(1).is_some_and(counts)))
}

/// "grep: src/locked: Permission denied".
fn is_refusal(line: &str) -> bool {
    let program = line.split_once(": ").map_or("", |(program, _)| program);
    !program.is_empty() && program.bytes().all(|byte| byte.is_ascii_lowercase()) && is_error(line)
}

/// Whether most of the first lines are hits.
pub(super) fn is_search(text: &str) -> bool {
    let first = || lines(text).take(12).map(|range| bare(&text[range]).into_owned());
    let hits = first().filter(|line| matches!(found(line), Found::Hit(Some(_), _))).count();
    hits >= 3 && hits * 4 >= first().count() * 3
}

/// Whether a search was of the web: addresses, and no hits.
pub(super) fn is_web(text: &str) -> bool {
    let mut first = lines(text).take(40).map(|range| &text[range]);
    first.clone().any(|line| line.contains("://")) && !first.any(|line| matches!(found(&bare(line)), Found::Hit(..) | Found::File(_)))
}

fn found(line: &str) -> Found<'_> {
    let line = line.trim_end();
    if let Some((sign, text)) = numbered(line.trim_start().trim_start_matches("Line ").trim_start_matches('L')) {
        return if sign == b'-' { Found::Around } else { Found::Hit(None, text) };
    }
    if line.starts_with([' ', '\t']) || line == "--" {
        return Found::Other;
    }
    // A drive letter parts no path.
    let from = if line.get(1..3) == Some(":\\") { 2 } else { 0 };
    for (at, sign) in line.bytes().enumerate().skip(from).filter(|(_, byte)| matches!(byte, b':' | b'-')).take(40) {
        let path = &line[..at];
        if let Some((end, text)) = numbered(&line[at + 1..]).filter(|(end, _)| *end == sign && is_path(path)) {
            return if end == b'-' { Found::Around } else { Found::Hit(Some(path), text) };
        }
        if sign == b':' && is_path(path) {
            return if at + 1 == line.len() { Found::File(path) } else { Found::Hit(Some(path), &line[at + 1..]) };
        }
    }
    if is_path(line) { Found::File(line) } else { Found::Other }
}

/// "12:text", "12-text"; of "12:7:text" the column is text.
fn numbered(text: &str) -> Option<(u8, &str)> {
    let digits = text.bytes().take(8).take_while(u8::is_ascii_digit).count();
    let sign = text.as_bytes().get(digits).copied().filter(|sign| digits > 0 && matches!(sign, b':' | b'-'))?;
    Some((sign, &text[digits + 1..]))
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() < 300 && text.contains(['/', '.', '\\']) && !text.contains([' ', '(', '"', '<', '=', ',']) && !text.contains("://")
}

/// "12 hits in 3 files".
fn gap(text: &str, gone: Range<usize>) -> String {
    let inside = &text[gone.clone()];
    let (mut hits, mut files, mut last) = (0, 0, String::new());
    for range in lines(inside) {
        let path = match found(&bare(&inside[range])) {
            Found::Hit(path, _) => {
                hits += 1;
                path.map(str::to_owned)
            }
            Found::File(path) => Some(path.to_owned()),
            _ => None,
        };
        if let Some(path) = path.filter(|path| *path != last) {
            files += 1;
            last = path;
        }
    }
    let several = |count: usize, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
    match (hits, files) {
        (0, 0) => lines_gone(text, gone),
        (0, _) => several(files, "file"),
        (_, 0 | 1) => several(hits, "hit"),
        _ => format!("{} in {files} files", several(hits, "hit")),
    }
}
