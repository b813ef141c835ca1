//! A change to the message array, by path. The object side applies it with structural sharing.
//!
//! ```
//! use warmfold::wire::patch::{Change, Patch, Step, Value};
//!
//! let mut messages = serde_json::json!([{ "role": "tool", "content": "long" }]);
//! let patch = Patch { path: vec![Step::Index(0), Step::Key("content")], change: Change::Set(Value::Text("short".into())) };
//! patch.apply_to(&mut messages);
//! assert_eq!(messages[0]["content"], "short");
//! ```

use serde::{Serialize, Serializer};

/// One change. Paths are those of the array as it was given; what moves messages comes last: first removals, then insertions.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// From the message array on; one that begins with a key begins at the request itself.
    pub path: Vec<Step>,
    /// What happens there.
    pub change: Change,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into an array.
    Index(usize),
    /// Into an object.
    Key(&'static str),
    /// Into an object whose keys the host has chosen.
    Named(Box<str>),
}

impl Step {
    /// The key of a step into an object.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Named(key) => Some(key),
            Step::Index(_) => None,
        }
    }
}

/// What happens at the end of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// The value is replaced, or the key added.
    Set(Value),
    /// The key or the item is removed. Items of one array come last of its patches, the last item first.
    Remove,
    /// An item is inserted before this index.
    Insert(Value),
}

/// A value to put in, which may hold the one that was there.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A text.
    Text(String),
    /// A text that stands in a pool beside the patches, from and up to these characters: one string crosses a boundary faster than many.
    Pooled(u32, u32),
    /// What stands at the path.
    Original,
    /// Small JSON.
    Json(serde_json::Value),
    /// An array.
    List(Vec<Value>),
    /// An object.
    Record(Vec<(&'static str, Value)>),
    /// The array at the path, with one more item.
    Appended(Box<Value>),
}

/// As `[path, change]`, and the commonest change, a pooled text, as `[path, [from, to]]`: arrays cross a boundary faster than objects.
impl Serialize for Patch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.change {
            Change::Set(Value::Pooled(from, to)) => (&self.path, (from, to)).serialize(serializer),
            change => (&self.path, change).serialize(serializer),
        }
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Step::Index(index) => serializer.serialize_u32(*index as u32),
            Step::Key(key) => serializer.serialize_unit_variant("Step", 0, key), // a string that the serialiser keeps
            Step::Named(key) => serializer.serialize_str(key),
        }
    }
}

impl Patch {
    /// A change at the end of a path that is told in pieces.
    #[inline(never)] // one copy for all the formats
    pub(super) fn new(path: &[&[Step]], change: Change) -> Patch {
        Patch { path: path.concat(), change }
    }

    /// The same of a value that is set.
    #[inline(never)]
    pub(super) fn set(path: &[&[Step]], value: Value) -> Patch {
        Patch::new(path, Change::Set(value))
    }

    /// Whether its path begins at the request, and not at the message array.
    pub fn is_of_request(&self) -> bool {
        matches!(self.path.first(), Some(Step::Key(_)))
    }

    /// Carries the change out on a request whose messages stand under this key.
    pub fn apply_to_request(&self, request: &mut serde_json::Value, messages: &str) {
        match request.get_mut(messages).filter(|_| !self.is_of_request()) {
            Some(messages) => self.apply_to(messages),
            None if self.is_of_request() => self.apply_to(request),
            None => {}
        }
    }

    /// Carries the change out on JSON. A path that is not there changes nothing.
    pub fn apply_to(&self, messages: &mut serde_json::Value) {
        let Some((last, parents)) = self.path.split_last() else {
            return;
        };
        let mut at = messages;
        for step in parents {
            let next = match step {
                Step::Index(index) => at.get_mut(*index),
                Step::Key(_) | Step::Named(_) => step.key().and_then(|key| at.get_mut(key)),
            };
            let Some(next) = next else { return };
            at = next;
        }
        let Step::Index(index) = last else {
            let Some((object, key)) = at.as_object_mut().zip(last.key()) else { return };
            match &self.change {
                Change::Remove => drop(object.remove(key)),
                Change::Set(value) => {
                    let original = object.get(key).cloned().unwrap_or_default();
                    object.insert(key.to_owned(), value.build(&original));
                }
                Change::Insert(_) => {}
            }
            return;
        };
        match &self.change {
            Change::Set(value) => {
                let Some(slot) = at.get_mut(*index) else {
                    return;
                };
                *slot = value.build(slot);
            }
            Change::Remove => {
                if let Some(array) = at.as_array_mut().filter(|array| *index < array.len()) {
                    array.remove(*index);
                }
            }
            Change::Insert(value) => {
                let Some(array) = at.as_array_mut() else {
                    return;
                };
                array.insert((*index).min(array.len()), value.build(&serde_json::Value::Null));
            }
        }
    }
}

/// Takes every ASCII text out of the patches into one, the pool. One text of another script would make all of it two bytes wide.
pub fn pool(patches: &mut [Patch]) -> String {
    let mut pool = String::new();
    for patch in patches {
        if let Change::Set(value) | Change::Insert(value) = &mut patch.change {
            value.pool(&mut pool);
        }
    }
    pool
}

impl Value {
    fn pool(&mut self, pool: &mut String) {
        match self {
            Value::Text(text) if text.is_ascii() => {
                let from = pool.len() as u32;
                pool.push_str(text);
                *self = Value::Pooled(from, pool.len() as u32);
            }
            Value::List(items) => items.iter_mut().for_each(|item| item.pool(pool)),
            Value::Record(fields) => fields.iter_mut().for_each(|(_, value)| value.pool(pool)),
            Value::Appended(item) => item.pool(pool),
            Value::Text(_) | Value::Original | Value::Json(_) | Value::Pooled(..) => {}
        }
    }

    fn build(&self, original: &serde_json::Value) -> serde_json::Value {
        match self {
            Value::Text(text) => text.as_str().into(),
            Value::Pooled(..) => serde_json::Value::Null,
            Value::Original => original.clone(),
            Value::Json(value) => value.clone(),
            Value::List(items) => items.iter().map(|item| item.build(original)).collect(),
            Value::Record(fields) => fields.iter().map(|(key, value)| ((*key).to_owned(), value.build(original))).collect(),
            Value::Appended(item) => {
                let mut items = original.as_array().cloned().unwrap_or_default();
                items.push(item.build(original));
                items.into()
            }
        }
    }
}
