//! Which reads a later call has made out of date, by changing the file. A call beside the read is none: it may have come first.
//!
//! ```
//! use warmfold::{Format, history::changes::Changes, tape::Tape, wire::Request};
//!
//! let call = |id, tool| serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": tool, "arguments": "{\"path\": \"a.rs\"}"}}]});
//! let result = |id| serde_json::json!({"role": "tool", "tool_call_id": id, "content": "fn main() {}"});
//! let request = serde_json::json!({"messages": [call("x", "read"), result("x"), call("y", "write"), result("y")]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let mut changes = Changes::default();
//! for entry in [0, 1] {
//!     changes.add(&view, entry, &view.action(entry, None, None));
//! }
//! assert_eq!(changes.of(0), Some(1));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::View;
use super::actions::Action;
use super::failures::is_change_in_doubt;
use super::kinds::ToolKind;
use super::paths::{file_name, same_file};

/// How many reads of files with one name are looked at.
const LOOK_BACK: usize = 256;

/// What was read, and the first change of it since.
#[derive(Default)]
pub struct Changes {
    /// Reads that are up to date, by the name of the file.
    fresh: FxHashMap<String, Vec<(usize, String)>>,
    /// For an entry, the result of the call that changed what it shows.
    changed_by: FxHashMap<usize, usize>,
}

impl Changes {
    /// A result came: the entries that it makes out of date.
    pub fn add(&mut self, view: &View<'_>, entry: usize, action: &Action) -> Vec<usize> {
        let found = &view.entries[entry];
        let (mut stale, failed) = (Vec::new(), OnceCell::new());
        for path in &action.writes {
            let Some(reads) = self.fresh.get_mut(file_name(path)) else { continue };
            if *failed.get_or_init(|| found.failed || is_change_in_doubt(found.text())) {
                break;
            }
            let first = reads.len().saturating_sub(LOOK_BACK);
            let changed: Vec<(usize, String)> =
                reads.extract_if(first.., |(read, of)| view.asked_after(entry, *read) && same_file(of, path)).collect();
            for (read, _) in changed {
                if self.changed_by.insert(read, entry).is_none() {
                    stale.push(read);
                }
            }
        }
        if action.kind == ToolKind::Read {
            for path in &action.reads {
                self.fresh.entry(file_name(path).to_owned()).or_default().push((entry, path.clone()));
            }
        }
        stale
    }

    /// The result of the call that changed what an entry shows.
    pub fn of(&self, entry: usize) -> Option<usize> {
        self.changed_by.get(&entry).copied()
    }
}
