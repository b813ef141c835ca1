//! Where a text may be cut: on a line boundary if one is near, else between two characters as a reader sees them.
//!
//! Never inside a grapheme, an ANSI escape, a CRLF, or an escape of a JSON envelope (whose `\n` is a line boundary too).
//!
//! ```
//! use warmfold::render::cut;
//!
//! assert_eq!(cut::head("one\ntwo\nthree", 9), 8); // after "two\n"
//! assert_eq!(cut::tail("one\ntwo\nthree", 6), 8); // "three"
//! assert_eq!(cut::head("ab👩‍🚀cd", 5), 2);
//! ```

/// A line boundary is taken when it is within this share of the kept length.
const NEAR: usize = 5;

/// The longest grapheme that is searched for, in bytes.
const LONGEST: usize = 64;

/// The longest escape: a terminal link holds a whole address.
const LONGEST_ESCAPE: usize = 1024;

/// Where the first `keep` bytes end: the head is `text[..head]`, at most `keep` bytes.
pub fn head(text: &str, keep: usize) -> usize {
    if keep >= text.len() {
        return text.len();
    }
    let near = (keep - keep / NEAR).max(1)..=keep;
    let found = LINE_ENDS.iter().find_map(|end| near.clone().rev().find(|&at| end(text.as_bytes(), at)));
    found.unwrap_or_else(|| inside(text, keep, false))
}

/// Where the last `keep` bytes begin: the tail is `text[tail..]`, at most `keep` bytes.
pub fn tail(text: &str, keep: usize) -> usize {
    let Some(from) = text.len().checked_sub(keep).filter(|&from| from > 0) else { return 0 };
    let near = from..(from + keep / NEAR + 1).min(text.len());
    let found = LINE_ENDS.iter().find_map(|end| near.clone().find(|&at| end(text.as_bytes(), at)));
    found.unwrap_or_else(|| inside(text, from, true))
}

/// Whether a line ends just before a place: a real end first, then one that is escaped inside a JSON envelope.
const LINE_ENDS: [fn(&[u8], usize) -> bool; 2] =
    [|bytes, at| bytes[at - 1] == b'\n', |bytes, at| at >= 2 && &bytes[at - 2..at] == b"\\n" && !is_escaped(bytes, at - 2)];

/// Whether the byte at `at` has an odd number of backslashes before it.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take(LONGEST).take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// The nearest place at or before `at` (or after it, for `forward`) where nothing is parted.
fn inside(text: &str, at: usize, forward: bool) -> usize {
    let mut at = at;
    loop {
        while !text.is_char_boundary(at) {
            at = if forward { at + 1 } else { at - 1 };
        }
        if at == 0 || at == text.len() {
            return at;
        }
        let parted = [escape_around(text, at), grapheme_around(text, at)].into_iter().flatten().next();
        match parted {
            Some((from, to)) => at = if forward { to } else { from },
            None => return at,
        }
    }
}

/// The ANSI or JSON escape that has `at` in its middle.
fn escape_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let first = at.saturating_sub(LONGEST_ESCAPE);
    for start in (first..at).rev() {
        let length = match bytes[start] {
            0x1b => ansi_length(&bytes[start..]),
            b'\\' if start > 0 && bytes[start - 1] == 0x1b => continue, // ends a link: no escape of JSON begins there
            b'\\' if !is_escaped(bytes, start) => json_length(&bytes[start..]),
            _ => continue,
        };
        let end = (start + length).min(text.len());
        if end > at && text.is_char_boundary(end) {
            return Some((start, end));
        }
    }
    None
}

/// `ESC [ … letter`; `ESC ] … BEL` or `… ESC \` (links, titles, and the other strings of terminals); `ESC ( B`; or two bytes.
fn ansi_length(bytes: &[u8]) -> usize {
    let ends: fn(&[u8]) -> bool = match bytes.get(1) {
        Some(b'[') => |so_far| so_far.len() > 2 && matches!(so_far, [.., 0x40..=0x7e]),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => |so_far| matches!(so_far, [.., 0x07] | [.., 0x1b, b'\\']),
        Some(0x20..=0x2f) => |so_far| matches!(so_far, [.., 0x30..=0x7e]),
        _ => return 2.min(bytes.len()),
    };
    (3..=bytes.len().min(LONGEST_ESCAPE)).find(|&length| ends(&bytes[..length])).unwrap_or(1)
}

/// `\n`, `\u00e9`, or the two halves of `\ud83d\ude00`.
fn json_length(bytes: &[u8]) -> usize {
    let is_half =
        |at: usize, halves: &[u8]| bytes.get(at..at + 4).is_some_and(|start| start[..3].eq_ignore_ascii_case(b"\\ud") && halves.contains(&start[3]));
    match bytes.get(1) {
        Some(b'u') if is_half(0, b"89abAB") && is_half(6, b"cdefCDEF") => 12,
        Some(b'u') => 6,
        Some(_) => 2,
        None => 1,
    }
}

/// The characters around `at` that a reader sees as one: an emoji sequence, a letter with its accents, a flag, a CRLF.
fn grapheme_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let mut from = at;
    while at - from < LONGEST && joins(&text[..from], &text[from..]) {
        from -= text[..from].chars().next_back().map_or(0, char::len_utf8);
    }
    if from == at {
        return None;
    }
    let mut to = at;
    while to - at < LONGEST && joins(&text[..to], &text[to..]) {
        to += text[to..].chars().next().map_or(0, char::len_utf8);
    }
    Some((from, to))
}

/// Whether no reader sees a boundary between the two.
fn joins(before: &str, after: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else { return false };
    let is_flag = |letter: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&letter);
    let flags = || before.chars().rev().take(LONGEST).take_while(|letter| is_flag(*letter)).count();
    let conjunct = || indic(last) == Some(0x4d) && indic(first).is_some();
    extends(first) || last == JOINER || (last == '\r' && first == '\n') || conjunct() || (is_flag(last) && is_flag(first) && flags() % 2 == 1)
}

const JOINER: char = '\u{200d}';

/// Whether a character belongs to the one before it. The ranges are those of Unicode's extending marks, variation selectors and skin
/// tones, as far as living scripts use them; the full tables would be a tenth of the package.
fn extends(letter: char) -> bool {
    let mark = matches!(letter, JOINER | '\u{1160}'..='\u{11ff}' | '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}' | '\u{e31}'
        | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{302a}'..='\u{302f}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}');
    mark || matches!(indic(letter), Some(0..=3 | 0x3a..=0x3c | 0x3e..=0x4d | 0x51..=0x57 | 0x62 | 0x63))
}

/// The place of a letter in its block, for the Indic scripts, whose blocks are laid out alike.
fn indic(letter: char) -> Option<u32> {
    ('\u{900}'..='\u{d7f}').contains(&letter).then_some(letter as u32 & 0x7f)
}
