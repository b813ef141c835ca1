//! Writes JSON text onto a tape, by way of serde_json.
//!
//! ```
//! use warmfold::tape::{Kind, Tape};
//!
//! let tape = Tape::from_json("[1.5, null]")?;
//! assert_eq!(tape.root().children().map(|node| node.kind()).collect::<Vec<_>>(), [Kind::Number, Kind::Null]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use rustc_hash::FxHashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{Kind, MAX_DEPTH, NO_KEY, Tape};
use crate::error::{Code, Error};

/// Reads one JSON value; anything after it is an error.
pub(super) fn write(text: &str) -> crate::Result<Tape> {
    let mut writer = Writer::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit(); // ours is MAX_DEPTH
    let done = Value { writer: &mut writer, key: NO_KEY }.deserialize(&mut reader).and_then(|()| reader.end());
    match done {
        Ok(()) => Ok(writer.tape),
        Err(_) if writer.too_deep => Err(too_deep("json")),
        Err(error) => Err(Error::new(Code::InvalidJson, "json", format!("{error}; pass one whole JSON value"))),
    }
}

/// The error of a value nested over [`MAX_DEPTH`].
pub(crate) fn too_deep(path: &str) -> Error {
    Error::new(Code::TooDeep, path, format!("nested over {MAX_DEPTH} levels: flatten the value, or send it as text"))
}

#[derive(Default)]
struct Writer {
    tape: Tape,
    keys: FxHashMap<String, u32>,
    depth: usize,
    too_deep: bool,
}

impl Writer {
    fn node(&mut self, kind: Kind, key: u32, low: u32, high: u32) -> usize {
        self.tape.nodes.push([kind as u32, key, low, high]);
        self.tape.nodes.len() - 1
    }

    fn text(&mut self, text: &str) -> (u32, u32) {
        let offset = self.tape.text.len() as u32;
        self.tape.text.push_str(text);
        (offset, text.len() as u32)
    }

    fn key(&mut self, key: String) -> u32 {
        if let Some(&known) = self.keys.get(&key) {
            return known;
        }
        let place = self.text(&key);
        let number = self.tape.keys.len() as u32;
        self.tape.keys.push(place);
        self.keys.insert(key, number);
        number
    }

    fn enter<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        self.too_deep |= self.depth > MAX_DEPTH;
        if self.too_deep { Err(E::custom(format!("more than {MAX_DEPTH} levels"))) } else { Ok(()) }
    }

    fn leave(&mut self, node: usize, children: u32) {
        self.depth -= 1;
        self.tape.nodes[node][2] = children;
        self.tape.nodes[node][3] = self.tape.nodes.len() as u32;
    }
}

struct Value<'w> {
    writer: &'w mut Writer,
    key: u32,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.writer.node(Kind::Null, self.key, 0, 0);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.writer.node(if value { Kind::True } else { Kind::False }, self.key, 0, 0);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        let bits = value.to_bits();
        self.writer.node(Kind::Number, self.key, bits as u32, (bits >> 32) as u32);
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        let (offset, length) = self.writer.text(value);
        self.writer.node(Kind::String, self.key, offset, length);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let node = self.writer.node(Kind::Array, self.key, 0, 0);
        self.writer.enter::<A::Error>()?;
        let mut children = 0;
        while items.next_element_seed(Value { writer: self.writer, key: NO_KEY })?.is_some() {
            children += 1;
        }
        self.writer.leave(node, children);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let node = self.writer.node(Kind::Object, self.key, 0, 0);
        self.writer.enter::<A::Error>()?;
        let mut children = 0;
        while let Some(key) = fields.next_key::<String>()? {
            let key = self.writer.key(key);
            fields.next_value_seed(Value { writer: self.writer, key }).map_err(A::Error::custom)?;
            children += 1;
        }
        self.writer.leave(node, children);
        Ok(())
    }
}
