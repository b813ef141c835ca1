//! A whole transcript folded call by call, against a simulated cache: what a policy costs, what it reads from the cache, and what the
//! model quoted although it was gone.
//!
//! ```
//! use warmfold::{Options, replay::{self, Recorded}, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}"#)?;
//! let report = replay::replay(&Request::of(tape.root()), &Options::default(), &Recorded::default())?;
//! assert_eq!((report.calls, report.folds, report.cost == report.cost_without), (1, 0, true));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::hash::Hasher;
use std::rc::Rc;

use serde::Serialize;

use crate::cache::model::{Billed, Block, Cache, Request as Sent};
use crate::error::{Code, Error};
use crate::fields::{Fields, amount, list, truth};
use crate::format::Format;
use crate::history::{View, turns};
use crate::options::{Options, When};
use crate::plan::{Edit, Segment, Standing};
use crate::planner;
use crate::render;
use crate::tape::{Kind, Node};
use crate::tokens::MESSAGE_OVERHEAD;
use crate::wire::Request;
use losses::{Losses, Shown};

pub mod losses;

/// What was recorded beside the messages.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// When each message came, in milliseconds. Those of the model's messages count: a call is cold that is answered longer after the
    /// one before than the cache lives. Others may have any, since hosts list messages as sent, not as they came.
    pub times: Vec<Option<f64>>,
    /// Reckon as `eval/score.py` does: a token is four bytes, an image 300 tokens, and whatever was sent is found again, without minimum
    /// and steps.
    pub as_scored: bool,
}

impl Recorded {
    /// Reads `{ times?, asScored? }`.
    ///
    /// # Errors
    /// [`Code::InvalidOption`] with the path to the fault.
    pub fn read(node: Node<'_>) -> crate::Result<Recorded> {
        let fields = Fields::of(node, "options", Code::InvalidOption, "")?;
        Ok(Recorded {
            times: fields
                .read("times", |value| list(value, |time| if time.kind() == Kind::Null { Ok(None) } else { amount(time).map(Some) }))?
                .unwrap_or_default(),
            as_scored: fields.read("asScored", truth)?.unwrap_or(false),
        })
    }
}

/// What a transcript costs under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// Model calls.
    pub calls: usize,
    /// Calls that folded.
    pub folds: usize,
    /// Calls that found the cache gone.
    pub cold_calls: usize,
    /// Tokens sent, with the policy and without.
    pub tokens: f64,
    /// The same without.
    pub tokens_without: f64,
    /// Of the tokens sent, the share that was read from the cache.
    pub cached_share: f64,
    /// The same without.
    pub cached_share_without: f64,
    /// Cost of all input, in uncached input tokens.
    pub cost: f64,
    /// The same without.
    pub cost_without: f64,
    /// Cost, and what every loss costs if the agent runs the tool again.
    pub effective: f64,
    /// Lines of results that the model quoted.
    pub quotes: usize,
    /// Those that no longer stood in the prompt.
    pub lost_quotes: usize,
    /// Calls that quoted at least one of those.
    pub hurt_calls: usize,
    /// Call by call.
    pub by_call: Vec<ReplayedCall>,
}

/// One call of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedCall {
    /// Messages of the history that its request was made from.
    pub up_to: usize,
    /// Tokens sent.
    pub tokens: f64,
    /// Tokens read from the cache.
    pub cached: f64,
    /// The same without the policy.
    pub cached_without: f64,
    /// Cost in uncached input tokens.
    pub cost: f64,
    /// The same without the policy.
    pub cost_without: f64,
    /// Whether it folded.
    pub folded: bool,
    /// Whether it found the cache gone.
    pub cold: bool,
    /// Lines that its answer quotes and that no longer stood in the prompt.
    pub lost_quotes: usize,
}

