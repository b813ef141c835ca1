//! The segments in force, and what each saves.

use std::ops::Range;
use std::rc::Rc;

use crate::plan::segment::{self, Segment};

/// The segments, ascending, and the tokens that each saves.
#[derive(Default)]
pub(super) struct Segments {
    pub(super) all: Vec<Rc<Segment>>,
    saved: Vec<u64>,
    /// Whether an entry goes with one of them.
    pub(super) gone: Vec<bool>,
}

impl Segments {
    /// There are so many entries.
    pub(super) fn grow(&mut self, entries: usize) {
        self.gone.resize(entries, false);
    }

    /// The one that stands for a message.
    pub(super) fn of(&self, message: usize) -> Option<&Rc<Segment>> {
        segment::of(&self.all, message)
    }

    pub(super) fn insert(&mut self, segment: Rc<Segment>, saved: u64) {
        let at = self.all.partition_point(|other| other.from < segment.from);
        self.all.insert(at, segment);
        self.saved.insert(at, saved);
    }

    /// Takes those out that begin in these messages, each with what it saves.
    pub(super) fn take(&mut self, messages: &Range<usize>) -> Vec<(Rc<Segment>, u64)> {
        let before = |message: usize| self.all.partition_point(|segment| segment.from < message);
        let range = before(messages.start)..before(messages.end);
        self.all.drain(range.clone()).zip(self.saved.drain(range)).collect()
    }
}
