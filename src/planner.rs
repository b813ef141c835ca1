//! The planner: which edits are in force at this call.
//!
//! It is a fold over model calls. One step takes the edits of call k to call k + 1 ([`step`]): where that pays, or over a limit, the
//! passes shorten what waits for it. A carried plan leaves one step to take; without one, every step is taken from the first call on,
//! so that `fold(messages)` alone gives what carrying would have given.
//!
//! ```
//! use warmfold::planner::{Given, Planner};
//! use warmfold::{Options, Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "hi"}]}"#)?;
//! let request = Request::of(tape.root());
//! let view = Format::OpenaiChat.read(&request, None)?;
//! let (_, planned) = Planner::start(view, Format::OpenaiChat, Options::default().into(), Given::Derive);
//! assert!(!planned.folded() && planned.plan.edits.is_empty());
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::ops::Range;
use std::rc::Rc;

use crate::format::Format;
use crate::history::View;
use crate::options::{Options, When};
use crate::plan::carry::{self, Carried};
use crate::plan::{Context, Edit, Plan, Scale, Sent, Standing};
use crate::render::digest::CompactionSummary;
use crate::tape::hex;
use crate::tokens::{Estimator, Learned};

mod ages;
mod attempt;
mod by_entry;
mod condensed;
mod duplicates;
mod limits;
pub mod marks;
mod passes;
mod pays;
mod pending;
mod proposal;
mod reasoning;
mod register;
mod segments;
mod stale;
mod state;
mod step;
mod summaries;
mod sums;
mod superseded;
mod truncation;
mod window;

use marks::Readable;
use state::State;
use step::Fold;

/// What the caller said about the plan.
pub enum Given {
    /// Nothing: derive it from the history.
    Derive,
    /// There is none: a new or imported conversation, nothing is cached.
    New,
    /// The plan of the last call.
    Carried(Plan),
    /// The very plan that the planner returned last.
    Kept,
}

/// What the planner decided.
pub struct Planned {
    /// The next plan.
    pub plan: Plan,
    /// What is in force by it.
    pub standing: Standing,
    /// The breakpoints of this call, by message of the history, counted from [`View::lead`] on. After a fold one of them is a breakpoint of the call before that still holds.
    pub breakpoints: Vec<usize>,
    /// Edits made at this call, of entries that had none.
    pub added: usize,
    /// Edits that this call replaced by shorter ones.
    pub lowered: usize,
    /// Carried edits that no longer match the history.
    pub dropped: usize,
    /// Carried edits found at another address.
    pub moved: usize,
    /// Carried edits and segments let go of on a cold call, since protection covers them now.
    pub released: usize,
    /// Segments made at this call.
    pub condensed: usize,
    /// What they tell, as data.
    pub summaries: Vec<CompactionSummary>,
    /// Edits of earlier calls that went with them.
    pub swallowed: usize,
    /// Edits in force that protection covers by now.
    pub covered: usize,
    /// First message of the history whose edit was added, dropped or released.
    pub changed_from: Option<usize>,
    /// Why the cache is taken to be cold; empty for warm.
    pub cold: Vec<String>,
    /// The model whose usage was taken in, and what is known of it by now.
    pub learned: Option<(String, Learned)>,
    /// Tokens in full, and as planned; scaled by what usage has taught.
    pub tokens: (u32, u32),
    /// Tokens that would be left if every eligible edit were made.
    pub floor: u32,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Edits that are eligible and not made.
    pub pending: usize,
    /// The cost of this call's new edits in the cache, and what they save.
    pub rewrite: Option<crate::cache::fold::Rewrite>,
}

impl Planned {
    /// Whether this call adds, lowers, drops or releases an edit.
    pub fn folded(&self) -> bool {
        self.added + self.lowered + self.dropped + self.released + self.condensed > 0
    }
}

/// Plans the calls of one conversation, one after another. What an earlier call has told of the history is not looked at again.
pub struct Planner<'t> {
    format: Format,
    state: State<'t>,
    /// What the last call returned.
    plan: Plan,
    /// Whether every call so far was derived, from the first on.
    is_derived: bool,
    /// Whether the state is what history and plan alone would give: a cold call takes more away than a later one finds again.
    is_settled: bool,
}

/// What a call begins with.
struct Begun<'t> {
    state: State<'t>,
    plan: Plan,
    carried: Carried,
    cold: Vec<String>,
    /// The earlier calls that are still to be planned.
    earlier: Range<usize>,
}