/// Replays the recorded calls: those that an assistant message answers.
///
/// # Errors
/// A history that its format does not allow, or times that are not its own, with the path to the fault.
pub fn replay(request: &Request<'_>, options: &Options, recorded: &Recorded) -> crate::Result<Replay> {
    let request = &request.for_model(options.model.id.as_deref());
    let format = options.format.map_or_else(|| Format::recognise(request), Ok)?;
    let view = Rc::new(View { forced_tool: None, ..format.read(request, options.context_block.as_deref())? }); // it was forced at one call at the most
    if !recorded.times.is_empty() && recorded.times.len() != view.messages.len() {
        let what =
            format!("expected a time in milliseconds (or null) for each of the {} messages, got {}", view.messages.len(), recorded.times.len());
        return Err(Error::new(Code::InvalidOption, "options.times", what));
    }
    let options = &Rc::new(Options { when: if options.enabled { options.when } else { When::Never }, ..options.clone() });
    let calls = turns::calls(&view);
    let answers = &calls[..calls.len() - 1];
    check_order(&recorded.times, answers)?;
    let time = |message: usize| recorded.times.get(message).copied().flatten();
    let idle = |call: usize| call.checked_sub(1).and_then(|before| Some(time(answers[call])? - time(answers[before])?));
    let is_cold = |call: usize| idle(call).is_some_and(|idle| idle > options.cache.ttl_ms);
    let scored = recorded.as_scored.then(|| format.scored_bytes(request)).transpose()?;
    let measure = Measure::new(&view, scored);
    let losses = Losses::of(&view);
    let mut shown = Shown::default();
    let new_cache = || if recorded.as_scored { Cache::lenient(options.cache) } else { Cache::new(options.cache) };
    let (mut cache, mut cache_without) = (new_cache(), new_cache());
    let nothing = Standing::default();
    let (mut plain, mut sent) = (vec![measure.before()], vec![measure.before()]);
    let mut report = Replay { quotes: losses.quotes(), ..Replay::default() };
    planner::replay(&view, options, is_cold, |call| {
        let number = report.calls;
        measure.send(&mut plain, call.length, &nothing);
        sent.truncate(call.changed_from.map_or(usize::MAX, |from| from + 1));
        measure.send(&mut sent, call.length, call.standing);
        let cold = is_cold(number);
        let marks = call.breakpoints.filter(|_| !recorded.as_scored);
        let marks: Option<Vec<usize>> = marks.map(|marks| marks.into_iter().map(|at| at + 1 - view.lead()).collect());
        let bill = |cache: &mut Cache, messages: &[Block]| cache.bill(&Sent { messages, marks: marks.as_deref(), at_ms: None, cold });
        let (billed, billed_without) = (bill(&mut cache, &sent), bill(&mut cache_without, &plain));
        let tokens = measure.tokens(total(billed));
        let (lost, from) = losses.lost(&view, answers[number], call.standing, &mut shown);
        let cost = measure.tokens_f(billed.cost(&options.cache));
        let again: f64 = from.iter().map(|message| measure.again(*message, tokens, answers.len() - number, options)).sum();
        let one = ReplayedCall {
            up_to: call.length,
            tokens,
            cached: measure.tokens(billed.read),
            cached_without: measure.tokens(billed_without.read),
            cost,
            cost_without: measure.tokens_f(billed_without.cost(&options.cache)),
            folded: call.changed_from.is_some(),
            cold,
            lost_quotes: lost,
        };
        report.calls += 1;
        report.folds += usize::from(call.changed_from.is_some());
        report.cold_calls += usize::from(cold);
        report.tokens += tokens;
        report.tokens_without += measure.tokens(total(billed_without));
        report.cached_share += one.cached;
        report.cached_share_without += one.cached_without;
        report.cost += one.cost;
        report.cost_without += one.cost_without;
        report.effective += one.cost + again;
        report.lost_quotes += lost;
        report.hurt_calls += usize::from(lost > 0);
        report.by_call.push(one);
    });
    report.cached_share /= report.tokens.max(1.0);
    report.cached_share_without /= report.tokens_without.max(1.0);
    Ok(report)
}

/// Answers come one after another; a time that goes back would be taken for a cache that is warm.
fn check_order(times: &[Option<f64>], answers: &[usize]) -> crate::Result<()> {
    let known = answers.iter().filter_map(|answer| Some((*answer, times.get(*answer).copied().flatten()?)));
    let mut latest = (0, 0.0);
    for (answer, time) in known {
        if time < latest.1 {
            let path = format!("options.times[{answer}]");
            // As whole numbers: what writes floats is 10 KB of wasm.
            let (time, before, answer) = (time as i64, latest.1 as i64, latest.0);
            let what = format!(
                "{time} is before {before}, the time of the answer in messages[{answer}]: give times as they were, null for one that is not known"
            );
            return Err(Error::new(Code::InvalidOption, path, what));
        }
        latest = (answer, time);
    }
    Ok(())
}

