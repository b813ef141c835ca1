//! What the model has quoted of earlier results, line by line: it writes it into a call or an answer, and had not written it before
//! the result came. What was quoted lately is likely to be quoted again.
//!
//! Lines are compared without indentation, the line numbers of `cat -n`, the signs of a diff, quotes and escapes.
//!
//! ```
//! use warmfold::{Format, history::quotes::Quotes, tape::Tape, wire::Request};
//!
//! let read = serde_json::json!({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "read", "arguments": "{}"}}]});
//! let result = serde_json::json!({"role": "tool", "tool_call_id": "x", "content": "  7\tlet answer = the_question.ask();\n"});
//! let edit = serde_json::json!({"role": "assistant", "content": "I change this line:\nlet answer = the_question.ask();"});
//! let request = serde_json::json!({"messages": [read, result, edit]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let mut quotes = Quotes::default();
//! quotes.walk(&view, 3);
//! assert_eq!(quotes.last(&view, 0), Some(2));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{EntryKind, Role, View};
use crate::tape::{self, Kind, Node, Tape};

/// Characters of a line that is worth quoting; shorter ones stand everywhere.
const LEAST: usize = 24;

/// A line of so many bytes may be a JSON envelope with lines of its own.
const ENVELOPE: usize = 400;

/// What the model has written, as far as the history has been walked.
#[derive(Default)]
pub struct Quotes {
    /// The first and the last message in which it wrote a line.
    said: FxHashMap<u64, (u32, u32)>,
    /// How these lines end: most lines of results end like none of them, and need no second look.
    endings: FxHashSet<u64>,
    /// Messages before this one have been walked.
    walked: usize,
    /// How the lines end that were written, in order.
    written: Vec<u64>,
    /// What was found of the entries that were asked for.
    found: RefCell<FxHashMap<usize, Found>>,
}

/// What was found of a result.
struct Found {
    last: Option<usize>,
    /// How its lines end, sorted.
    endings: Vec<u64>,
    /// How many of the lines that the model wrote it was held against.
    seen: usize,
}

impl Quotes {
    /// Walks on to this length of the history.
    pub fn walk(&mut self, view: &View<'_>, length: usize) {
        for message in self.walked..length {
            if view.messages[message].role == Role::Assistant {
                self.said_in(view, message);
            }
        }
        self.walked = self.walked.max(length);
    }

    /// The last message that quotes a result, as far as was walked.
    pub fn last(&self, view: &View<'_>, entry: usize) -> Option<usize> {
        let mut all = self.found.borrow_mut();
        let Some(found) = all.get_mut(&entry) else {
            let mut found = Found { last: None, endings: Vec::new(), seen: self.written.len() };
            found.last = self.look(view, entry, |ending| found.endings.push(ending));
            found.endings.sort_unstable();
            return all.entry(entry).or_insert(found).last;
        };
        // It is read again only where the model has written since what ends like a line of it.
        if self.written[found.seen..].iter().any(|ending| found.endings.binary_search(ending).is_ok()) {
            found.last = self.look(view, entry, |_| {});
        }
        found.seen = self.written.len();
        found.last
    }

    fn look(&self, view: &View<'_>, entry: usize, mut each: impl FnMut(u64)) -> Option<usize> {
        let found = &view.entries[entry];
        let mut last = None;
        lines(found.text(), |line| {
            let ending = ending(line);
            each(ending);
            if self.endings.contains(&ending) {
                let said = quotable(line).and_then(|print| self.said.get(&print));
                last = last.max(said.filter(|(first, _)| *first as usize > found.message).map(|(_, last)| *last as usize));
            }
        });
        last
    }

    fn said_in(&mut self, view: &View<'_>, message: usize) {
        let at = message as u32;
        let mut say = |line: &str| {
            let Some(print) = quotable(line) else { return };
            self.said.entry(print).and_modify(|(_, last)| *last = at).or_insert((at, at));
            let ending = ending(line);
            self.endings.insert(ending);
            self.written.push(ending);
        };
        texts(view, message, |text| lines(text, &mut say));
    }
}

