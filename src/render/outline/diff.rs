//! Changes: files and totals, then where they are, then what was added and taken away; what stands around them goes first.

use std::ops::Range;

use super::{Outline, Source, bare, lines, lines_gone, ranked};

/// How many lines of the hunk are still to come, in the old file and in the new one.
#[derive(Default)]
struct Hunk {
    old: usize,
    new: usize,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let mut hunk = Hunk::default();
    let mut said_file = false;
    let mut said_date = false;
    let rank = |_, line: &str| {
        let line = &*bare(line);
        if hunk.old + hunk.new > 0 && !line.starts_with("diff --git ") {
            let (old, new, rank) = match line.as_bytes().first() {
                Some(b'+') => (0, 1, 4),
                Some(b'-') => (1, 0, 5),
                Some(b'\\') => (0, 0, 9),
                _ => (1, 1, 7),
            };
            hunk = Hunk { old: hunk.old.saturating_sub(old), new: hunk.new.saturating_sub(new) };
            return has_words(line).then_some(rank);
        }
        if let Some(found) = hunk_of(line) {
            hunk = found;
            return Some(3);
        }
        if line.starts_with("diff ") {
            said_file = true;
            return Some(1);
        }
        let subject = said_date && line.starts_with("    ") && has_words(line);
        if subject || line.starts_with("Date:") {
            said_date = !subject;
        }
        Some(match line {
            _ if is_total(line) => 0,
            _ if subject || is_stat(line) => 1,
            _ if line.starts_with("+++ ") => {
                if said_file {
                    8
                } else {
                    1
                }
            }
            _ if ["--- ", "index ", "similarity "].iter().any(|start| line.starts_with(start)) => 9,
            _ if ["new file", "deleted file", "rename ", "Binary files", "commit "].iter().any(|start| line.starts_with(start)) => 2,
            _ if line.starts_with('+') => 4,
            _ if line.starts_with('-') => 5,
            _ if has_words(line) => 7,
            _ => return None,
        })
    };
    Outline { stretches: ranked(source.text, rank), gap }
}

/// Whether a text is changes, as `diff`, `git diff` and `git show` print them.
pub(super) fn is_diff(text: &str) -> bool {
    let mut was_file = false;
    let begins =
        ["diff ", "--- ", "Index: ", "commit "].iter().any(|start| bare(text.lines().find(|line| has_words(line)).unwrap_or("")).starts_with(start));
    lines(text).take(60).any(|range| {
        let line = bare(&text[range]);
        let is_hunk = was_file && hunk_of(&line).is_some();
        was_file |= line.starts_with("+++ ");
        is_hunk || (begins && line.starts_with("diff --git "))
    }) || is_stats(text)
}

/// Whether a text ends as `git diff --stat` does.
fn is_stats(text: &str) -> bool {
    let mut last = text.trim_end().rsplit('\n').map(bare);
    last.next().is_some_and(|line| is_total(&line)) && last.next().is_some_and(|line| is_stat(&line))
}

/// "3 files changed, 12 insertions(+)".
fn is_total(line: &str) -> bool {
    line.contains(" changed, ") && line.starts_with(' ') && (line.contains(" insertion") || line.contains(" deletion"))
}

/// " src/a.rs | 12 +++---".
fn is_stat(line: &str) -> bool {
    let Some((path, changes)) = line.strip_prefix(' ').and_then(|line| line.rsplit_once(" | ")) else { return false };
    has_words(path) && changes.trim_start().starts_with(|first: char| first.is_ascii_digit() || first == 'B')
}

fn has_words(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
}

/// The lines that "@@ -12,4 +12,6 @@" speaks of.
fn hunk_of(line: &str) -> Option<Hunk> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some(Hunk { old: count(old)?, new: count(new)? })
}

/// "3 hunks, +40 -12".
fn gap(text: &str, gone: Range<usize>) -> String {
    let (mut hunks, mut added, mut removed) = (0, 0, 0);
    let inside = &text[gone.clone()];
    for range in lines(inside) {
        let line = bare(&inside[range]);
        match line.as_bytes().first() {
            Some(b'@') if line.starts_with("@@") => hunks += 1,
            Some(b'+') if !line.starts_with("+++ ") => added += 1,
            Some(b'-') if !line.starts_with("--- ") => removed += 1,
            _ => {}
        }
    }
    match (hunks, added + removed) {
        (0, 0) => lines_gone(text, gone),
        (0, _) => format!("+{added} -{removed}"),
        (1, _) => format!("1 hunk, +{added} -{removed}"),
        _ => format!("{hunks} hunks, +{added} -{removed}"),
    }
}
