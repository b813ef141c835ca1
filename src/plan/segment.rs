//! A segment: whole exchanges of the history that go out as one message of ours.
//!
//! ```
//! use warmfold::plan::segment::SegmentRule;
//!
//! assert!(SegmentRule::Digest < SegmentRule::Evicted); // what was digested may be evicted later
//! ```

use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

use crate::fields::{Fields, one_of, text, whole};

/// Messages of the history that one message stands for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The first message that it stands for.
    pub from: usize,
    /// The first message behind it that it does not stand for.
    pub to: usize,
    /// Fingerprint of those messages, as hex.
    pub fingerprint: String,
    /// Why it was made.
    pub rule: SegmentRule,
    /// Length of the history at the call that made it.
    pub since: usize,
    /// What is sent.
    pub text: String,
}

/// The segment that stands for a message; they are ascending.
pub fn of(segments: &[Rc<Segment>], message: usize) -> Option<&Rc<Segment>> {
    let begun = segments.partition_point(|segment| segment.from <= message);
    segments[..begun].last().filter(|segment| message < segment.to)
}

/// Why whole exchanges went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentRule {
    /// Its text says what was done in them.
    Digest,
    /// Its text says that they are gone.
    Evicted,
}

impl SegmentRule {
    const NAMES: &[(&str, SegmentRule)] = &[("digest", SegmentRule::Digest), ("evicted", SegmentRule::Evicted)];
}

impl Segment {
    /// The messages that it stands for.
    pub fn messages(&self) -> Range<usize> {
        self.from..self.to
    }

    pub(super) fn read(fields: &Fields<'_>) -> crate::Result<Segment> {
        Ok(Segment {
            from: fields.need("from", whole)?,
            to: fields.need("to", whole)?,
            fingerprint: fields.need("fingerprint", text)?,
            rule: fields.need("rule", |value| one_of(value, SegmentRule::NAMES))?,
            since: fields.need("since", whole)?,
            text: fields.need("text", text)?,
        })
    }
}
