//! Whole exchanges that go when shortening results is not enough: as digests, or evicted.
//!
//! ```text
//! user, assistant, tool, assistant, tool, user, …   →   user, "[warmfold: 4 messages condensed …]", user, …
//! ```
//!
//! Oldest first and down to the target, so that it does not happen at every call. A digest says what was done, and the user's words stay
//! between digests; what is evicted is only counted, and the user's words may be among it. The first user messages, the newest turns, system
//! messages and pins stay, and so do memories; of these the newest of each tool are enough where exchanges are evicted.

use std::ops::Range;
use std::rc::Rc;

use super::limits;
use super::state::State;
use crate::history::exchanges::{self, Exchange, Reading};
use crate::history::phase::Phases;
use crate::history::prints::Prints;
use crate::history::{EntryKind, Role, View};
use crate::options::Overflow;
use crate::plan::{Segment, SegmentRule};
use crate::render::digest::{self, CompactionSummary, Digest};
use crate::tape::hex;

/// What a digest takes at the most, in bytes.
const DIGEST_ROOM: usize = 1536;

/// Tokens that a segment is taken to cost before it is written.
const LIKELY_TOKENS: u64 = 80;

/// What became whole exchanges at a call.
#[derive(Default)]
pub(super) struct Made {
    /// The first message of each new segment, ascending.
    pub(super) from: Vec<usize>,
    /// What the digests among them tell, as data.
    pub(super) summaries: Vec<CompactionSummary>,
}

impl Made {
    /// Adds what was made later; whether that is anything.
    pub(super) fn append(&mut self, later: Made) -> bool {
        let is_more = !later.from.is_empty();
        self.from.extend(later.from);
        self.summaries.extend(later.summaries);
        is_more
    }

    /// Forgets what something later has taken in.
    pub(super) fn retain(&mut self, state: &State<'_>) {
        self.from.retain(|from| state.segments().iter().any(|segment| segment.from == *from));
        self.from.sort_unstable();
        self.from.dedup();
    }
}

/// Fits the window, or comes back under the threshold from which exchanges are digested before they must be.
pub(super) fn fit(state: &mut State<'_>) -> Made {
    let mut made = Made::default();
    let Some(limit) = limit(state) else { return made };
    let target = limits::target(state, limit);
    match state.options.overflow {
        Overflow::Report => {}
        Overflow::Digest => digest(state, target, &mut made),
        Overflow::Evict => evict(state, target, &mut made),
    }
    made
}

/// The limit that the prompt is over.
fn limit(state: &State<'_>) -> Option<u32> {
    let threshold = state.options.compact_tokens().filter(|_| state.options.overflow == Overflow::Digest);
    let window = state.options.window_tokens().filter(|_| state.options.fit_to_window);
    limits::over(state, window.into_iter().chain(threshold).min()) // the smaller one is passed first
}

fn digest(state: &mut State<'_>, target: u32, made: &mut Made) {
    for run in runs(state) {
        let mut rest = &run[..];
        while let Some((first, others)) = rest.split_first() {
            if state.scaled(state.unscaled()) <= target {
                return;
            }
            let ends: Vec<usize> = rest.iter().map(|exchange| exchange.messages.end).collect();
            let Some(messages) = enough(state, first.messages.start, &ends, target, |messages| state.view.is_whole(messages.clone())) else {
                rest = others; // it cannot begin here
                continue;
            };
            rest = &rest[rest.partition_point(|exchange| exchange.messages.start < messages.end)..];
            put_digest(state, messages, made);
        }
    }
}

/// Messages from this one on to the first of the ends at which they may go and reach the target; where that is not enough, to the last
/// at which they may go.
fn enough(state: &State<'_>, from: usize, ends: &[usize], target: u32, may_go: impl Fn(&Range<usize>) -> bool) -> Option<Range<usize>> {
    let left = |end: usize| state.unscaled().saturating_sub(state.tokens_of_messages(&(from..end)).saturating_sub(LIKELY_TOKENS));
    let reaching = ends.partition_point(|end| state.scaled(left(*end)) > target);
    let (short, long) = ends.split_at(reaching);
    long.iter().chain(short.iter().rev()).map(|end| from..*end).find(may_go)
}

