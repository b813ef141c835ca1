//! Whole exchanges that go out as one message.

use std::ops::Range;

use super::patch::{Change, Patch, Step};
use crate::history::View;

/// [Whole exchanges](View::is_whole) of the history that go out as one message of the user's role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'c> {
    /// The messages that go. Results that share the next one with the user's words go from there.
    pub messages: Range<usize>,
    /// What the message says that stands for them.
    pub text: &'c str,
}

/// The segment that a message is part of.
pub(super) fn of<'c>(segments: &'c [Segment<'c>], message: usize) -> Option<&'c Segment<'c>> {
    let begun = segments.partition_point(|segment| segment.messages.start <= message);
    segments[..begun].last().filter(|segment| segment.messages.contains(&message))
}

/// The parts of the message behind a segment that answer its calls.
pub(super) fn answers_behind(segment: &Segment<'_>, view: &View<'_>) -> Vec<u32> {
    let end = segment.messages.end;
    let is_own = |call: usize| segment.messages.contains(&view.tool_calls[call].message);
    let own = view.answers_in(end..end.saturating_add(1)).iter().filter(|answer| answer.tool_call.is_some_and(is_own));
    own.map(|answer| answer.part).collect()
}

/// Takes out all messages but the first of each segment, in whose place another stands. The last first, so that no index has moved when its
/// turn comes.
pub(super) fn removed(segments: &[Segment<'_>], view: &View<'_>) -> impl Iterator<Item = Patch> {
    let length = view.messages.len();
    let gone = segments.iter().rev().flat_map(move |segment| (segment.messages.start + 1..segment.messages.end.min(length)).rev());
    gone.map(|at| Patch::new(&[&[Step::Index(at)]], Change::Remove))
}
