//! What has been shown of each resource, and which later result shows it anew.
//!
//! A later result counts only if it was asked for when the earlier one was there, if its call succeeded, if it says more than "unchanged
//! since", and if its lines cover the earlier one's: most re-reads in the wild are of a part.
//!
//! ```
//! use warmfold::{Format, history::reads::Reads, tape::Tape, wire::Request};
//!
//! let call = |id| serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}}]});
//! let result = |id| serde_json::json!({"role": "tool", "tool_call_id": id, "content": format!("{id}: a line of text\n").repeat(20)});
//! let request = serde_json::json!({"messages": [call("x"), result("x"), call("y"), result("y")]}).to_string();
//! let tape = Tape::from_json(&request)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let mut reads = Reads::default();
//! for entry in [0, 1] {
//!     let action = view.action(entry, None, None);
//!     reads.add(&view, entry, action.resource.as_ref().unwrap());
//! }
//! assert_eq!(reads.superseders(0).collect::<Vec<_>>(), [1]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use rustc_hash::FxHashMap;

use super::View;
use super::failures::is_unchanged_stub;
use super::resources::{Resource, Span};
use crate::tape;

/// How many earlier calls about a resource a new one is held against.
const LOOK_BACK: usize = 32;

/// A result this short shows nothing anew: it is a message about the resource rather than the resource.
const SHORT: u32 = 200;

/// What has been shown of each resource, and what shows it anew.
#[derive(Default)]
pub struct Reads {
    shown: Vec<Shown>,
    /// Which of them are about a resource, by tool and resource.
    about: FxHashMap<u64, Vec<usize>>,
    /// The resource that a tool call is about, likewise.
    of_call: FxHashMap<usize, u64>,
    /// For an entry, the later entries that show all of it anew.
    anew: FxHashMap<usize, Vec<usize>>,
}

struct Shown {
    tool_call: usize,
    /// Message of the result.
    message: usize,
    span: Span,
}

impl Shown {
    fn entries(&self, view: &View<'_>) -> impl Iterator<Item = usize> {
        view.messages[self.message].entries.clone().filter(|entry| view.entries[*entry].tool_call == Some(self.tool_call))
    }
}

impl Reads {
    /// A result came, about this resource: the entries that it supersedes.
    pub fn add(&mut self, view: &View<'_>, entry: usize, resource: &Resource) -> Vec<usize> {
        let found = &view.entries[entry];
        let Some(tool_call) = found.tool_call else { return Vec::new() };
        let key = tape::key(&[view.tool_calls[tool_call].name.as_bytes(), resource.key.as_bytes()]);
        if self.of_call.insert(tool_call, key).is_some() {
            return Vec::new(); // another part of the same result
        }
        let about = self.about.entry(key).or_default();
        let mut superseded = Vec::new();
        if !about.is_empty() && found.bytes >= SHORT && !found.has_failed() && !is_unchanged_stub(found.text()) {
            let asked_in = view.tool_calls[tool_call].message;
            let earlier = about.iter().rev().take(LOOK_BACK).map(|earlier| &self.shown[*earlier]);
            for earlier in earlier.filter(|earlier| earlier.message < asked_in && resource.span.covers(earlier.span)) {
                superseded.extend(earlier.entries(view));
            }
        }
        about.push(self.shown.len());
        self.shown.push(Shown { tool_call, message: found.message, span: resource.span });
        superseded.iter().for_each(|older| self.anew.entry(*older).or_default().push(entry));
        superseded
    }

    /// The entries about the same resource that were there when the entry was asked for, newest first.
    pub fn earlier(&self, view: &View<'_>, entry: usize) -> impl Iterator<Item = usize> {
        let call = view.entries[entry].tool_call;
        let about = call.and_then(|call| self.about.get(self.of_call.get(&call)?)).map_or(&[][..], Vec::as_slice);
        let before = about.partition_point(|shown| call.is_some_and(|call| self.shown[*shown].message < view.tool_calls[call].message));
        about[..before].iter().rev().take(LOOK_BACK).flat_map(|shown| self.shown[*shown].entries(view))
    }

    /// The first later result that shows all of the entry anew.
    pub fn first_superseder(&self, entry: usize) -> Option<usize> {
        self.anew.get(&entry)?.first().copied()
    }

    /// The later results that show all of the entry anew, newest first.
    pub fn superseders(&self, entry: usize) -> impl Iterator<Item = usize> {
        self.anew.get(&entry).map_or(&[][..], Vec::as_slice).iter().rev().take(LOOK_BACK).copied()
    }
}