/// The exchanges that may be digested, in runs without anything between them.
fn runs(state: &State<'_>) -> Vec<Vec<Exchange>> {
    let protect_from = state.protect_from();
    let mut runs: Vec<Vec<Exchange>> = Vec::new();
    let may_go = |exchange: &Exchange| exchange.messages.end <= protect_from && !stays(state, exchange);
    for exchange in exchanges::of(&state.view, state.read_from()..protect_from).filter(may_go) {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| last.messages.end == exchange.messages.start) => run.push(exchange),
            _ => runs.push(vec![exchange]),
        }
    }
    runs
}

/// Whether an exchange is pinned, gone, or holds a result that is kept.
fn stays(state: &State<'_>, exchange: &Exchange) -> bool {
    let holds_kept = |entry: usize| state.view.entries[entry].kind == EntryKind::Result && state.is_kept(entry);
    is_pinned(state, &exchange.messages) || state.is_condensed(exchange.messages.start) || exchange.entries.clone().any(holds_kept)
}

fn is_pinned(state: &State<'_>, messages: &Range<usize>) -> bool {
    state.options.pins.iter().any(|pin| messages.contains(&pin.message))
}

fn put_digest(state: &mut State<'_>, messages: Range<usize>, made: &mut Made) {
    let bytes = state.bytes_of_messages(&messages);
    let Digest { summary, text } = told(state, messages.clone(), DIGEST_ROOM.min((bytes as usize).saturating_sub(state.options.min_saved_bytes)));
    if put(state, messages.clone(), SegmentRule::Digest, text) {
        made.from.push(messages.start);
        made.summaries.push(summary);
    }
}

/// What happened in these messages.
fn told(state: &State<'_>, messages: Range<usize>, room: usize) -> Digest {
    let view = &*state.view;
    let reading = Reading { action: &|call| state.action(call).clone(), told: &|tool| state.options.phase_of(tool), reads_runs: false };
    // A phase goes on from the exchanges before, as far as the user's last words.
    let turn = (0..messages.start).rfind(|at| view.messages[*at].role == Role::User && view.messages[*at].authored).unwrap_or(0);
    let mut phases = Phases::default();
    digest::gather(view, turn..messages.start, &mut phases, &reading);
    let exchanges = digest::gather(view, messages.clone(), &mut phases, &reading);
    let Digest { summary, text } = Digest::of(&state.options.label, messages.len(), &exchanges, room);
    Digest { summary, text: text.trim_end().to_owned() }
}

/// Puts a segment in force, if it is smaller than what it stands for.
fn put(state: &mut State<'_>, messages: Range<usize>, rule: SegmentRule, text: String) -> bool {
    let least = text.len() + state.options.min_saved_bytes;
    if state.bytes_of_messages(&messages) < least as u64 || state.tokens_of_messages(&messages) <= state.tokens_of_segment(&text) {
        return false;
    }
    let fingerprint = hex(Prints::of(&state.view, messages.clone()).run(messages.clone()));
    state.put_segment(Rc::new(Segment { from: messages.start, to: messages.end, fingerprint, rule, since: state.length(), text }));
    true
}

/// Digests that nothing stands between become one, where nothing is cached.
pub(super) fn merge(state: &mut State<'_>) -> Made {
    let mut made = Made::default();
    let digests: Vec<Range<usize>> =
        state.segments().iter().filter(|segment| segment.rule == SegmentRule::Digest).map(|segment| segment.messages()).collect();
    for run in digests.chunk_by(|one, next| one.end == next.start).filter(|run| run.len() > 1) {
        let messages = run[0].start..run[run.len() - 1].end;
        let before = state.take_segments(&messages);
        let Digest { summary, text } = told(state, messages.clone(), DIGEST_ROOM);
        let tokens: u64 = before.iter().map(|segment| state.tokens_of_segment(&segment.text)).sum();
        if state.view.is_whole(messages.clone()) && state.tokens_of_segment(&text) < tokens && put(state, messages.clone(), SegmentRule::Digest, text)
        {
            made.from.push(messages.start);
            made.summaries.push(summary);
        } else {
            before.into_iter().for_each(|segment| state.put_segment(segment));
        }
    }
    made
}

