//! What a call did, and why: figures for a ledger and lines for people.
//!
//! ```
//! use warmfold::report::thousands;
//!
//! assert_eq!((thousands(950), thousands(104_400)), ("950".to_owned(), "104k".to_owned()));
//! ```

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::Serialize;

use crate::history::{EntryKind, Role, View};
use crate::options::{Options, Overflow, When};
use crate::plan::{Rule, SegmentRule};
use crate::planner::Planned;
use crate::render::digest::CompactionSummary;
use crate::tokens::Learned;

/// A call in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// The messages go out as they are.
    Untouched,
    /// Edits of earlier calls are in force.
    Carried,
    /// Edits were added, dropped or released.
    Folded,
    /// The prompt is over the window all the same.
    CannotFit,
}

/// Figures and reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Tokens of the prompt in full.
    pub tokens_before: u32,
    /// Tokens of the prompt as returned.
    pub tokens_after: u32,
    /// Their difference.
    pub tokens_saved: u32,
    /// Messages with an edit.
    pub messages_elided: usize,
    /// Messages of the history that are sent as part of a digest, or evicted.
    pub messages_condensed: usize,
    /// Edits of earlier calls in force.
    pub edits_carried: usize,
    /// Edits made at this call, of entries that had none.
    pub edits_added: usize,
    /// Edits that this call replaced by shorter ones.
    pub edits_lowered: usize,
    /// Carried edits that the history no longer matches, and those that a cold call let go of.
    pub edits_dropped: usize,
    /// Digests and evictions made at this call.
    pub segments_added: usize,
    /// What this call's digests tell, as data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<CompactionSummary>,
    /// For each message of the history, the returned message that it is or that stands for it; absent where each is one message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub index_map: Vec<usize>,
    /// First returned message that this call's edits changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded_from: Option<usize>,
    /// Whether the provider's cache was taken to be cold: what was sent before may be rewritten without a fold.
    pub cold: bool,
    /// Edits that are due and held back, since rewriting what is cached would cost more than they save so far; what only a quote holds
    /// back may be among them.
    pub pending: usize,
    /// What this call's edits cost more than going without them, in uncached input tokens; under 0 for a gain at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold_cost: Option<i64>,
    /// What they save on each later call, in uncached input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_per_call: Option<u32>,
    /// Calls after which this fold has paid for what it made useless in the cache; 0 for at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pays_after_calls: Option<u64>,
    /// Tool calls made again, with the same arguments, after their result was shortened.
    pub refetches: usize,
    /// What reported usage has taught, by model id, where a report was taken in at this call: the host keeps it, and passes it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<FxHashMap<String, Learned>>,
    /// What happened and why, a line each.
    pub reasons: Vec<String>,
    /// Why the prompt does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cannot_fit: Option<CannotFit>,
}

/// Why a prompt does not fit the window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CannotFit {
    /// Tokens left if every eligible edit were made.
    pub floor_tokens: u32,
    /// Tokens that fit.
    pub limit_tokens: u32,
    /// What stands in the way.
    pub reason: String,
    /// The largest entry that is sent in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Place>,
}

/// An entry of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Index of its message.
    pub message: usize,
    /// Its part.
    pub part: u32,
}

impl Verdict {
    /// Sums a call up.
    pub fn of(planned: &Planned, fits: bool) -> Verdict {
        match (fits, planned.folded(), planned.plan.is_bound()) {
            (false, ..) => Verdict::CannotFit,
            (true, true, _) => Verdict::Folded,
            (true, false, true) => Verdict::Carried,
            (true, false, false) => Verdict::Untouched,
        }
    }
}

impl Report {
    /// The report of a call with `enabled: false`.
    pub fn disabled(tokens: u32) -> Report {
        Report {
            tokens_before: tokens,
            tokens_after: tokens,
            reasons: vec!["disabled: messages and plan are returned as given".to_owned()],
            ..Report::default()
        }
    }
}

