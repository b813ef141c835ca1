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

use std::cell::Cell;

use super::View;

/// The fingerprints that have been taken.
pub struct Prints<'v, 't> {
    view: &'v View<'t>,
    taken: Vec<Cell<Option<u64>>>,
}

impl<'v, 't> Prints<'v, 't> {
    /// None taken yet.
    pub fn new(view: &'v View<'t>) -> Self {
        Prints { view, taken: vec![Cell::new(None); view.entries.len()] }
    }

    /// The fingerprint of an entry.
    pub fn of(&self, entry: usize) -> u64 {
        let print = self.taken[entry].get().unwrap_or_else(|| self.view.entries[entry].fingerprint());
        self.taken[entry].set(Some(print));
        print
    }
}
