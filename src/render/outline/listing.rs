//! Names of files: totals, then what lies on top, folders first, then what lies deeper.

use std::ops::Range;

use super::{Outline, Source, bare, lines, lines_gone, ranked, rest_of_result};

/// What nobody looks for in a listing.
const IGNORED: &[&str] = &["node_modules/", ".git/", "target/debug/", "__pycache__", ".venv/", "dist/"];

/// Kinds of files that a gap names.
const NAMED: usize = 2;

/// Kinds of files that are told apart in a gap.
const COUNTED: usize = 16;

/// A line of a listing.
struct Name<'t> {
    /// Without what a tool writes around it.
    name: &'t str,
    depth: usize,
    is_folder: bool,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let text = source.text;
    let top = lines(text).filter_map(|range| Some(name(&bare(&text[range]))?.depth)).filter(|depth| *depth > 0).min().unwrap_or(0);
    let rank = |at: usize, line: &str| {
        let line = &*bare(line);
        if is_total(at, line) || rest_of_result(line) {
            return Some(0);
        }
        let Name { name, depth, is_folder } = name(line)?;
        if IGNORED.iter().any(|ignored| line.contains(ignored)) || matches!(name, "." | "..") {
            return Some(9);
        }
        if line.trim_end().ends_with(':') {
            return Some(1);
        }
        Some((2 + 2 * depth.saturating_sub(top).min(3) + usize::from(!is_folder)) as u8)
    };
    Outline { stretches: ranked(text, rank), gap }
}

/// "total 48", "12 directories, 40 files", "No files found", "Found 12 files".
fn is_total(at: usize, line: &str) -> bool {
    let words = line.trim();
    let starts = |starts: &[&str]| starts.iter().any(|start| words.starts_with(start));
    (at < 3 && starts(&["total ", "Found ", "No ", "Error", "error", "ls: "]))
        || (words.contains(' ') && starts(&["find: ", "ls: "]))
        || (words.starts_with(|first: char| first.is_ascii_digit())
            && (words.ends_with(" files") || words.ends_with(" file") || words.ends_with(" directories")))
}

fn name(line: &str) -> Option<Name<'_>> {
    let line = line.trim_end();
    if let Some((rights, name)) = long(line) {
        return Some(Name { name, depth: 0, is_folder: rights.starts_with('d') });
    }
    let name = line.trim_start_matches([' ', '\t', '\u{a0}', '\u{2502}', '\u{251c}', '\u{2514}', '\u{2500}', '|', '`', '+']);
    let name = if name.len() < line.len() || name.starts_with("- ") { name.trim_start_matches(['-', ' ']) } else { name };
    let drawn = line[..line.len() - name.len()].chars().count();
    let path = name.trim_end_matches(['/', '\\', ':']);
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if !last.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte >= 0x80) {
        return None;
    }
    let is_folder = path.len() < name.len() || !last.trim_start_matches('.').contains('.');
    Some(Name { name, depth: drawn.div_ceil(4) + path.matches(['/', '\\']).count(), is_folder })
}

/// Rights and name of a line of `ls -l`.
fn long(line: &str) -> Option<(&str, &str)> {
    let is_rights = line.len() > 10
        && line.starts_with(['d', '-', 'l', 'b', 'c', 'p', 's'])
        && line.bytes().take(10).skip(1).all(|byte| b"rwxsStT-".contains(&byte));
    let rights = line.get(..10).filter(|_| is_rights)?;
    let mut rest = line;
    for _ in 0..8 {
        rest = rest.split_once(' ')?.1.trim_start_matches(' ');
    }
    Some((rights, rest))
}

/// "40 entries: 30 .rs, 10 .md".
fn gap(text: &str, gone: Range<usize>) -> String {
    let inside = &text[gone.clone()];
    let mut entries = 0;
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for range in lines(inside) {
        let line = bare(&inside[range]);
        let Some(Name { name, .. }) = name(&line) else { continue };
        entries += 1;
        let is_short = |extension: &&str| {
            extension.len() < 6
                && extension.starts_with(|first: char| first.is_ascii_alphabetic())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let Some(extension) = name.rsplit_once('.').map(|(_, extension)| extension).filter(is_short) else { continue };
        match kinds.iter().position(|(known, _)| known == extension) {
            Some(at) => kinds[at].1 += 1,
            None if kinds.len() < COUNTED => kinds.push((extension.to_owned(), 1)),
            None => {}
        }
    }
    if entries < 2 {
        return if entries == 1 { "1 entry".to_owned() } else { lines_gone(text, gone) };
    }
    kinds.sort_by_key(|(_, count)| usize::MAX - count);
    let mut said = format!("{entries} entries");
    for (at, (kind, count)) in kinds.iter().take(NAMED).enumerate() {
        said = [said.as_str(), if at == 0 { ": " } else { ", " }, &count.to_string(), " .", kind].concat();
    }
    said
}
