//! JSON, on one line or on many: its shape. Keys and first items stay, the upper levels first; each is a stretch that ends where its
//! value opens, so that what is inside can stay or go by itself.

use std::ops::Range;

use super::{Outline, Source, Stretch, lines_gone};
use crate::render::cut;

/// Of a longer string only its beginning stays, in bytes.
const LONGEST_STRING: usize = 120;

/// Levels further in are left out.
const DEEPEST: u8 = 12;

/// Keys whose values say how it went.
const TELLING: &[&str] = &["error", "errors", "exit_code", "exitCode", "code", "message", "status", "success", "ok", "total", "count", "stderr"];

/// An object or array around what is read.
struct Level {
    is_array: bool,
    /// Its rank.
    rank: u8,
    /// Items read so far.
    items: usize,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let (text, bytes) = (source.text, source.text.as_bytes());
    let mut stretches = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    // Where the item that is read begins, and its key.
    let (mut from, mut key) = (0, None);
    let mut at = 0;
    while at < bytes.len() {
        let value = at;
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => at += 1,
            b'}' | b']' => {
                levels.pop();
                at = behind_comma(bytes, at + 1);
                (from, key) = (at, None);
                continue;
            }
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            _ => at += bytes[at..].iter().position(|byte| b",:]}{[\" \t\r\n".contains(byte)).unwrap_or(bytes.len() - at),
        }
        let in_array = levels.last().is_none_or(|level| level.is_array);
        if key.is_none() && !in_array && bytes[value] == b'"' {
            key = Some(&text[value + 1..(at - 1).max(value + 1)]);
            continue;
        }
        let rank = levels.last().map_or(0, |level| rank(level, levels.len(), key));
        let opens = matches!(bytes[value], b'{' | b'[');
        let end = match opens {
            true => line_end(bytes, at),
            false => behind_comma(bytes, at),
        };
        if let Some(level) = levels.last_mut() {
            level.items += 1;
        }
        if rank < u8::MAX && levels.len() < usize::from(DEEPEST) {
            let shown = if !opens && at - value > LONGEST_STRING { value + cut::head(&text[value..at], LONGEST_STRING) } else { end };
            stretches.push(Stretch { range: from..shown, rank });
        }
        if opens {
            levels.push(Level { is_array: bytes[value] == b'[', rank, items: 0 });
        }
        at = end;
        (from, key) = (at, None);
    }
    Outline { stretches, gap }
}

/// Of an item that comes next: the further in and the later, the less it matters. Of arrays the first items tell the rest.
fn rank(level: &Level, depth: usize, key: Option<&str>) -> u8 {
    if depth <= 2 && key.is_some_and(|key| TELLING.contains(&key)) {
        return level.rank.min(1);
    }
    let late = match (level.is_array, level.items) {
        (true, 0) => 1,
        (true, items) => (items * 6).min(200) as u8,
        (false, 0..8) => 2,
        (false, items) => (items / 2).min(40) as u8,
    };
    level.rank.saturating_add(late)
}

/// Behind the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Behind the comma that follows, and the line end behind it.
fn behind_comma(bytes: &[u8], at: usize) -> usize {
    let spaces = bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len() - at);
    let at = if bytes.get(at + spaces) == Some(&b',') { at + spaces + 1 } else { at };
    line_end(bytes, at)
}

/// Behind a line end, if only spaces stand before it.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let spaces = bytes[at..].iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).unwrap_or(bytes.len() - at);
    if bytes.get(at + spaces) == Some(&b'\n') { at + spaces + 1 } else { at }
}

/// "118 more items", "12 keys": of the object or array in which the gap begins, read from its end, which lies outside of strings.
fn gap(text: &str, gone: Range<usize>) -> String {
    #[derive(Default)]
    struct Count {
        items: usize,
        keys: usize,
        is_open: bool,
    }
    let bytes = &text.as_bytes()[gone.clone()];
    let mut counts = vec![Count::default()];
    let mut in_string = false;
    for (at, byte) in bytes.iter().enumerate().rev() {
        let Some(count) = counts.last_mut() else { break };
        match byte {
            b'"' if bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0 => {
                in_string = !in_string;
                count.is_open = true;
            }
            _ if in_string || byte.is_ascii_whitespace() => {}
            b',' => {
                count.items += usize::from(count.is_open);
                count.is_open = false;
            }
            b':' => count.keys += 1,
            b'}' | b']' => {
                count.is_open = true;
                counts.push(Count::default());
            }
            b'{' | b'[' => {
                counts.pop();
                if counts.is_empty() {
                    counts.push(Count { is_open: true, ..Count::default() });
                }
            }
            _ => count.is_open = true,
        }
    }
    match counts.pop() {
        Some(Count { keys: keys @ 2.., .. }) => format!("{keys} more keys"),
        Some(Count { items, is_open, keys: 0 }) if items + usize::from(is_open && !in_string) >= 2 => {
            format!("{} more items", items + usize::from(is_open && !in_string))
        }
        _ => lines_gone(text, gone),
    }
}