/// Builds the report; tells whether the prompt fits.
pub fn of(view: &View<'_>, planned: &Planned, options: &Options) -> (bool, Report) {
    let (before, after) = planned.tokens;
    let window = options.window_tokens();
    let fits = window.is_none_or(|window| after <= window);
    let saved = before.saturating_sub(after);
    let mut report = Report {
        tokens_before: before,
        tokens_after: after,
        tokens_saved: saved,
        messages_elided: messages(view, planned, |_| true),
        messages_condensed: planned.standing.segments.iter().map(|segment| segment.messages().len()).sum(),
        segments_added: planned.condensed,
        digests: planned.summaries.clone(),
        index_map: if planned.standing.segments.is_empty() { Vec::new() } else { planned.standing.index_map(view) },
        edits_carried: planned.standing.edits.len() - planned.added - planned.lowered,
        edits_added: planned.added,
        edits_lowered: planned.lowered,
        edits_dropped: planned.dropped + planned.released + planned.swallowed,
        folded_from: planned.changed_from.map(|from| planned.standing.returned_at(view, from.min(view.messages.len()))),
        cold: !planned.cold.is_empty(),
        pending: planned.pending,
        fold_cost: planned.rewrite.map(|rewrite| rewrite.extra_cost(&options.cache).round() as i64),
        saved_per_call: planned.rewrite.map(|rewrite| rewrite.saved_per_call(&options.cache).round() as u32),
        pays_after_calls: planned.rewrite.and_then(|rewrite| rewrite.pays_after(&options.cache)),
        refetches: refetches(view, planned),
        calibration: planned.learned.clone().map(|one| FxHashMap::from_iter([one])),
        reasons: reasons(view, planned, options),
        cannot_fit: None,
    };
    if let Some(window) = window.filter(|_| !fits) {
        report.cannot_fit = Some(cannot_fit(view, planned, options, window));
    }
    (fits, report)
}

/// How many messages have an edit of such a rule.
fn messages(view: &View<'_>, planned: &Planned, counts: impl Fn(Rule) -> bool) -> usize {
    let mut messages: Vec<usize> =
        planned.standing.edits.iter().filter(|(_, edit)| counts(edit.rule)).map(|(entry, _)| view.entries[*entry].message).collect();
    messages.dedup();
    messages.len()
}

fn cannot_fit(view: &View<'_>, planned: &Planned, options: &Options, window: u32) -> CannotFit {
    let is_edited = |entry: usize| planned.standing.edits.binary_search_by_key(&entry, |(edited, _)| *edited).is_ok();
    let is_read = |entry: &usize| view.entries[*entry].message >= view.read_from(view.messages.len());
    let largest =
        (0..view.entries.len()).filter(is_read).filter(|entry| !is_edited(*entry)).min_by_key(|entry| std::cmp::Reverse(view.entries[*entry].bytes));
    let reason = match options.when {
        When::Never if planned.floor <= window => "edits would make it fit, but when: \"never\" makes none".to_owned(),
        _ if !options.fit_to_window => "fitToWindow is off, so the window is no limit to fold for".to_owned(),
        _ if options.overflow == Overflow::Digest => {
            "what is left is protected, or the user's own; protect less, reserve less for the answer (completionReserve), evict (overflow), or choose a model with a larger window".to_owned()
        }
        _ if options.overflow == Overflow::Evict => {
            "what is left is protected; protect less, reserve less for the answer (completionReserve), or choose a model with a larger window".to_owned()
        }
        _ => {
            "what is left is protected, or too small to be cut; protect less, cut smaller results (byKind), reserve less for the answer (completionReserve), or choose a model with a larger window"
                .to_owned()
        }
    };
    let entry = largest.map(|entry| Place { message: view.entries[entry].message, part: view.entries[entry].part });
    CannotFit { floor_tokens: planned.floor, limit_tokens: window, reason, entry }
}

/// Tool calls that ask again for what an edit took out: made after the first edit of a result of such a call.
fn refetches(view: &View<'_>, planned: &Planned) -> usize {
    let mut since: FxHashMap<u64, usize> = FxHashMap::with_capacity_and_hasher(planned.standing.edits.len(), FxBuildHasher);
    for (entry, edit) in planned.standing.edits.iter().filter(|(_, edit)| edit.rule != Rule::Reasoning) {
        let Some(call) = view.entries[*entry].tool_call else { continue };
        since.entry(view.tool_calls[call].print()).and_modify(|first| *first = edit.since.min(*first)).or_insert(edit.since);
    }
    let Some(first) = since.values().min() else { return 0 };
    let later = view.tool_calls.partition_point(|call| call.message < *first);
    view.tool_calls[later..].iter().filter(|call| since.get(&call.print()).is_some_and(|since| call.message >= *since)).count()
}

