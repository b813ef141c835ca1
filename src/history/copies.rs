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
}

impl<'v, 't> Copies<'v, 't> {
    /// Nothing has come yet.
    pub fn new(view: &'v View<'t>) -> Self {
        Copies { view, prints: Prints::new(view), grouped: vec![false; view.entries.len()], first: FxHashMap::default(), alike: FxHashMap::default() }
    }

    /// A result came.
    pub fn add(&mut self, entry: usize) {
        let found = &self.view.entries[entry];
        let tool = self.view.tool_of(found).unwrap_or("").as_bytes();
        let first = *self.first.entry(tape::key(&[tool, &found.bytes.to_le_bytes()])).or_insert(entry);
        if first == entry {
            return;
        }
        for one in [first, entry] {
            if !std::mem::replace(&mut self.grouped[one], true) {
                let print = self.prints.of(one);
                self.alike.entry(tape::key(&[tool, &print.to_le_bytes()])).or_default().push(one);
            }
        }
    }

    /// The earlier results that say the same, first to last.
    pub fn earlier(&self, entry: usize) -> impl Iterator<Item = usize> {
        let tool = self.view.tool_of(&self.view.entries[entry]).unwrap_or("").as_bytes();
        let group = self.grouped[entry].then(|| tape::key(&[tool, &self.prints.of(entry).to_le_bytes()]));
        let alike = group.and_then(|key| self.alike.get(&key)).map_or(&[][..], Vec::as_slice);
        alike.iter().copied().take_while(move |copy| *copy < entry)
    }

    /// The fingerprint of an entry, hashed once.
    pub fn print(&self, entry: usize) -> u64 {
        self.prints.of(entry)
    }
}
