//! What the model has quoted of earlier results, line by line: it writes it into a call or an answer, and had not written it before
//! the result came. What was quoted lately is likely to be quoted again.
//!
//! Lines are compared by their letters and digits, a number at their start apart, so that quotes, escapes, indentation and the line
//! numbers of `cat -n` do not matter.
//!
//! ```
//! use warmfold::{Format, history::quotes::Quotes, tape::Tape, wire::Request};
//!
//! let read = serde_json::json!({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "read", "arguments": "{}"}}]});
//! let result = serde_json::json!({"role": "tool", "tool_call_id": "x", "content": "  7\tlet answer = the_question.ask();\n"});
//! let edit = serde_json::json!({"role": "assistant", "content": "I change this line:\nlet answer = the_question.ask();"});
//! let request = serde_json::json!({"messages": [read, result, edit]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root(), None))?;
//! let mut quotes = Quotes::default();
//! quotes.walk(&view, 3);
//! assert_eq!(quotes.last(&view, 0), Some(2));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{EntryKind, Role, View};
use crate::tape::Kind;

/// Letters and digits of a line that is worth quoting; shorter ones stand everywhere.
const LEAST: u32 = 20;

/// What the model has written, as far as the history has been walked.
#[derive(Default)]
pub struct Quotes {
    /// The first and the last message in which it wrote a line.
    said: FxHashMap<u64, (u32, u32)>,
    /// Messages before this one have been walked.
    walked: usize,
    /// The lines of results that were asked for.
    shown: RefCell<FxHashMap<usize, Rc<[u64]>>>,
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
        if self.said.is_empty() {
            return None;
        }
        let message = view.entries[entry].message as u32;
        let lines = self.lines_of(view, entry);
        let quoted = lines.iter().filter_map(|line| self.said.get(line)).filter(|(first, _)| *first > message);
        quoted.map(|(_, last)| *last as usize).max()
    }

    fn lines_of(&self, view: &View<'_>, entry: usize) -> Rc<[u64]> {
        let read = || {
            let mut found = Vec::new();
            lines::<false>(view.entries[entry].text().as_bytes(), |line| found.push(line));
            found.into()
        };
        self.shown.borrow_mut().entry(entry).or_insert_with(read).clone()
    }

    fn said_in(&mut self, view: &View<'_>, message: usize) {
        let at = message as u32;
        let mut say = |line| _ = self.said.entry(line).and_modify(|(_, last)| *last = at).or_insert((at, at));
        for entry in view.messages[message].entries.clone().filter(|entry| view.entries[*entry].kind == EntryKind::Text) {
            lines::<false>(view.entries[entry].text().as_bytes(), &mut say);
        }
        for call in view.calls_of(message) {
            let Some(arguments) = view.tool_calls[call].arguments else { continue };
            match arguments.text() {
                Some(text) => lines::<true>(text.as_bytes(), &mut say),
                None => {
                    let texts = arguments.subtree().filter(|node| node.kind() == Kind::String).filter_map(|node| node.text());
                    texts.for_each(|text| lines::<false>(text.as_bytes(), &mut say));
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    End,
    /// The next byte is no letter of the line; it may end it.
    Escape,
    Other,
}

const fn class(byte: u8) -> Class {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | 0x80.. => Class::Letter,
        b'\n' => Class::End,
        b'\\' => Class::Escape,
        _ => Class::Other,
    }
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
};

/// Fingerprints of the lines worth quoting. A line ends at a line end, or at one that is escaped inside a JSON envelope; in `JSON`, at
/// the end of a string, too.
fn lines<const JSON: bool>(text: &[u8], mut each: impl FnMut(u64)) {
    let mut at = behind_number(text, 0);
    let (mut hash, mut word, mut letters) = (0u64, 0u64, 0u32);
    loop {
        let mut ends = at >= text.len();
        if !ends {
            let byte = text[at];
            at += 1;
            match CLASSES[usize::from(byte)] {
                Class::Letter => {
                    word = word << 8 | u64::from(byte);
                    letters += 1;
                    if letters % 8 == 0 {
                        hash = mixed(hash, word);
                        word = 0;
                    }
                    continue;
                }
                Class::End => ends = true,
                Class::Escape => {
                    let twice = JSON && text.get(at) == Some(&b'\\');
                    at += usize::from(twice);
                    let escaped = text.get(at).copied();
                    at += if JSON && !twice && escaped == Some(b'u') { 5 } else { 1 };
                    ends = escaped == Some(b'n');
                }
                Class::Other => ends = JSON && byte == b'"',
            }
        }
        if ends {
            if letters >= LEAST {
                each(mixed(mixed(hash, word), u64::from(letters)));
            }
            if at >= text.len() {
                return;
            }
            (hash, word, letters) = (0, 0, 0);
            at = behind_number(text, at);
        }
    }
}

/// rustc-hash's step.
fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Where a line begins behind its number, if it has one, as in `12→`, `12: ` and `  12\t`.
fn behind_number(text: &[u8], from: usize) -> usize {
    let digits = from + text[from..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = digits + text[digits..].iter().take(7).take_while(|byte| byte.is_ascii_digit()).count();
    match text.get(end) {
        _ if end == digits || end - digits > 6 => from,
        Some(b'\t' | b' ' | b':' | b'|' | b')' | b']' | b'-' | b'\\') => end,
        Some(0xe2) if text[end..].starts_with("→".as_bytes()) => end + "→".len(),
        _ => from,
    }
}
