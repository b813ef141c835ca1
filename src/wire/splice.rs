//! A change to the bytes of a request: what lies outside every splice stays the caller's, spacing, key order and spelling of numbers
//! included.
//!
//! ```
//! use warmfold::tape::Tape;
//! use warmfold::wire::patch::{Change, Patch, Step, Value};
//! use warmfold::wire::splice::{self, Splice};
//!
//! let body = br#"{ "messages": [{"content" : "long", "n": 1.0}] }"#;
//! let tape = Tape::from_json(body)?;
//! let patch = Patch { path: vec![Step::Index(0), Step::Key("content")], change: Change::Set(Value::Text("short".into())) };
//! let array = tape.root().get("messages").unwrap();
//! let splices = splice::splices(array, &array.children().collect::<Vec<_>>(), &[patch], body);
//! assert_eq!(splices, [Splice { range: 28..34, json: "\"short\"".into() }]);
//! assert_eq!(splice::spliced(body, &splices), br#"{ "messages": [{"content" : "short", "n": 1.0}] }"#);
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::patch::{Change, Patch, Step, Value};
use crate::tape::{Kind, Node};

/// Bytes of the source that are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Where they stand; empty for what is put in between.
    pub range: Range<usize>,
    /// JSON in their place.
    pub json: String,
}

/// The patches of a message array as splices of the bytes that it was read from, ascending. `messages` are its items.
pub fn splices(array: Node<'_>, messages: &[Node<'_>], patches: &[Patch], source: &[u8]) -> Vec<Splice> {
    walk(Level { node: array, children: messages.to_vec() }, patches.iter(), source)
}

/// The patches of a request, of which some lead into its messages and the others begin at the request itself. `messages` may be more than
/// the array had when it was read: then what stands behind it has moved.
pub fn of_request(request: Node<'_>, array: Node<'_>, messages: &[Node<'_>], patches: &[Patch], source: &[u8]) -> Vec<Splice> {
    let (own, inner): (Vec<&Patch>, Vec<&Patch>) = patches.iter().partition(|patch| patch.is_of_request());
    let mut all = walk(Level { node: array, children: messages.to_vec() }, inner.into_iter(), source);
    if own.is_empty() {
        return all;
    }
    let end = |last: Option<Node<'_>>| last.map_or(0, |last| last.source().end);
    let moved = match array.kind() {
        Kind::Array => end(messages.last().copied()).saturating_sub(end(array.children().last())),
        _ => 0, // a text, or a single message
    };
    let root = Level::of(request);
    let is_behind = |patch: &&Patch| {
        let field = patch.path.first().and_then(|step| root.child(step)).or(root.children.last().copied()); // a new one is put behind the last
        field.is_some_and(|field| field.source().start >= array.source().start)
    };
    let (behind, before): (Vec<&Patch>, Vec<&Patch>) = own.into_iter().partition(is_behind);
    all.extend(walk(Level::of(request), before.into_iter(), source));
    let there = walk(Level::of(request), behind.into_iter(), source.get(moved..).unwrap_or_default());
    all.extend(there.into_iter().map(|Splice { range, json }| Splice { range: range.start + moved..range.end + moved, json }));
    ascending(all)
}

fn ascending(mut splices: Vec<Splice>) -> Vec<Splice> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    splices
}

fn walk<'p>(root: Level<'_>, patches: impl Iterator<Item = &'p Patch>, source: &[u8]) -> Vec<Splice> {
    let mut walk = Walk { source, levels: vec![root], splices: Vec::new(), containers: Vec::new(), places: FxHashMap::default() };
    patches.for_each(|patch| walk.patch(patch));
    walk.finish()
}

/// The source with the splices in it.
pub fn spliced(source: &[u8], splices: &[Splice]) -> Vec<u8> {
    let length = splices.iter().fold(source.len(), |length, splice| length + splice.json.len() - splice.range.len());
    let mut output = Vec::with_capacity(length);
    let mut at = 0;
    for Splice { range, json } in splices {
        output.extend_from_slice(&source[at..range.start]);
        output.extend_from_slice(json.as_bytes());
        at = range.end;
    }
    output.extend_from_slice(&source[at..]);
    output
}

struct Walk<'t, 's> {
    source: &'s [u8],
    /// The way to the parent of the last patch: the next one mostly lies near.
    levels: Vec<Level<'t>>,
    splices: Vec<Splice>,
    /// Objects that lose or gain fields, arrays that lose items.
    containers: Vec<Container<'t>>,
    /// Which of them stands where.
    places: FxHashMap<usize, usize>,
}

/// An object that loses or gains fields, or an array that loses items.
struct Container<'t> {
    /// Where it stands.
    start: usize,
    fields: Vec<Node<'t>>,
    removed: Vec<usize>,
    added: Vec<String>,
}

/// An array or object with its children at hand.
struct Level<'t> {
    node: Node<'t>,
    children: Vec<Node<'t>>,
}

impl<'t> Level<'t> {
    fn of(node: Node<'t>) -> Level<'t> {
        Level { node, children: node.written_children().collect() }
    }

    /// The child that a step leads to; of fields with one name the last, which is the one that counts.
    fn child(&self, step: &Step) -> Option<Node<'t>> {
        match step {
            Step::Index(index) => self.children.get(*index).copied(),
            Step::Key(_) | Step::Named(_) => self.children.iter().rev().find(|child| child.key() == step.key()).copied(),
        }
    }
}