/// Evicts from the oldest on, as many as reach the target. What is evicted beside what was before is told in one line.
fn evict(state: &mut State<'_>, target: u32, made: &mut Made) {
    for run in evictable(state) {
        let mut left = run.clone();
        while !left.is_empty() && state.scaled(state.unscaled()) > target {
            let ends: Vec<usize> = (left.start + 1..=left.end).collect();
            let Some(messages) = enough(state, left.start, &ends, target, |messages| is_evictable(state, messages)) else {
                left.start += 1; // it cannot begin here
                continue;
            };
            left.start = messages.end;
            put_evicted(state, messages, run.start, made);
        }
    }
}

/// Whether messages can go together, and part no segment.
fn is_evictable(state: &State<'_>, messages: &Range<usize>) -> bool {
    let parts = |at: usize| state.segments().iter().any(|segment| segment.from < at && at < segment.to);
    !parts(messages.start) && !parts(messages.end) && state.view.is_closed(messages.clone())
}

fn put_evicted(state: &mut State<'_>, messages: Range<usize>, run_start: usize, made: &mut Made) {
    let touches = |segment: &&Rc<Segment>| segment.rule == SegmentRule::Evicted && segment.to == messages.start && segment.from >= run_start;
    let joined = state.segments().iter().find(touches).map(|segment| segment.from..messages.end);
    let messages = joined.filter(|joined| state.view.is_closed(joined.clone())).unwrap_or(messages);
    if state.segments().iter().any(|segment| segment.messages() == messages && segment.rule == SegmentRule::Evicted) {
        return;
    }
    let calls = state.view.calls_of(messages.start).start..state.view.calls_of(messages.end - 1).end;
    let text = format!("[{}: {} messages elided to fit the context window, with {} tool calls]", state.options.label, messages.len(), calls.len());
    let before = state.take_segments(&messages);
    if put(state, messages.clone(), SegmentRule::Evicted, text) {
        made.from.push(messages.start);
    } else {
        before.into_iter().for_each(|segment| state.put_segment(segment));
    }
}

/// Runs of messages that may be evicted.
fn evictable(state: &State<'_>) -> Vec<Range<usize>> {
    let view = &*state.view;
    let (first, protect_from) = (after_first_turn(view), state.protect_from());
    let mut is_staying: Vec<bool> = view.messages[..protect_from]
        .iter()
        .enumerate()
        .map(|(at, message)| at < first.max(state.read_from()) || matches!(message.role, Role::System | Role::Other) || message.stays)
        .collect();
    let kept = newest_memories(state);
    for exchange in exchanges::of(view, 0..protect_from) {
        let is_kept = |entry: usize| if state.is_memory(entry) { kept.contains(&entry) } else { state.is_kept(entry) };
        let holds_kept = |entry: usize| view.entries[entry].kind == EntryKind::Result && is_kept(entry);
        if exchange.messages.end > protect_from || is_pinned(state, &exchange.messages) || exchange.entries.clone().any(holds_kept) {
            is_staying[exchange.messages.start..exchange.messages.end.min(protect_from)].fill(true);
        }
    }
    for pin in state.options.pins.iter().filter(|pin| pin.message < protect_from) {
        is_staying[pin.message] = true;
    }
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..protect_from).filter(|at| !is_staying[*at]) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The message behind the user's first words.
fn after_first_turn(view: &View<'_>) -> usize {
    let is_users = |at: &usize| view.messages[*at].role == Role::User;
    let Some(first) = (0..view.messages.len()).find(is_users) else { return 0 };
    (first..view.messages.len()).find(|at| !is_users(at)).unwrap_or(view.messages.len())
}

/// The newest result of each tool that remembers.
fn newest_memories(state: &State<'_>) -> Vec<usize> {
    let mut newest: Vec<(&str, usize)> = Vec::new();
    for entry in (0..state.entries_before(state.length())).filter(|entry| state.is_memory(*entry)) {
        let tool = state.view.tool_of(&state.view.entries[entry]).unwrap_or("");
        match newest.iter_mut().find(|(known, _)| *known == tool) {
            Some((_, last)) => *last = entry,
            None => newest.push((tool, entry)),
        }
    }
    newest.into_iter().map(|(_, entry)| entry).collect()
}
