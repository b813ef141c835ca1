//! Where the breakpoints of a request stand: what is sent is laid out message by message for [`crate::cache::breakpoints`].

use std::rc::Rc;

use crate::cache::breakpoints::{self, Layout, Limits};
use crate::history::{BlockPlace, HostMark, Role, View};
use crate::options::{Marks, Options};
use crate::plan::segment::{self, Segment};
use crate::plan::{Edit, Standing};
use crate::render;

/// A request of the history's first `length` messages, of which `added_from` and later ones are sent for the first time.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Messages of the history.
    pub length: usize,
    /// The first that no earlier request held.
    pub added_from: usize,
}

impl Sent {
    /// The request before a call, given the lengths of the history at each.
    pub(super) fn before(calls: &[usize], call: usize) -> Sent {
        let length = |before: usize| call.checked_sub(before).map_or(0, |call| calls[call]);
        Sent { length: length(1), added_from: length(2) }
    }
}

/// The breakpoints of a request with these edits, by message, counted from [`View::lead`] on. `fold_point` is one that an earlier request wrote.
pub fn of<'e>(
    view: &View<'_>,
    options: &Options,
    edits: impl Iterator<Item = (usize, &'e Rc<Edit>)>,
    segments: &[Rc<Segment>],
    sent: Sent,
    fold_point: Option<usize>,
) -> Vec<usize> {
    let most = options.max_breakpoints.saturating_sub(host_marks(view, segments, sent.length).count() + usize::from(view.end_mark.is_some()));
    let limits = Limits { most, milestone_tokens: options.milestone_tokens };
    breakpoints::plan(&layout(view, options, edits, segments, sent), &limits, &of_host(view, segments, sent.length), fold_point)
}

/// A breakpoint of the request before, given the edits that it went out with, from which a request can still be read that changes
/// messages of the history from this one on.
pub(super) fn fold_point(view: &View<'_>, options: &Options, standing: &Standing, before: Sent, from: usize) -> Option<usize> {
    of(view, options, by_entry(&standing.edits), &standing.segments, before, None).into_iter().rfind(|at| *at < from + view.lead())
}

/// Edits as [`of`] takes them.
pub fn by_entry(edits: &[(usize, Rc<Edit>)]) -> impl Iterator<Item = (usize, &Rc<Edit>)> {
    edits.iter().map(|(entry, edit)| (*entry, edit))
}

/// What the caller has marked in a request of so many messages, counted as breakpoints are.
pub fn of_host(view: &View<'_>, segments: &[Rc<Segment>], length: usize) -> Vec<usize> {
    let front = |mark: &HostMark| (mark.message.is_none() && view.front.is_some()).then_some(0);
    let end = view.end_mark.and_then(|_| view.messages[..length].iter().rposition(|message| message.markable));
    let marked = host_marks(view, segments, length).filter_map(|mark| mark.message.map(|message| message + view.lead()).or_else(|| front(mark)));
    marked.chain(end.map(|end| end + view.lead())).collect()
}

/// Later marks are no part of an earlier request, and what a segment stands for is no part of any.
fn host_marks<'v>(view: &'v View<'_>, segments: &'v [Rc<Segment>], length: usize) -> impl Iterator<Item = &'v HostMark> {
    let is_sent = move |message: usize| message < length && segment::of(segments, message).is_none();
    view.host_marks.iter().filter(move |mark| mark.message.is_none_or(is_sent))
}

/// Whether a request of so many messages can be read again at its marks only.
pub(super) fn are_bounds(view: &View<'_>, options: &Options, segments: &[Rc<Segment>], length: usize) -> bool {
    let has_some = || options.marks != Marks::None || view.end_mark.is_some() || host_marks(view, segments, length).next().is_some();
    !view.has_no_marks && has_some()
}

/// Where the last request can be read again: at any message, or only where it had a mark.
#[derive(Clone, Debug)]
pub(super) enum Readable {
    Anywhere,
    /// After so many messages of the history, ascending.
    After(Vec<usize>),
}

impl Readable {
    /// Given the request before and the edits that it went out with.
    pub(super) fn of<'e>(
        view: &View<'_>,
        options: &Options,
        edits: impl Iterator<Item = (usize, &'e Rc<Edit>)>,
        segments: &[Rc<Segment>],
        before: Sent,
    ) -> Readable {
        if !are_bounds(view, options, segments, before.length) {
            return Readable::Anywhere;
        }
        let mut points = of(view, options, edits, segments, before, None);
        points.extend(of_host(view, segments, before.length));
        points.sort_unstable();
        Readable::After(points.into_iter().filter_map(|at| (at + 1).checked_sub(view.lead())).collect())
    }

    /// How many messages can be read again if this one is changed.
    pub(super) fn before(&self, message: usize) -> usize {
        match self {
            Readable::Anywhere => message,
            Readable::After(lengths) => lengths[..lengths.partition_point(|length| *length <= message)].last().copied().unwrap_or(0),
        }
    }
}

fn layout<'e>(
    view: &View<'_>,
    options: &Options,
    edits: impl Iterator<Item = (usize, &'e Rc<Edit>)>,
    segments: &[Rc<Segment>],
    sent: Sent,
) -> Layout {
    let mut layout =
        Layout { system_end: view.lead() + view.system_end.min(sent.length), added_from: sent.added_from + view.lead(), ..Layout::default() };
    let front = view.front.map(|_| view.overhead.bytes);
    let block = if let BlockPlace::Prepend(bytes) = view.block { Some(bytes) } else { None };
    for bytes in [front, block].into_iter().flatten() {
        layout.bytes.push(u64::from(bytes));
        layout.blocks.push(1);
        layout.can_hold.push(true);
    }
    layout.blocks.reserve(sent.length);
    layout.bytes.reserve(sent.length);
    layout.can_hold.reserve(sent.length);
    let mut edits = edits.peekable();
    let read_from = view.read_from(sent.length);
    for (at, message) in view.messages[..sent.length].iter().enumerate() {
        if let Some(segment) = segment::of(segments, at) {
            let is_first = segment.from == at;
            layout.bytes.push(if is_first { segment.text.len() as u64 } else { 0 });
            layout.blocks.push(u32::from(is_first));
            layout.can_hold.push(is_first && at >= read_from);
            continue;
        }
        let mut bytes = u64::from(message.fixed.bytes);
        for entry in message.entries.clone() {
            let call = view.entries[entry].tool_call.map(|call| view.tool_calls[call].message);
            bytes += match edits.next_if(|(edited, _)| *edited == entry) {
                Some((_, edit)) => render::length(&edit.pieces) as u64,
                None if call.is_some_and(|call| segment::of(segments, call).is_some()) => 0,
                None => u64::from(view.entries[entry].bytes),
            };
        }
        layout.bytes.push(bytes);
        layout.blocks.push(message.blocks);
        layout.can_hold.push(message.markable && at >= read_from && (options.marks != Marks::Openai || message.role != Role::Assistant));
    }
    layout
}