impl<'t> Planner<'t> {
    /// Decides a first call.
    pub fn start(view: View<'t>, format: Format, options: Rc<Options>, given: Given) -> (Planner<'t>, Planned) {
        let is_derived = matches!(given, Given::Derive);
        let Begun { mut state, plan, carried, cold, earlier } = begin(Rc::new(view), format, options, given);
        let planned = decide(&mut state, plan, carried, cold, earlier);
        let is_derived = is_derived && planned.cold.is_empty();
        (Planner { format, state, is_derived, is_settled: planned.cold.is_empty(), plan: planned.plan.clone() }, planned)
    }

    /// Decides the next call, of the same history with more messages behind it. Of the options only what is said of this one call may
    /// differ: `cold` and `usage`.
    ///
    /// # Errors
    /// What `read` returns; the planner is then of no more use.
    pub fn next(&mut self, options: Rc<Options>, given: Given, read: impl FnOnce(&mut View<'t>) -> crate::Result<()>) -> crate::Result<Planned> {
        let before = self.state.view.messages.len();
        self.state.append(read)?;
        let view = self.state.view.clone();
        let is_derived = matches!(given, Given::Derive);
        // Where the model has not answered the last call, this one is planned from the same history again, or in its place.
        let goes_on = view.begins_answer(before)
            && match given {
                Given::Kept => self.is_settled,
                Given::Derive => self.is_derived,
                Given::New | Given::Carried(_) => false,
            };
        let (plan, carried, cold, earlier);
        if goes_on {
            self.state.options = options;
            let (last, options) = (self.state.calls.len() - 1, &self.state.options);
            cold = said_cold(options);
            plan = if is_derived { anew(self.format, options) } else { self.plan.clone() };
            carried = Carried::default(); // the edits are in force
            earlier = if is_derived { self.state.call + 1..last } else { 0..0 };
        } else {
            let given = if matches!(given, Given::Kept) { Given::Carried(self.plan.clone()) } else { given };
            let begun = begin(view, self.format, options, given);
            self.is_derived = is_derived;
            (self.state, plan, carried, cold, earlier) = (begun.state, begun.plan, begun.carried, begun.cold, begun.earlier);
        }
        let planned = decide(&mut self.state, plan, carried, cold, earlier);
        self.is_derived &= is_derived && planned.cold.is_empty();
        self.is_settled = planned.cold.is_empty();
        self.plan = planned.plan.clone();
        Ok(planned)
    }

    /// The plan that was returned last.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The history as far as it was read.
    pub fn view(&self) -> &View<'t> {
        &self.state.view
    }
}

fn anew(format: Format, options: &Options) -> Plan {
    Plan { model: options.model.id.clone(), ..Plan::new(format) }
}

fn begin<'t>(view: Rc<View<'t>>, format: Format, options: Rc<Options>, given: Given) -> Begun<'t> {
    let is_derived = matches!(given, Given::Derive);
    let (plan, carried, cold) = match given {
        Given::Derive | Given::Kept => (anew(format, &options), Carried::default(), said_cold(&options)),
        Given::New => (anew(format, &options), Carried::default(), vec!["it is a new conversation".to_owned()]),
        Given::Carried(mut plan) => {
            let cold = [said_cold(&options), changes(&plan, &context_of(&view), &options)].concat();
            let mut carried = carry::carry(&view, &plan);
            if Estimator::of(plan.model.as_deref()) != view.estimator {
                count_anew(&view, &mut carried);
            }
            plan.format = format;
            (plan, carried, cold)
        }
    };
    let state = State::new(view, options, &carried.standing);
    let earlier = if is_derived { 0..state.calls.len() - 1 } else { 0..0 };
    Begun { state, plan, carried, cold, earlier }
}

/// Their tokens were counted for a model that counts otherwise.
fn count_anew(view: &View<'_>, carried: &mut Carried) {
    for (entry, edit) in &mut carried.standing.edits {
        let tokens = edit.tokens.map(|_| view.entries[*entry].estimate(view.estimator));
        *edit = Rc::new(Edit { tokens, ..(**edit).clone() });
    }
}

fn context_of(view: &View<'_>) -> Context {
    Context { system: hex(view.context.system), tools: hex(view.context.tools), block: hex(view.context.block) }
}

