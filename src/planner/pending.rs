//! Entries that wait for an edit: which passes might shorten them, and from which call on.

use std::cell::Cell;
use std::rc::Rc;

use crate::plan::Edit;

/// What is done to an entry; in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    Duplicates,
    Superseded,
    Stale,
    Truncation,
    Reasoning,
    /// What truncation left goes too where a later call shows it anew: last, since it saves little and costs the cache from there on.
    Leftovers,
    /// The same where a later call has changed it.
    StaleLeftovers,
}

pub(super) const PASSES: [Pass; 7] =
    [Pass::Duplicates, Pass::Superseded, Pass::Stale, Pass::Truncation, Pass::Reasoning, Pass::Leftovers, Pass::StaleLeftovers];

/// A set of passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passes(u8);

impl Passes {
    pub(super) fn insert(&mut self, pass: Pass) {
        self.0 |= 1 << pass as u8;
    }

    pub(super) fn remove(&mut self, pass: Pass) {
        self.0 &= !(1 << pass as u8);
    }

    pub(super) fn contain(self, pass: Pass) -> bool {
        self.0 & 1 << pass as u8 != 0
    }

    pub(super) fn are_none(self) -> bool {
        self.0 == 0
    }
}

/// Until when an entry waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// The first call at which nothing protects it.
    pub(super) unprotected: usize,
    /// The first call at which it has reached its age, too.
    pub(super) aged: usize,
}

/// An entry that protection has left and that some pass might shorten.
pub(super) struct Pending {
    pub(super) passes: Passes,
    pub(super) waits: Waits,
    /// Until when what the model has quoted holds it, as far as that was looked at: it can only be held longer.
    pub(super) held: Cell<usize>,
    /// What truncation makes of it, and the tokens that this saves, once worked out: it is the same at every call.
    pub(super) cut: Option<(Rc<Edit>, u64)>,
}

impl Pending {
    pub(super) fn new(pass: Pass, waits: Waits) -> Pending {
        let mut passes = Passes::default();
        passes.insert(pass);
        Pending { passes, waits, held: Cell::new(0), cut: None }
    }
}