fn total(billed: Billed) -> u64 {
    billed.read + billed.written + billed.uncached
}

/// How messages are counted: by our estimate, or in bytes as they are scored.
struct Measure<'v, 't> {
    view: &'v View<'t>,
    as_scored: bool,
    /// Each message beside its entries.
    fixed: Vec<u64>,
    /// Each entry in full.
    full: Vec<u64>,
}

impl<'v, 't> Measure<'v, 't> {
    fn new(view: &'v View<'t>, scored: Option<Vec<u64>>) -> Self {
        let as_scored = scored.is_some();
        let fixed = match scored {
            Some(bytes) => bytes.into_iter().map(|bytes| bytes + 4 * u64::from(MESSAGE_OVERHEAD)).collect(),
            None => view.messages.iter().map(|message| u64::from(message.fixed.tokens)).collect(),
        };
        let full = view.entries.iter().map(|entry| u64::from(if as_scored { entry.bytes } else { entry.estimate(view.estimator) })).collect();
        Measure { view, as_scored, fixed, full }
    }

    /// What stands before the history.
    fn before(&self) -> Block {
        Block { print: 0, tokens: if self.as_scored { 0 } else { u64::from(self.view.overhead.tokens) }, blocks: 0 }
    }

    /// Adds to what stands before the history, and the messages behind it that are sent as before, the others of a request.
    fn send(&self, blocks: &mut Vec<Block>, length: usize, standing: &Standing) {
        let kept = blocks.len() - 1;
        let first = self.view.messages.get(kept).map_or(0, |message| message.entries.start);
        let edits = &standing.edits;
        let mut edits = edits[edits.partition_point(|(entry, _)| *entry < first)..].iter().peekable();
        for (at, message) in self.view.messages[..length].iter().enumerate().skip(kept) {
            let mut print = rustc_hash::FxHasher::default();
            print.write_usize(at + 1);
            if let Some(segment) = standing.segment_of(at) {
                // What it stands for keeps its place, and takes none.
                print.write_usize(segment.since);
                let tokens = if segment.from == at { self.segment(segment) } else { 0 };
                blocks.push(Block { print: print.finish(), tokens, blocks: u32::from(segment.from == at) });
                continue;
            }
            let mut tokens = self.fixed[at];
            for entry in message.entries.clone() {
                if standing.segment_with(self.view, entry).is_some() {
                    print.write_usize(entry);
                    continue;
                }
                let edit = edits.next_if(|(edited, _)| *edited == entry).map(|(_, edit)| edit);
                if let Some(edit) = edit {
                    print.write_usize(entry);
                    print.write_usize(edit.since);
                }
                tokens += self.entry(entry, edit);
            }
            blocks.push(Block { print: print.finish(), tokens, blocks: message.blocks });
        }
    }

    fn segment(&self, segment: &Segment) -> u64 {
        let text = if self.as_scored { segment.text.len() as u64 } else { u64::from(self.view.estimator.text(&segment.text)) };
        text + u64::from(MESSAGE_OVERHEAD) * if self.as_scored { 4 } else { 1 }
    }

    fn entry(&self, entry: usize, edit: Option<&Rc<Edit>>) -> u64 {
        match edit {
            None => self.full[entry],
            Some(edit) if self.as_scored => render::length(&edit.pieces) as u64,
            Some(edit) => u64::from(render::tokens(self.view.estimator, self.view.entries[entry].text(), &edit.pieces)),
        }
    }

    /// What a call costs that runs a tool again, and carrying its result for ten calls.
    fn again(&self, message: usize, prompt: f64, calls_left: usize, options: &Options) -> f64 {
        let result: u64 = self.fixed[message] + self.view.messages[message].entries.clone().map(|entry| self.entry(entry, None)).sum::<u64>();
        let (result, profile) = (self.tokens(result), &options.cache);
        profile.read * prompt + profile.write * (result + 60.0) + profile.read * result * calls_left.min(10) as f64
    }

    fn tokens(&self, counted: u64) -> f64 {
        self.tokens_f(counted as f64)
    }

    fn tokens_f(&self, counted: f64) -> f64 {
        if self.as_scored { counted / 4.0 } else { counted }
    }
}
