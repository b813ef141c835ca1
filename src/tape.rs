//! The tape: a JSON-like tree in two flat buffers, which is all that wires read of a request.
//!
//! Two writers fill it: `js/tape.ts` from JavaScript values, straight into wasm memory, and [`json`] from JSON text.
//! One node is four `u32` words, children follow their parent (preorder):
//!
//! | word | meaning |
//! | --- | --- |
//! | 0 | the [`Kind`] in the low byte, flags above it |
//! | 1 | number of the key under which an object holds the node, or [`NO_KEY`] |
//! | 2 | text: offset in bytes; number: low half of the f64; array, object: how many children; opaque: its size in bytes |
//! | 3 | text: length in bytes; number: high half of the f64; array, object: the node after the whole subtree |
//!
//! Text is UTF-8; a lone surrogate arrives as U+FFFD. Keys are stored once each.
//!
//! ```
//! use warmfold::tape::Tape;
//!
//! let tape = Tape::from_json(r#"[{"role": "user", "content": "hi"}]"#)?;
//! let message = tape.root().children().next().unwrap();
//! assert_eq!(message.get("role").and_then(|role| role.text()), Some("user"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::hash::Hasher;
use std::ops::Range;

pub mod json;
mod stringify;

/// Containers inside containers that a writer takes: far over any real request, far under any stack.
pub const MAX_DEPTH: usize = 512;

/// Word 1 of a node that no object holds.
pub const NO_KEY: u32 = u32::MAX;

/// Flag in word 0: the object was an instance of a class, so its fields are not the whole of it.
pub const INSTANCE: u32 = 1 << 8;

/// Flag in word 0: a later field of the object has the same key, and is the one that counts. It is no child, and counted as none.
pub(crate) const SHADOWED: u32 = 1 << 9;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `null`, and what JSON writes as `null`.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// An f64.
    Number,
    /// Text.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// What JSON cannot hold: bytes, dates, functions, big integers.
    Opaque,
}

const KINDS: [Kind; 8] = [Kind::Null, Kind::False, Kind::True, Kind::Number, Kind::String, Kind::Array, Kind::Object, Kind::Opaque];

/// A written tree. The first node is the root.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    pub(crate) nodes: Vec<[u32; 4]>,
    pub(crate) text: String,
    pub(crate) keys: Vec<(u32, u32)>,
    /// Where each node stands in the JSON that it was read from; empty for what JavaScript wrote.
    pub(crate) spans: Vec<[u32; 2]>,
}

impl Tape {
    /// Reads JSON onto a new tape: text, or bytes that need not be UTF-8 yet. A byte order mark before it is skipped; a lone surrogate
    /// is U+FFFD; a number is the nearest f64, however it is spelt.
    ///
    /// # Errors
    /// [`Code::InvalidJson`](crate::error::Code::InvalidJson) with the offset in bytes, [`Code::TooDeep`](crate::error::Code::TooDeep).
    pub fn from_json(json: impl AsRef<[u8]>) -> crate::Result<Tape> {
        json::write(json.as_ref())
    }

    /// The value that was written; `null` on an empty tape.
    pub fn root(&self) -> Node<'_> {
        Node { tape: self, at: 0 }
    }
}

/// The children of a value.
#[derive(Clone)]
pub struct Children<'t> {
    next: Node<'t>,
    end: u32,
    /// The flag that a child may have.
    shadowed: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Node<'t>;

    #[inline]
    fn next(&mut self) -> Option<Node<'t>> {
        while self.next.at < self.end {
            let child = self.next;
            self.next = child.next();
            if child.words()[0] & SHADOWED & !self.shadowed == 0 {
                return Some(child);
            }
        }
        None
    }
}

/// One value on a tape.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tape: &'t Tape,
    at: u32,
}

impl<'t> Node<'t> {
    #[inline(always)]
    fn words(self) -> [u32; 4] {
        self.tape.nodes.get(self.at as usize).copied().unwrap_or([Kind::Null as u32, NO_KEY, 0, 0])
    }