/// Decides the last call, after the earlier ones that are still to be planned.
fn decide(state: &mut State<'_>, mut next: Plan, carried: Carried, cold: Vec<String>, earlier: Range<usize>) -> Planned {
    let (view, options) = (state.view.clone(), state.options.clone());
    let (view, options, length) = (&*view, &*options, view.messages.len());
    let last = state.calls.len() - 1;
    let mut notes: Vec<String> =
        options.pins.iter().filter(|pin| pin.message >= length).map(|pin| format!("pins: there is no {}[{}]", view.list, pin.message)).collect();
    notes.extend(options.assumed_prices().map(|model| format!("prices: nothing is known of {model}, so Anthropic's are taken; pass cache")));
    if options.when == When::Budget && options.limit_tokens().is_none() {
        notes.push("when: \"budget\" folds over budgetTokens or the model's window, and neither is known".to_owned());
    }
    let sent_before = |state: &State<'_>, call: usize| call.checked_sub(1).map_or(0, |before| state.calls[before]);
    for call in earlier {
        let sent = sent_before(state, call);
        step::step(state, call, sent);
    }
    let learned = learn(&mut next, view, options, &mut notes);
    change_model(&mut next, options);
    state.scale = next.scale.map(|scale| scale.ratio).or(options.learned(next.model.as_deref()).map(|learned| learned.ratio)).unwrap_or(1.0);
    let sent = sent_before(state, last);
    let cached = if cold.is_empty() { sent.min(carried.changed_from.unwrap_or(length)) } else { 0 };
    let before = state.standing();
    let (fold, released) = take(state, last, cached, !cold.is_empty());
    let (floor, pending) = step::floor(state);
    let standing = state.standing();
    let changed = [carried.changed_from.filter(|_| carried.dropped > 0), released.first().copied(), fold.as_ref().and_then(|fold| fold.from(state))];
    let changed_from = changed.into_iter().flatten().min();
    let request_before = marks::Sent::before(&state.calls, last);
    let is_warm = cold.is_empty();
    let fold_point = changed_from.filter(|_| is_warm).and_then(|from| marks::fold_point(view, options, &before, request_before, from));
    let breakpoints = marks::of(view, options, state.edits(), state.segments(), marks::Sent { length, added_from: sent }, fold_point);
    let rewrite =
        fold.as_ref().map(|fold| fold.rewrite(state, &Readable::of(view, options, marks::by_entry(&before.edits), &before.segments, request_before)));
    next.context = context_of(view);
    next.request = Some(Sent { up_to: length, estimate: u32::try_from(state.unscaled()).unwrap_or(u32::MAX) });
    next.edits = standing.edits.iter().map(|(_, edit)| edit.clone()).collect();
    next.segments = standing.segments.clone();
    let fold = fold.unwrap_or_default();
    Planned {
        plan: next,
        added: fold.made.len() - fold.lowered,
        lowered: fold.lowered,
        condensed: fold.condensed.from.len(),
        summaries: fold.condensed.summaries,
        swallowed: fold.swallowed,
        dropped: carried.dropped,
        moved: carried.moved,
        released: released.len(),
        covered: state.covered(last).len(),
        changed_from,
        learned,
        tokens: (state.scaled(state.raw()), state.scaled(state.unscaled())),
        floor: state.scaled(floor),
        standing,
        breakpoints,
        cold,
        notes,
        pending,
        rewrite,
    }
}

/// Takes one call. On a cold one edits that protection covers are let go of, unless the window needs them: then what it covers stays
/// as short as it was.
fn take(state: &mut State<'_>, call: usize, cached: usize, is_cold: bool) -> (Option<Fold>, Vec<usize>) {
    if !is_cold {
        return (step::step(state, call, cached), Vec::new());
    }
    let before = state.standing();
    let released = state.release(call);
    if !released.is_empty() {
        state.restart(&state.standing()); // what it let go of may be what others are held against
    }
    let fold = step::step(state, call, cached);
    if released.is_empty() || !limits::is_over_window(state) {
        return (fold, released);
    }
    state.restart(&before);
    (step::step(state, call, cached), Vec::new())
}

/// A call of a whole transcript that was planned call by call.
pub struct Replayed<'s> {
    /// Messages of the history that its request is made from.
    pub length: usize,
    /// What is in force.
    pub standing: &'s Standing,
    /// The first message of which this call made, lowered or released one; `None` where it did not fold.
    pub changed_from: Option<usize>,
    /// The request's breakpoints, where marks bound what can be read again; in returned messages.
    pub breakpoints: Option<Vec<usize>>,
}