impl<'t> Walk<'t, '_> {
    fn patch(&mut self, patch: &Patch) {
        let Some((last, parents)) = patch.path.split_last() else { return };
        for (depth, step) in parents.iter().enumerate() {
            let Some(child) = self.levels[depth].child(step) else { return };
            if self.levels.get(depth + 1).is_none_or(|level| level.node.source() != child.source()) {
                self.levels.truncate(depth + 1);
                self.levels.push(Level::of(child));
            }
        }
        let parent = &self.levels[parents.len()];
        let there = parent.child(last);
        match (&patch.change, last, there) {
            (Change::Set(Value::Appended(item)), _, Some(array)) => {
                let last = array.children().last();
                self.put_in(array, last, item);
            }
            (Change::Set(value), _, Some(there)) => {
                let json = self.json(value, Some(there));
                self.splices.push(Splice { range: there.source(), json });
            }
            (Change::Set(value), Step::Key(_) | Step::Named(_), None) => {
                let field = format!("{}:{}", quoted(last.key().unwrap_or("")), self.json(value, None));
                self.container(parents.len()).added.push(field);
            }
            (Change::Remove, Step::Key(_) | Step::Named(_), Some(_)) => {
                let object = self.container(parents.len());
                let of_that_name = object.fields.iter().enumerate().filter(|(_, field)| field.key() == last.key());
                object.removed.extend(of_that_name.map(|(at, _)| at));
            }
            (Change::Remove, Step::Index(index), Some(_)) => self.container(parents.len()).removed.push(*index),
            (Change::Insert(value), Step::Index(index), _) => {
                let (array, before) = (parent.node, index.checked_sub(1).and_then(|before| parent.children.get(before)).copied());
                match before {
                    Some(_) => self.put_in(array, before, value),
                    None => {
                        let comma = if array.is_empty() { "" } else { "," };
                        let json = format!("{}{comma}", self.json(value, None));
                        self.splices.push(Splice { range: array.source().start + 1..array.source().start + 1, json });
                    }
                }
            }
            (Change::Set(_) | Change::Remove, _, None) | (Change::Insert(_), ..) => {}
        }
    }

    /// The object or array on this level.
    fn container(&mut self, level: usize) -> &mut Container<'t> {
        let Level { node, children } = &self.levels[level];
        let start = node.source().start;
        let at = *self.places.entry(start).or_insert(self.containers.len());
        if at == self.containers.len() {
            self.containers.push(Container { start, fields: children.clone(), removed: Vec::new(), added: Vec::new() });
        }
        &mut self.containers[at]
    }

    /// An item behind another of an array.
    fn put_in(&mut self, array: Node<'_>, behind: Option<Node<'_>>, item: &Value) {
        let json = self.json(item, None);
        self.splices.push(match behind {
            Some(item) => Splice { range: item.source().end..item.source().end, json: format!(",{json}") },
            None => Splice { range: array.source().start + 1..array.source().start + 1, json },
        });
    }

    fn json(&self, value: &Value, original: Option<Node<'_>>) -> String {
        let list = |parts: Vec<String>| parts.join(",");
        match value {
            Value::Text(text) => quoted(text),
            Value::Original => match original {
                Some(node) => String::from_utf8_lossy(&self.source[node.source()]).into_owned(),
                None => "null".to_owned(),
            },
            Value::Json(value) => value.to_string(),
            Value::List(items) => format!("[{}]", list(items.iter().map(|item| self.json(item, original)).collect())),
            Value::Record(fields) => {
                format!("{{{}}}", list(fields.iter().map(|(key, value)| format!("{}:{}", quoted(key), self.json(value, original))).collect()))
            }
            Value::Appended(item) => format!("[{}]", self.json(item, original)), // there is nothing to append to
            Value::Pooled(..) => "null".to_owned(),                              // pools are for JavaScript
        }
    }

    fn finish(mut self) -> Vec<Splice> {
        let source = self.source;
        for Container { start, fields, mut removed, added } in std::mem::take(&mut self.containers) {
            removed.sort_unstable();
            removed.dedup();
            let behind = |field: usize| fields[field].source().end;
            let begin = |field: usize| match fields[field].key() {
                Some(_) => key_start(source, field.checked_sub(1).map_or(start + 1, behind)),
                None => fields[field].source().start,
            };
            // A run of fields goes with the comma behind it, or at the end of the object with the one before it.
            for run in removed.chunk_by(|before, after| before + 1 == *after) {
                let (before, last) = (run[0].checked_sub(1), run[run.len() - 1]);
                let range = match (before, last + 1 < fields.len()) {
                    (_, true) => begin(run[0])..begin(last + 1),
                    (Some(before), false) => behind(before)..behind(last),
                    (None, false) => begin(run[0])..behind(last),
                };
                self.splices.push(Splice { range, json: String::new() });
            }
            if !added.is_empty() {
                let end = fields.len().checked_sub(1).map_or(start + 1, behind);
                let comma = if removed.len() < fields.len() { "," } else { "" };
                self.splices.push(Splice { range: end..end, json: format!("{comma}{}", added.join(",")) });
            }
        }
        ascending(self.splices)
    }
}

/// Where the next key begins.
fn key_start(source: &[u8], from: usize) -> usize {
    from + source[from..].iter().position(|byte| *byte == b'"').unwrap_or(0)
}

/// A text as JSON, spelt as `JSON.stringify` spells it.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default() // a text is always JSON
}
