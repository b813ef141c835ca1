//! What the model has quoted of earlier results, line by line: it writes it into a call or an answer, and had not written it before
//! the result came. What was quoted lately is likely to be quoted again.
//!
//! Lines are compared by their letters and digits, numbers at their start apart, so that quotes, escapes, indentation and the line
//! numbers of `cat -n` do not matter.
//!
//! ```
//! use warmfold::{Format, history::quotes::Quotes, tape::Tape, wire::Request};
//!
//! let read = serde_json::json!({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "read", "arguments": "{}"}}]});
//! let result = serde_json::json!({"role": "tool", "tool_call_id": "x", "content": "  7\tlet answer = the_question.ask();\n"});
//! let edit = serde_json::json!({"role": "assistant", "content": "I change `let answer = the_question.ask();`"});
//! let request = serde_json::json!({"messages": [read, result, edit]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root(), None))?;
//! let mut quotes = Quotes::default();
//! quotes.walk(&view, 3, |_| true);
//! assert_eq!(quotes.last(0), None); // the line holds more than the quote
//! # Ok::<(), warmfold::Error>(())
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use super::{EntryKind, Role, View};
use crate::tape::Kind;

/// Letters and digits of a line that is worth quoting; shorter ones stand everywhere.
const LEAST: usize = 20;

/// Lines of results and of the model, as far as the history has been walked.
#[derive(Default)]
pub struct Quotes {
    /// Lines that the model has written.
    said: FxHashSet<u64>,
    /// The results that hold a line.
    holders: FxHashMap<u64, Vec<u32>>,
    /// For an entry, the last message that quotes it.
    last: FxHashMap<usize, usize>,
    /// Messages before this one have been walked.
    walked: usize,
}

impl Quotes {
    /// Walks on to this length of the history; results that `counts` refuses are not looked at.
    pub fn walk(&mut self, view: &View<'_>, length: usize, counts: impl Fn(usize) -> bool) {
        for message in self.walked..length {
            match view.messages[message].role {
                Role::Assistant => self.said(view, message),
                _ => view.messages[message].entries.clone().filter(|entry| counts(*entry)).for_each(|entry| self.shown(view, entry)),
            }
        }
        self.walked = self.walked.max(length);
    }

    /// The last message that quotes an entry.
    pub fn last(&self, entry: usize) -> Option<usize> {
        self.last.get(&entry).copied()
    }

    fn shown(&mut self, view: &View<'_>, entry: usize) {
        let found = &view.entries[entry];
        if found.kind != EntryKind::Result {
            return;
        }
        lines(found.text().bytes(), |line| {
            if self.said.contains(&line) {
                return;
            }
            let holders = self.holders.entry(line).or_default();
            if holders.last() != Some(&(entry as u32)) {
                holders.push(entry as u32);
            }
        });
    }

    fn said(&mut self, view: &View<'_>, message: usize) {
        let mut said = Vec::new();
        for entry in view.messages[message].entries.clone().filter(|entry| view.entries[*entry].kind == EntryKind::Text) {
            lines(view.entries[entry].text().bytes(), |line| said.push(line));
        }
        for call in view.calls_of(message) {
            let Some(arguments) = view.tool_calls[call].arguments else { continue };
            match arguments.text() {
                Some(text) => lines(unescaped(text), |line| said.push(line)),
                None => {
                    let texts = arguments.subtree().filter(|node| node.kind() == Kind::String).filter_map(|node| node.text());
                    texts.for_each(|text| lines(text.bytes(), |line| said.push(line)));
                }
            }
        }
        for line in said {
            self.said.insert(line);
            for holder in self.holders.get(&line).map_or(&[][..], Vec::as_slice) {
                self.last.insert(*holder as usize, message);
            }
        }
    }
}

/// Fingerprints of the lines worth quoting. A line ends at a line end, or at one that is escaped inside a JSON envelope.
fn lines(bytes: impl Iterator<Item = u8>, mut each: impl FnMut(u64)) {
    let mut line = Line::default();
    let mut escaped = false;
    for byte in bytes {
        let ends = byte == b'\n' || (escaped && byte == b'n');
        if ends {
            line.end().into_iter().for_each(&mut each);
        } else if !escaped {
            line.add(byte);
        }
        escaped = !escaped && byte == b'\\';
    }
    line.end().into_iter().for_each(&mut each);
}

/// A line as far as it was read.
#[derive(Default)]
struct Line {
    hash: u64,
    letters: usize,
    /// Whether all letters so far were digits, with nothing behind them: a number at the start does not count.
    numbered: Numbered,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Numbered {
    #[default]
    NotYet,
    Number,
    No,
}

impl Line {
    fn add(&mut self, byte: u8) {
        let counts = byte.is_ascii_alphanumeric() || byte >= 0x80;
        match self.numbered {
            Numbered::NotYet if byte.is_ascii_digit() => self.numbered = Numbered::Number,
            Numbered::NotYet if counts => self.numbered = Numbered::No,
            Numbered::Number if !byte.is_ascii_alphanumeric() => {
                // "12→" and "12\t" number the line.
                *self = Line { numbered: Numbered::No, ..Line::default() };
                return;
            }
            Numbered::Number if !byte.is_ascii_digit() => self.numbered = Numbered::No,
            _ => {}
        }
        if counts && !is_arrow(byte) {
            self.hash = (self.hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
            self.letters += usize::from(byte & 0xc0 != 0x80); // a character once
        }
    }

    /// The line's fingerprint, if it is worth quoting; begins the next one.
    fn end(&mut self) -> Option<u64> {
        let Line { hash, letters, .. } = std::mem::take(self);
        (letters >= LEAST).then_some(hash)
    }
}

/// The bytes of "→", which stands behind line numbers.
fn is_arrow(byte: u8) -> bool {
    matches!(byte, 0xe2 | 0x86 | 0x92)
}

/// The strings of a JSON text, unescaped, each ended by a line end; what stands between them is left out as far as letters go.
fn unescaped(text: &str) -> impl Iterator<Item = u8> {
    let mut bytes = text.bytes();
    std::iter::from_fn(move || match bytes.next()? {
        b'"' => Some(b'\n'),
        b'\\' => Some(match bytes.next()? {
            b'n' => b'\n',
            b't' | b'r' | b'b' | b'f' => b' ',
            b'u' => {
                bytes.by_ref().take(4).for_each(drop);
                b' '
            }
            other => other,
        }),
        byte => Some(byte),
    })
}
