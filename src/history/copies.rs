//! Results that say the same: by tool and fingerprint, in the order in which they came.
//!
//! ```
//! use warmfold::{Format, history::copies::Copies, tape::Tape, wire::Request};
//!
//! let call = |id| serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "read", "arguments": "{}"}}]});
//! let result = |id| serde_json::json!({"role": "tool", "tool_call_id": id, "content": "the same"});
//! let request = serde_json::json!({"messages": [call("a"), result("a"), call("b"), result("b")]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let mut copies = Copies::default();
//! copies.add(&view, 0);
//! copies.add(&view, 1);
//! assert_eq!(copies.earlier(&view, 1).collect::<Vec<_>>(), [0]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use super::View;
use crate::tape;

/// Which results are alike. Texts are hashed only where tool and length agree.
#[derive(Default)]
pub struct Copies {
    /// Entries that are in a group.
    grouped: FxHashSet<usize>,
    /// The first result by tool and length.
    first: FxHashMap<u64, usize>,
    /// Results by tool and fingerprint.
    alike: FxHashMap<u64, Vec<usize>>,
    /// The last result of each call, by tool, arguments and which text of it.
    latest: FxHashMap<u64, usize>,
    /// By tool call, how many texts of its result have come: a message may hold several results, so a part's number does not tell.
    texts: FxHashMap<usize, u32>,
    /// For an entry, where the results of its call begin that have said the same ever since.
    since: FxHashMap<usize, usize>,
}

impl Copies {
    /// A result came.
    pub fn add(&mut self, view: &View<'_>, entry: usize) {
        let found = &view.entries[entry];
        let tool = view.tool_of(found).unwrap_or("").as_bytes();
        let first = *self.first.entry(tape::key(&[tool, &found.bytes.to_le_bytes()])).or_insert(entry);
        if first == entry {
            self.changed(view, entry);
            return;
        }
        for one in [first, entry] {
            if self.grouped.insert(one) {
                let print = view.entries[one].fingerprint();
                self.alike.entry(tape::key(&[tool, &print.to_le_bytes()])).or_default().push(one);
            }
        }
        self.changed(view, entry);
    }

    /// Notes whether the same call said something else before: then an earlier copy is out of date, though it says the same again now.
    fn changed(&mut self, view: &View<'_>, entry: usize) {
        let found = &view.entries[entry];
        let Some(call) = found.tool_call else { return };
        let text = self.texts.entry(call).or_default();
        let key = tape::key(&[&view.tool_calls[call].print().to_le_bytes(), &text.to_le_bytes()]);
        *text += 1;
        let Some(last) = self.latest.insert(key, entry) else { return };
        let same = view.entries[last].bytes == found.bytes && view.entries[last].fingerprint() == found.fingerprint();
        let since = if same { self.since(last) } else { last + 1 };
        if since > 0 {
            self.since.insert(entry, since);
        }
    }

    /// The earlier results that say the same, first to last, as far as none of the same call said something else in between.
    pub fn earlier(&self, view: &View<'_>, entry: usize) -> impl Iterator<Item = usize> {
        let tool = view.tool_of(&view.entries[entry]).unwrap_or("").as_bytes();
        let group = self.grouped.contains(&entry).then(|| tape::key(&[tool, &view.entries[entry].fingerprint().to_le_bytes()]));
        let alike = group.and_then(|key| self.alike.get(&key)).map_or(&[][..], Vec::as_slice);
        let from = alike.partition_point(|copy| *copy < self.since(entry));
        alike[from..].iter().copied().take_while(move |copy| *copy < entry)
    }

    fn since(&self, entry: usize) -> usize {
        self.since.get(&entry).copied().unwrap_or(0)
    }
}
