//! Fingerprints of entries, taken when they are asked for and then kept.
//!
//! ```
//! use warmfold::{Format, history::prints::Prints, tape::{self, Tape}, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "hi"}]}"#)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root(), None))?;
//! assert_eq!(Prints::new(&view).of(0), tape::fingerprint("hi"));
//! # Ok::<(), warmfold::Error>(())
//! ```

use super::View;

/// The fingerprints that have been taken.
pub struct Prints<'v, 't> {
    view: &'v View<'t>,
    taken: Vec<Option<u64>>,
}

impl<'v, 't> Prints<'v, 't> {
    /// None taken yet.
    pub fn new(view: &'v View<'t>) -> Self {
        Prints { view, taken: vec![None; view.entries.len()] }
    }

    /// The fingerprint of an entry.
    pub fn of(&mut self, entry: usize) -> u64 {
        *self.taken[entry].get_or_insert_with(|| self.view.entries[entry].fingerprint())
    }

    /// The fingerprint, if it was taken.
    pub fn known(&self, entry: usize) -> Option<u64> {
        self.taken[entry]
    }
}
