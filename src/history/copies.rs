//! Results that say the same: by tool and fingerprint, in the order in which they came.
//!
//! ```
//! use warmfold::{Format, history::copies::Copies, tape::Tape, wire::Request};
//!
//! let call = |id| serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "read", "arguments": "{}"}}]});
//! let result = |id| serde_json::json!({"role": "tool", "tool_call_id": id, "content": "the same"});
//! let request = serde_json::json!({"messages": [call("a"), result("a"), call("b"), result("b")]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root(), None))?;
//! let mut copies = Copies::new(&view);
//! copies.add(0);
//! copies.add(1);
//! assert_eq!(copies.earlier(1).collect::<Vec<_>>(), [0]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use rustc_hash::FxHashMap;

use super::View;
use super::prints::Prints;
use crate::tape;

/// Which results are alike. Texts are hashed only where tool and length agree.
pub struct Copies<'v, 't> {
    view: &'v View<'t>,
    prints: Prints<'v, 't>,
    /// Entries that are in a group.
    grouped: Vec<bool>,
    /// The first result by tool and length.
    first: FxHashMap<u64, usize>,
    /// Results by tool and fingerprint.
    alike: FxHashMap<u64, Vec<usize>>,
    /// The last result of each call, by tool, arguments and part.
    latest: FxHashMap<u64, usize>,
    /// For an entry, where the results of its call begin that have said the same ever since.
    since: Vec<usize>,
}

impl<'v, 't> Copies<'v, 't> {
    /// Nothing has come yet.
    pub fn new(view: &'v View<'t>) -> Self {
        Copies {
            view,
            prints: Prints::new(view),
            grouped: vec![false; view.entries.len()],
            first: FxHashMap::default(),
            alike: FxHashMap::default(),
            latest: FxHashMap::default(),
            since: vec![0; view.entries.len()],
        }
    }

    /// A result came.
    pub fn add(&mut self, entry: usize) {
        let found = &self.view.entries[entry];
        let tool = self.view.tool_of(found).unwrap_or("").as_bytes();
        let first = *self.first.entry(tape::key(&[tool, &found.bytes.to_le_bytes()])).or_insert(entry);
        if first == entry {
            self.changed(entry);
            return;
        }
        for one in [first, entry] {
            if !std::mem::replace(&mut self.grouped[one], true) {
                let print = self.prints.of(one);
                self.alike.entry(tape::key(&[tool, &print.to_le_bytes()])).or_default().push(one);
            }
        }
        self.changed(entry);
    }

    /// Notes whether the same call said something else before: then an earlier copy is out of date, though it says the same again now.
    fn changed(&mut self, entry: usize) {
        let found = &self.view.entries[entry];
        let Some(call) = found.tool_call.map(|call| &self.view.tool_calls[call]) else { return };
        let key = tape::key(&[call.name.as_bytes(), &call.arguments_print().to_le_bytes(), &found.part.to_le_bytes()]);
        let Some(last) = self.latest.insert(key, entry) else { return };
        let same = self.view.entries[last].bytes == found.bytes && self.prints.of(last) == self.prints.of(entry);
        self.since[entry] = if same { self.since[last] } else { last + 1 };
    }

    /// The earlier results that say the same, first to last, as far as none of the same call said something else in between.
    pub fn earlier(&self, entry: usize) -> impl Iterator<Item = usize> {
        let tool = self.view.tool_of(&self.view.entries[entry]).unwrap_or("").as_bytes();
        let group = self.grouped[entry].then(|| tape::key(&[tool, &self.prints.of(entry).to_le_bytes()]));
        let alike = group.and_then(|key| self.alike.get(&key)).map_or(&[][..], Vec::as_slice);
        let from = alike.partition_point(|copy| *copy < self.since[entry]);
        alike[from..].iter().copied().take_while(move |copy| *copy < entry)
    }

    /// The fingerprint of an entry, hashed once.
    pub fn print(&self, entry: usize) -> u64 {
        self.prints.of(entry)
    }
}