fn reasons(view: &View<'_>, planned: &Planned, options: &Options) -> Vec<String> {
    let (before, after) = planned.tokens;
    let mut reasons = Vec::new();
    let results = messages(view, planned, |rule| rule != Rule::Reasoning);
    let thoughts = planned.standing.edits.iter().filter(|(_, edit)| edit.rule == Rule::Reasoning).count();
    if !planned.standing.edits.is_empty() {
        let results = (results > 0).then(|| format!("{} elided", counted(results, "tool result")));
        let thoughts = (thoughts > 0).then(|| format!("reasoning of {} dropped", counted(thoughts, "message")));
        let what: Vec<String> = results.into_iter().chain(thoughts).collect();
        let again = if planned.folded() { "" } else { ", as before" };
        reasons.push(format!(
            "compaction: {}, ~{} tokens saved (prompt {}→{}){again}",
            what.join(", "),
            thousands(before.saturating_sub(after)),
            thousands(before),
            thousands(after)
        ));
    }
    let segments = &planned.standing.segments;
    if !segments.is_empty() {
        let of = |rule: SegmentRule| segments.iter().filter(|segment| segment.rule == rule).map(|segment| segment.messages().len()).sum::<usize>();
        let told = [(of(SegmentRule::Digest), "digested"), (of(SegmentRule::Evicted), "evicted")];
        let told: Vec<String> =
            told.into_iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("{} {how}", counted(count, "message"))).collect();
        let again = if planned.condensed > 0 { "" } else { ", as before" };
        reasons.push(format!("window: {} into {}{again}", told.join(", "), counted(segments.len(), "message")));
    }
    reasons.extend(planned.cold.iter().map(|why| format!("cache cold: {why}")));
    if planned.dropped > 0 {
        reasons.push(format!("plan: {} dropped, since the history no longer has the text they were made for", counted(planned.dropped, "edit")));
    }
    if planned.moved > 0 {
        reasons.push(format!("plan: {} moved with their text, since the history has shifted", counted(planned.moved, "edit")));
    }
    if planned.released > 0 {
        reasons.push(format!("plan: {} released, since protection covers them and the cache is cold", counted(planned.released, "edit")));
    }
    if planned.covered > 0 {
        reasons.push(format!("plan: {} in force although protection covers them now; a cold call releases them", counted(planned.covered, "edit")));
    }
    reasons.extend(over(planned, options));
    if let Some(name) = view.elsewhere {
        reasons.push(format!("request: the provider adds what {name} names; only what stands in the request is counted and folded"));
    }
    let orphans = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result && entry.tool_call.is_none());
    if let Some(orphan) = orphans.clone().next() {
        reasons.push(format!(
            "history: {} without a tool call, the first in {}[{}], left as they are",
            counted(orphans.count(), "result"),
            view.list,
            orphan.message
        ));
    }
    let strangers = || (0..view.messages.len()).filter(|at| view.messages[*at].role == Role::Other);
    if let Some(first) = strangers().next() {
        reasons.push(format!(
            "history: {} of an unknown role, the first {}[{first}], left as they are",
            counted(strangers().count(), "message"),
            view.list
        ));
    }
    reasons.extend(planned.notes.iter().cloned());
    reasons
}

/// Why the prompt is still over its limit.
fn over(planned: &Planned, options: &Options) -> Option<String> {
    let after = planned.tokens.1;
    let limit = options.limit_tokens().filter(|limit| after > *limit)?;
    let why = match (options.when, planned.pending) {
        (When::Never, _) => "when: \"never\" adds no edit".to_owned(),
        (When::Budget | When::Pays, 0) => "what is left is protected, too young or too small".to_owned(),
        (When::Budget | When::Pays, pending) => format!(
            "{} would save ~{} tokens, less than rewriting the cached prefix costs",
            counted(pending, "eligible edit"),
            thousands(after.saturating_sub(planned.floor))
        ),
    };
    Some(format!("over the limit: {} of {} tokens; {why}", thousands(after), thousands(limit)))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Tokens for people: `950`, `38k`.
pub fn thousands(tokens: u32) -> String {
    if tokens < 1000 { tokens.to_string() } else { format!("{}k", tokens.saturating_add(500) / 1000) }
}