/// Plans each recorded call of a whole transcript as if the plan had been carried; `is_cold` says which find the cache gone.
pub fn replay<'t>(view: &Rc<View<'t>>, options: &Rc<Options>, is_cold: impl Fn(usize) -> bool, mut each: impl FnMut(Replayed<'_>)) {
    let mut state = State::new(view.clone(), options.clone(), &Standing::default());
    let calls = state.calls.clone();
    let mut standing = Standing::default();
    for (call, &length) in calls[..calls.len() - 1].iter().enumerate() {
        let (before, is_cold) = (marks::Sent::before(&calls, call), is_cold(call));
        let from = match take(&mut state, call, if is_cold { 0 } else { before.length }, is_cold) {
            (None, released) if released.is_empty() => None,
            (fold, released) => fold.iter().filter_map(|fold| fold.from(&state)).chain(released.first().copied()).min(),
        };
        let breakpoints = marks::are_bounds(view, options, state.segments(), length).then(|| {
            let fold_point = from.filter(|_| !is_cold).and_then(|from| marks::fold_point(view, options, &standing, before, from));
            marks::of(view, options, state.edits(), state.segments(), marks::Sent { length, added_from: before.length }, fold_point)
        });
        if from.is_some() {
            standing = state.standing();
        }
        each(Replayed { length, standing: &standing, changed_from: from, breakpoints });
    }
}

/// What the host says about the cache.
fn said_cold(options: &Options) -> Vec<String> {
    let Some(cold) = options.cold else {
        return Vec::new();
    };
    let Some(cold) = cold else {
        return vec!["the host says so".to_owned()];
    };
    let idle = cold.idle_ms.filter(|&idle| idle > options.cache.ttl_ms);
    let reasons = [
        cold.model_switched.then(|| "the model was switched".to_owned()),
        cold.retrying.then(|| "the call is retried".to_owned()),
        idle.map(|idle| format!("idle for {} s, over the cache's {} s", (idle / 1000.0) as u64, (options.cache.ttl_ms / 1000.0) as u64)),
    ];
    reasons.into_iter().flatten().collect()
}

/// What has changed before the history since the plan was made.
fn changes(plan: &Plan, context: &Context, options: &Options) -> Vec<String> {
    let other = |then: &str, now: &str| !then.is_empty() && then != now;
    let model = plan.model.as_ref().zip(options.model.id.as_ref()).filter(|(then, now)| then != now);
    let reasons = [
        model.map(|(then, now)| format!("the model changed from {then} to {now}")),
        other(&plan.context.system, &context.system).then(|| "the system prompt changed".to_owned()),
        other(&plan.context.tools, &context.tools).then(|| "the tools changed".to_owned()),
        other(&plan.context.block, &context.block).then(|| "the context block changed".to_owned()),
    ];
    reasons.into_iter().flatten().collect()
}

/// Takes a reported usage in: once, and only for the request that the plan knows. Returns what is known by now of the model that it went to.
fn learn(plan: &mut Plan, view: &View<'_>, options: &Options, notes: &mut Vec<String>) -> Option<(String, Learned)> {
    let usage = options.usage?;
    let sent = match plan.request {
        Some(_) if view.elsewhere.is_some() => {
            notes.push("usage ignored: it counts what the provider keeps, too".to_owned());
            return None;
        }
        None => {
            notes.push("usage ignored: no plan was carried from the request that it reports on".to_owned());
            return None;
        }
        Some(sent) if sent.up_to != usage.up_to || sent.estimate == 0 => {
            notes.push(format!("usage ignored: it is for {} messages, the last request had {}", usage.up_to, sent.up_to));
            return None;
        }
        Some(sent) => sent,
    };
    if plan.scale.is_some_and(|scale| scale.up_to == usage.up_to) {
        return None;
    }
    let observed = f64::from(usage.input_tokens) / f64::from(sent.estimate);
    let own = plan.scale.map(|scale| Learned { ratio: scale.ratio, reports: 1 });
    let kept = options.learned(plan.model.as_deref());
    let ratio = own.or(kept).unwrap_or_default().observe(observed).ratio;
    plan.scale = Some(Scale { ratio, up_to: usage.up_to });
    Some((plan.model.clone()?, kept.or(own).unwrap_or_default().observe(observed)))
}

/// What was learned of a model that counts otherwise says nothing about this one; that a report was taken in stays known.
fn change_model(plan: &mut Plan, options: &Options) {
    let Some(model) = options.model.id.as_ref().filter(|model| plan.model.as_ref() != Some(model)) else { return };
    let counts_otherwise = Estimator::of(plan.model.as_deref()) != Estimator::of(Some(model));
    let learned = options.learned(Some(model));
    if let Some(scale) = plan.scale.as_mut().filter(|_| counts_otherwise || learned.is_some()) {
        scale.ratio = learned.unwrap_or_default().ratio;
    }
    plan.model = Some(model.clone());
}
