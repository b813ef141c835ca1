//! Text for people: its headings, the first sentence of what stands under each, then the first sentences of other paragraphs.

use super::{Outline, Source, Stretch, lines, lines_gone};

/// A line of so many bytes is read by its sentences.
const LONG: usize = 160;

const FIRST: u8 = 8;
const PARAGRAPH: u8 = 20;
const ITEM: u8 = 30;
const CODE: u8 = 60;
const REST: u8 = 90;

/// What stood on the line before.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Heading,
    Blank,
    Text,
    Code,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let text = source.text;
    let ranges: Vec<_> = lines(text).collect();
    let mut stretches = Vec::new();
    let mut before = Before::Nothing;
    let mut paragraphs = 0u8;
    for (at, range) in ranges.iter().enumerate() {
        let line = text[range.clone()].trim_ascii();
        let next = ranges.get(at + 1).map_or("", |next| text[next.clone()].trim_ascii());
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        let (rank, is) = match heading(line, next) {
            _ if before == Before::Code => (REST, if is_fence { Before::Text } else { Before::Code }),
            _ if is_fence => (CODE, Before::Code),
            _ if line.is_empty() => {
                let kept = if before == Before::Heading { Before::Heading } else { Before::Blank };
                before = if before == Before::Nothing { before } else { kept };
                continue;
            }
            Some(level) => (level, Before::Heading),
            None if before == Before::Nothing => (0, Before::Text),
            None if before == Before::Heading => (FIRST, Before::Text),
            None if is_item(line) => (ITEM, Before::Text),
            None if before == Before::Blank => {
                paragraphs = paragraphs.saturating_add(1);
                (PARAGRAPH + paragraphs.min(9), Before::Text)
            }
            None => (REST, Before::Text),
        };
        before = is;
        if range.len() < LONG {
            stretches.push(Stretch { range: range.clone(), rank });
            continue;
        }
        let mut rank = rank;
        let mut from = range.start;
        while from < range.end {
            let end = from + sentence(&text[from..range.end]);
            stretches.push(Stretch { range: from..end, rank });
            rank = rank.saturating_add(12).max(REST);
            from = end;
        }
    }
    Outline { stretches, gap: lines_gone }
}

/// The level of a heading: `# One`, `<h2>`, a line that is underlined, a line in capitals.
fn heading(line: &str, next: &str) -> Option<u8> {
    let marks = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&marks) && line[marks..].starts_with(' ') {
        return Some(marks as u8 - 1);
    }
    let is_ruled = |mark: u8| next.len() >= 3 && next.bytes().all(|byte| byte == mark) && line.bytes().any(|byte| byte.is_ascii_alphanumeric());
    if is_ruled(b'=') {
        return Some(0);
    }
    if is_ruled(b'-') {
        return Some(1);
    }
    let tag = line.strip_prefix('<').unwrap_or("");
    match tag.as_bytes() {
        [b'h' | b'H', level @ b'1'..=b'6', b'>' | b' ', ..] => Some(level - b'1'),
        _ if tag.get(..6).is_some_and(|tag| tag.eq_ignore_ascii_case("title>")) => Some(0),
        _ => None,
    }
}

fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with('|') || (digits > 0 && line[digits..].starts_with(". "))
}

/// Where the first sentence ends, with the spaces behind it.
fn sentence(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |at: &usize| matches!(bytes[*at], b'.' | b'!' | b'?') && bytes[at + 1..].first().is_some_and(u8::is_ascii_whitespace) && *at >= 24;
    (0..bytes.len()).find(ends).map_or(text.len(), |at| at + 2)
}
