//! Writes JSON onto a tape: one pass over the bytes, strict as RFC 8259 has it, and remembering where each value stood.
//!
//! No crate would do: a host's body passes with its lone surrogates, its `1e400` and its places, and reading is the larger part of a
//! carried call. It takes half of serde_json's time up to some megabytes (`npm run bench:stages`); a fuzz target holds it to the same
//! answers.
//!
//! ```
//! use warmfold::tape::{Kind, Tape};
//!
//! let tape = Tape::from_json("[1.5, null]")?;
//! assert_eq!(tape.root().children().map(|node| node.kind()).collect::<Vec<_>>(), [Kind::Number, Kind::Null]);
//! assert_eq!(tape.root().children().map(|node| node.source()).collect::<Vec<_>>(), [1..4, 6..10]);
//! assert_eq!(Tape::from_json("[1.5").unwrap_err().message(), "ends early at byte 4: pass one whole JSON value");
//! # Ok::<(), warmfold::Error>(())
//! ```

mod number;
mod string;

use rustc_hash::FxHashMap;
use twox_hash::XxHash64;

use super::{Kind, MAX_DEPTH, NO_KEY, SHADOWED, Tape};
use crate::error::{Code, Error};

/// Keys that are looked through before one is written again.
const RECENT_KEYS: usize = 32;

/// Values that are taken. They take 24 bytes each, and wasm memory has to hold them beside source and text.
const MOST_VALUES: usize = 1 << 25;

/// What editors put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads items that follow others of an array, as they stand from this offset on in a larger source, each with the comma before it. They are
/// the children of the root's only child, behind one that stands for the others.
///
/// ```
/// let tape = warmfold::tape::json::write_more(br#", "b", 7"#, 100)?;
/// let items = tape.root().children().next().unwrap();
/// assert_eq!(items.children().nth(1).map(|item| (item.text(), item.source())), Some((Some("b"), 102..105)));
/// # Ok::<(), warmfold::Error>(())
/// ```
///
/// # Errors
/// What is no such list, at offsets that mean nothing outside.
pub fn write_more(items: &[u8], offset: usize) -> crate::Result<Tape> {
    const BEFORE: &[u8] = br#"{"":[null"#;
    let mut tape = write(&[BEFORE, items, b"]}"].concat())?;
    if tape.root().written_children().nth(1).is_some() {
        return Err(fault(offset, "more than items")); // they end the array and begin another field, which has its end
    }
    for place in tape.spans.iter_mut().flatten() {
        *place = (*place + offset as u32).saturating_sub(BEFORE.len() as u32);
    }
    Ok(tape)
}

/// Reads one JSON value; anything after it is an error.
pub(super) fn write(source: &[u8]) -> crate::Result<Tape> {
    if u32::try_from(source.len()).is_err() {
        return Err(Error::new(Code::TooLarge, "json", "over 4 GiB: no model takes that much, pass less of it"));
    }
    let mut writer = Writer {
        source,
        at: if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 },
        tape: Tape { nodes: Vec::with_capacity(source.len() / 64 + 8), spans: Vec::with_capacity(source.len() / 64 + 8), ..Tape::default() },
        text: Vec::with_capacity(source.len() + string::SLACK),
        recent: [NO_KEY; RECENT_KEYS],
        open: Vec::new(),
    };
    writer.document()?;
    writer.finish()
}

/// The error of a value nested over [`MAX_DEPTH`].
pub(crate) fn too_deep(path: &str) -> Error {
    Error::new(Code::TooDeep, path, format!("nested over {MAX_DEPTH} levels: flatten the value, or send it as text"))
}

struct Writer<'s> {
    source: &'s [u8],
    /// The byte that is read next.
    at: usize,
    tape: Tape,
    /// What becomes the tape's text once it is known to be UTF-8.
    text: Vec<u8>,
    /// Numbers of keys, by a hash that is good enough for the few that messages have.
    recent: [u32; RECENT_KEYS],
    /// The arrays and objects around the place that is read.
    open: Vec<Open>,
}