    /// What the node is.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        KINDS[(self.words()[0] & 7) as usize]
    }

    /// Where it stands in the JSON that it was read from, in bytes; 0..0 for what JavaScript wrote.
    pub fn source(self) -> Range<usize> {
        self.tape.spans.get(self.at as usize).map_or(0..0, |[start, end]| *start as usize..*end as usize)
    }

    /// Whether it was an instance of a class.
    pub fn is_instance(self) -> bool {
        self.words()[0] & INSTANCE != 0
    }

    /// The key under which an object holds it.
    #[inline(always)]
    pub fn key(self) -> Option<&'t str> {
        let &(offset, length) = self.tape.keys.get(self.words()[1] as usize)?;
        self.tape.text.get(offset as usize..(offset + length) as usize)
    }

    /// The text of a string.
    #[inline(always)]
    pub fn text(self) -> Option<&'t str> {
        let [_, _, offset, length] = self.words();
        if self.kind() != Kind::String {
            return None;
        }
        self.tape.text.get(offset as usize..offset as usize + length as usize)
    }

    /// The value of a number.
    pub fn number(self) -> Option<f64> {
        let [_, _, low, high] = self.words();
        (self.kind() == Kind::Number).then(|| f64::from_bits(u64::from(high) << 32 | u64::from(low)))
    }

    /// How many bytes an opaque value holds, as far as it tells.
    pub fn opaque_bytes(self) -> u32 {
        if self.kind() == Kind::Opaque { self.words()[2] } else { 0 }
    }

    /// How many children an array or object has; 0 for all others.
    pub fn len(self) -> usize {
        if matches!(self.kind(), Kind::Array | Kind::Object) { self.words()[2] as usize } else { 0 }
    }

    /// Whether it has no children.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    fn next(self) -> Node<'t> {
        let [_, _, _, end] = self.words();
        let at = if matches!(self.kind(), Kind::Array | Kind::Object) { end } else { self.at + 1 };
        Node { tape: self.tape, at }
    }

    /// The children of an array or object, in order; of fields with one key the last, as every JSON parser has it.
    #[inline(always)]
    pub fn children(self) -> Children<'t> {
        Children { shadowed: 0, ..self.written_children() }
    }

    /// The same with fields that do not count.
    pub(crate) fn written_children(self) -> Children<'t> {
        let [_, _, _, end] = self.words();
        let end = if matches!(self.kind(), Kind::Array | Kind::Object) { end } else { 0 };
        Children { next: Node { tape: self.tape, at: self.at + 1 }, end, shadowed: SHADOWED }
    }

    /// The child of an object under `key`.
    pub fn get(self, key: &str) -> Option<Node<'t>> {
        if self.kind() != Kind::Object {
            return None;
        }
        self.children().find(|child| child.has_key(key))
    }

    /// Whether an object holds it under this key. Most keys are told apart by their length.
    #[inline(always)]
    pub(crate) fn has_key(self, key: &str) -> bool {
        self.tape.keys.get(self.words()[1] as usize).is_some_and(|&(offset, length)| {
            length as usize == key.len() && self.tape.text.as_bytes().get(offset as usize..(offset + length) as usize) == Some(key.as_bytes())
        })
    }

    /// Every node of the subtree that counts, itself first.
    pub fn subtree(self) -> impl Iterator<Item = Node<'t>> {
        let (mut next, end) = (self, self.next().at);
        std::iter::from_fn(move || {
            // The first one stands for itself.
            while next.at < end && next.at > self.at && next.words()[0] & SHADOWED != 0 {
                next = next.next();
            }
            let node = next;
            next.at += 1;
            (node.at < end).then_some(node)
        })
    }

    /// A fingerprint of the whole value, in its canonical form (key order counts, spelling of text and numbers does not).
    pub fn fingerprint(self) -> u64 {
        let mut hasher = twox_hash::XxHash64::with_seed(0);
        self.hash_into(&mut hasher);
        hasher.finish()
    }

    pub(crate) fn hash_into(self, hasher: &mut impl Hasher) {
        for node in self.subtree() {
            let [_, _, low, high] = node.words();
            let kind = if node.number().is_some_and(|number| !number.is_finite()) { Kind::Null } else { node.kind() };
            hasher.write(&[kind as u8]);
            let mut text = |text: &str| {
                hasher.write(&(text.len() as u64).to_le_bytes());
                hasher.write(text.as_bytes());
            };
            text(node.key().filter(|_| node.at != self.at).unwrap_or(""));
            match kind {
                Kind::String => text(node.text().unwrap_or("")),
                Kind::Number if node.number() == Some(0.0) => hasher.write(&[0; 8]), // -0 too, as JSON has it
                Kind::Number => hasher.write(&[low.to_le_bytes(), high.to_le_bytes()].concat()),
                Kind::Array | Kind::Object | Kind::Opaque => hasher.write(&low.to_le_bytes()),
                Kind::Null | Kind::False | Kind::True => {}
            }
        }
    }

    /// The value as `serde_json` has it; opaque values become `null`.
    pub fn to_json(self) -> serde_json::Value {
        match self.kind() {
            Kind::Null | Kind::Opaque => serde_json::Value::Null,
            Kind::False => false.into(),
            Kind::True => true.into(),
            Kind::Number => match self.number() {
                Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => (number as i64).into(),
                number => number.into(),
            },
            Kind::String => self.text().into(),
            Kind::Array => self.children().map(Node::to_json).collect(),
            Kind::Object => {
                let mut fields = serde_json::Map::new();
                for child in self.children() {
                    fields.insert(child.key().unwrap_or("").to_owned(), child.to_json());
                }
                fields.into()
            }
        }
    }
}

/// The fingerprint of a text: XXH64, seed 0, of its UTF-8 bytes.
pub fn fingerprint(text: &str) -> u64 {
    twox_hash::XxHash64::oneshot(0, text.as_bytes())
}

/// Fingerprints are carried as 16 hex digits, since JavaScript numbers cannot hold 64 bits.
pub fn hex(fingerprint: u64) -> String {
    format!("{fingerprint:016x}")
}

/// A key for things that agree in all of these parts. Hashed in one go: they are short.
pub fn key(parts: &[&[u8]]) -> u64 {
    let mut whole = Vec::with_capacity(64);
    for part in parts {
        whole.extend_from_slice(&(part.len() as u32).to_le_bytes());
        whole.extend_from_slice(part);
    }
    twox_hash::XxHash64::oneshot(0, &whole)
}

/// The fingerprint that [`hex`] wrote.
pub fn from_hex(hex: &str) -> Option<u64> {
    if hex.len() == 16 { u64::from_str_radix(hex, 16).ok() } else { None }
}