/// The texts of a message: what it says or shows, and the strings in the arguments of its calls, each by itself.
pub fn texts(view: &View<'_>, message: usize, mut each: impl FnMut(&str)) {
    for entry in view.messages[message].entries.clone().filter(|entry| view.entries[*entry].kind != EntryKind::Reasoning) {
        each(view.entries[entry].text());
    }
    for arguments in view.calls_of(message).filter_map(|call| view.tool_calls[call].arguments) {
        match arguments.text() {
            Some(json) => strings(json, &mut each),
            None => arguments.subtree().filter(|node| node.kind() == Kind::String).filter_map(Node::text).for_each(&mut each),
        }
    }
}

/// The lines of a text that are long enough. A line ends at a line end, or at one that is escaped inside a JSON envelope.
fn lines<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    for line in text.split('\n').filter(|line| line.len() >= LEAST) {
        if line.len() < ENVELOPE {
            each(line);
        } else {
            line.split("\\n").filter(|line| line.len() >= LEAST).for_each(&mut each);
        }
    }
}

/// The last letters and digits of a line, as many as each that is [`quotable`] has behind its number.
fn ending(line: &str) -> u64 {
    let (bytes, mut at, mut left, mut print) = (line.as_bytes(), line.len(), LEAST / 2, 0u64);
    while at > 0 && left > 0 {
        at -= 1;
        let byte = bytes[at];
        if IS_LETTER[usize::from(byte)] && !(byte == b't' && at > 0 && bytes[at - 1] == b'\\') {
            print = (print.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95); // rustc-hash's step
            left -= 1;
        }
    }
    print
}

const IS_LETTER: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        letters[byte] = (byte as u8).is_ascii_alphanumeric() || byte >= 0x80;
        byte += 1;
    }
    letters
};

/// The fingerprint of a line worth quoting: line number, diff sign, quotes and escapes off, spaces folded; 24 characters, of which 12
/// letters or digits.
pub fn quotable(line: &str) -> Option<u64> {
    if line.len() < LEAST {
        return None;
    }
    let line = without_number(line.trim_ascii()).trim_start_matches(['+', '-']).trim_ascii();
    let is_noise = |byte: u8| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b'\t');
    let bytes = line.as_bytes();
    let noisy = bytes.iter().fold(false, |noisy, byte| noisy | is_noise(*byte)) || bytes.windows(2).any(|two| two == b"  ");
    if !noisy {
        return is_worth_it(line).then(|| tape::fingerprint(line));
    }
    let mut plain = String::with_capacity(line.len());
    let spaced = line.replace("\\t", " ");
    for letter in spaced.chars().filter(|letter| *letter == '\t' || !is_noise(u8::try_from(*letter).unwrap_or(0))) {
        let folded = if letter.is_ascii_whitespace() { ' ' } else { letter };
        if !(folded == ' ' && plain.ends_with(' ')) {
            plain.push(folded);
        }
    }
    let plain = plain.trim_ascii();
    is_worth_it(plain).then(|| tape::fingerprint(plain))
}

fn is_worth_it(line: &str) -> bool {
    let letters = |line: &str| line.bytes().filter(|byte| IS_LETTER[usize::from(*byte)]).nth(LEAST / 2 - 1).is_some();
    line.len() >= LEAST && letters(line) && (line.is_ascii() || line.chars().count() >= LEAST)
}

/// The line behind its number, if it has one, as in `12→`, `12: ` and `12\t`.
fn without_number(line: &str) -> &str {
    let digits = line.bytes().take(7).take_while(u8::is_ascii_digit).count();
    if !(1..=6).contains(&digits) {
        return line;
    }
    let rest = line[digits..].trim_ascii_start();
    match rest.chars().next().filter(|sign| "→:|)]-".contains(*sign)) {
        Some(sign) => rest[sign.len_utf8()..].trim_ascii_start(),
        None if rest.len() < line.len() - digits => rest,
        None => line,
    }
}

/// The strings of a JSON text. One that cannot be read is left out; one that is cut off ends it.
fn strings(json: &str, each: &mut impl FnMut(&str)) {
    let mut rest = json;
    while let Some(from) = rest.find('"') {
        let Some(length) = string_length(&rest[from..]) else { return };
        let (string, behind) = rest[from..].split_at(length);
        if let Ok(tape) = Tape::from_json(string) {
            each(tape.root().text().unwrap_or(""));
        }
        rest = behind;
    }
}

/// Bytes of the string that a text begins with, quotes included; `None` where it does not end.
fn string_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    let ends = |byte: &u8| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    };
    text.as_bytes()[1..].iter().position(ends).map(|at| at + 2)
}