struct Open {
    node: usize,
    end: u8,
    children: u32,
}

impl Writer<'_> {
    fn document(&mut self) -> crate::Result<()> {
        let mut key = NO_KEY;
        loop {
            if self.value(key)? && self.is_done()? {
                return Ok(());
            }
            if self.tape.nodes.len() >= MOST_VALUES {
                return Err(Error::new(Code::TooLarge, "json", "over 33 million values: no model takes that much, pass less of it"));
            }
            key = if self.open.last().is_some_and(|open| open.end == b'}') { self.key()? } else { NO_KEY };
        }
    }

    /// After a whole value: ends those that it ends, and stands before the next one unless there is none.
    fn is_done(&mut self) -> crate::Result<bool> {
        loop {
            let next = self.next_byte();
            match (self.open.last_mut(), next) {
                (None, None) => return Ok(true),
                (None, Some(_)) => return Err(self.fault("more behind the value")),
                (Some(open), Some(b',')) => {
                    open.children += 1;
                    self.at += 1;
                    return Ok(false);
                }
                (Some(open), Some(end)) if end == open.end => {
                    open.children += 1;
                    self.close();
                }
                (Some(_), Some(_)) => return Err(self.fault("expected `,` or the end of the array or object")),
                (Some(_), None) => return Err(self.fault("ends early")),
            }
        }
    }

    /// Reads a value; of an array or object that is not empty only the beginning, and then it is not whole yet.
    fn value(&mut self, key: u32) -> crate::Result<bool> {
        let first = self.next_byte();
        let start = self.at;
        match first {
            Some(b'"') => {
                self.at += 1;
                let (offset, length) = self.string()?;
                self.node(Kind::String, key, offset, length, start);
            }
            Some(b'{') => return self.enter(Kind::Object, b'}', key),
            Some(b'[') => return self.enter(Kind::Array, b']', key),
            Some(b'-' | b'0'..=b'9') => {
                let bits = self.number()?.to_bits();
                self.node(Kind::Number, key, bits as u32, (bits >> 32) as u32, start);
            }
            Some(b'n') => self.literal(b"null", Kind::Null, key)?,
            Some(b't') => self.literal(b"true", Kind::True, key)?,
            Some(b'f') => self.literal(b"false", Kind::False, key)?,
            Some(_) => return Err(self.fault("expected a value")),
            None => return Err(self.fault("ends early")),
        }
        Ok(true)
    }

    fn enter(&mut self, kind: Kind, end: u8, key: u32) -> crate::Result<bool> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep("json"));
        }
        let start = self.at;
        self.at += 1;
        let node = self.node(kind, key, 0, 0, start);
        self.open.push(Open { node, end, children: 0 });
        let is_empty = self.next_byte() == Some(end);
        if is_empty {
            self.close();
        }
        Ok(is_empty)
    }

    fn close(&mut self) {
        self.at += 1;
        let Some(Open { node, end, children }) = self.open.pop() else { return };
        let shadowed = if end == b'}' && children > 1 { self.shadow(node + 1, children as usize) } else { 0 };
        self.tape.nodes[node][2] = children - shadowed;
        self.tape.nodes[node][3] = self.tape.nodes.len() as u32;
        self.tape.spans[node][1] = self.at as u32;
    }

    /// Marks the fields, from this one on, behind which one of the same key follows; returns how many.
    fn shadow(&mut self, first: usize, fields: usize) -> u32 {
        /// So many are held against each other; more are looked up.
        const FEW: usize = 12;
        let Tape { nodes, keys, .. } = &mut self.tape;
        let key = |nodes: &[[u32; 4]], field: usize| {
            let (offset, length) = keys[nodes[field][1] as usize];
            &self.text[offset as usize..(offset + length) as usize]
        };
        let next = |nodes: &[[u32; 4]], field: usize| {
            let [kind, _, _, end] = nodes[field];
            let kind = kind & !SHADOWED;
            if kind == Kind::Array as u32 || kind == Kind::Object as u32 { end as usize } else { field + 1 }
        };
        let (mut shadowed, mut field, mut last) = (0, first, FxHashMap::default());
        while field < nodes.len() {
            let behind = next(nodes, field);
            let earlier = if fields > FEW {
                last.insert(XxHash64::oneshot(0, key(nodes, field)), field)
            } else {
                let mut others = std::iter::successors(Some(first), |other| Some(next(nodes, *other))).take_while(|other| *other < field);
                others.find(|other| nodes[*other][0] & SHADOWED == 0 && key(nodes, *other) == key(nodes, field))
            };
            if let Some(earlier) = earlier {
                nodes[earlier][0] |= SHADOWED;
                shadowed += 1;
            }
            field = behind;
        }
        shadowed
    }

    fn literal(&mut self, word: &[u8], kind: Kind, key: u32) -> crate::Result<()> {
        let start = self.at;
        for byte in word {
            if self.source.get(self.at) != Some(byte) {
                return Err(self.fault(if self.at < self.source.len() { "expected a value" } else { "ends early" }));
            }
            self.at += 1;
        }
        self.node(kind, key, 0, 0, start);
        Ok(())
    }

    /// Reads a key with its colon; returns its number.
    fn key(&mut self) -> crate::Result<u32> {
        match self.next_byte() {
            Some(b'"') => self.at += 1,
            Some(_) => return Err(self.fault("expected a key in quotes")),
            None => return Err(self.fault("ends early")),
        }
        let (offset, length) = self.string()?;
        match self.next_byte() {
            Some(b':') => self.at += 1,
            Some(_) => return Err(self.fault("expected `:`")),
            None => return Err(self.fault("ends early")),
        }
        Ok(self.numbered(offset, length))
    }

    /// The number of the key that was read last; one that was met lately is not kept twice.
    fn numbered(&mut self, offset: u32, length: u32) -> u32 {
        let text = |(offset, length): (u32, u32)| &self.text[offset as usize..(offset + length) as usize];
        let key = text((offset, length));
        let slot = key.first().map_or(0, |first| usize::from(*first) + 7 * key.len()) % RECENT_KEYS;
        if let Some(&known) = self.tape.keys.get(self.recent[slot] as usize)
            && text(known) == key
        {
            self.text.truncate(offset as usize);
            return self.recent[slot];
        }
        self.tape.keys.push((offset, length));
        self.recent[slot] = self.tape.keys.len() as u32 - 1;
        self.recent[slot]
    }

    /// The next byte that is no white space.
    #[inline(always)]
    fn next_byte(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.source.get(self.at) {
            self.at += 1;
        }
        self.source.get(self.at).copied()
    }

    /// A node whose source ends here.
    #[inline(always)]
    fn node(&mut self, kind: Kind, key: u32, low: u32, high: u32, start: usize) -> usize {
        self.tape.nodes.push([kind as u32, key, low, high]);
        self.tape.spans.push([start as u32, self.at as u32]);
        self.tape.nodes.len() - 1
    }

    fn finish(self) -> crate::Result<Tape> {
        // Outside strings there is only ASCII by now, and no string begins inside a character.
        match String::from_utf8(self.text) {
            Ok(text) => Ok(Tape { text, ..self.tape }),
            Err(_) => Err(not_utf8(self.source)),
        }
    }

    fn fault(&self, what: &str) -> Error {
        fault(self.at.min(self.source.len()), what)
    }
}

fn fault(at: usize, what: &str) -> Error {
    Error::new(Code::InvalidJson, "json", format!("{what} at byte {at}: pass one whole JSON value"))
}

fn not_utf8(source: &[u8]) -> Error {
    let at = std::str::from_utf8(source).err().map_or(0, |error| error.valid_up_to());
    fault(at, "not UTF-8")
}
