//! The pipeline: read → plan → render → apply.
//!
//! ```
//! use warmfold::{Options, fold::fold, planner::Given, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "hi"}]}"#)?;
//! let outcome = fold(&Request::of(tape.root()), &Options::default(), Given::Derive)?;
//! assert!(outcome.patches.is_empty() && !outcome.folded);
//! assert_eq!(outcome.breakpoints, [0]);
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::rc::Rc;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::format::Format;
use crate::history::{View, turns};
use crate::options::{Marks, Options, Said};
use crate::plan::{Edit, Plan, carry};
use crate::planner::marks::{self, Sent};
use crate::planner::{Given, Planned, Planner};
use crate::report::{self, Report, Verdict};
use crate::tape::{Children, Node};
use crate::wire::patch::Patch;
use crate::wire::{Changes, Request};

/// Anthropic's one-hour cache, in milliseconds.
const HOUR_MS: f64 = 3_600_000.0;

/// What a call gives back.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Changes to the host's message array; empty for "as it is".
    pub patches: Vec<Patch>,
    /// The next plan.
    pub plan: Plan,
    /// Indices into the returned messages, ascending.
    pub breakpoints: Vec<usize>,
    /// Where each breakpoint stands.
    pub marks: Vec<Mark>,
    /// Whether an edit was added, lowered, dropped or released.
    pub folded: bool,
    /// Whether the prompt fits the model's window, where that is known.
    pub fits: bool,
    /// Both in a word.
    pub verdict: Verdict,
    /// What happened, and why.
    pub report: Report,
}

/// What applying gives back.
#[derive(Clone, Debug, Serialize)]
pub struct Rendered {
    /// Changes to the host's message array.
    pub patches: Vec<Patch>,
    /// Indices into the returned messages, ascending.
    pub breakpoints: Vec<usize>,
    /// Where each breakpoint stands.
    pub marks: Vec<Mark>,
}

/// A breakpoint's place in the returned messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Index of the message.
    pub at: usize,
    /// The part that the mark was written into; absent where none was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

/// Decides and applies.
///
/// # Errors
/// A history that its format does not allow, with the path to the fault.
pub fn fold(request: &Request<'_>, options: &Options, given: Given) -> crate::Result<Outcome> {
    run(request, options, given, true)
}

/// Decides only: the outcome has no patches.
///
/// # Errors
/// As [`fold`].
pub fn decide(request: &Request<'_>, options: &Options, given: Given) -> crate::Result<Outcome> {
    run(request, options, given, false)
}

fn run(request: &Request<'_>, options: &Options, given: Given, applied: bool) -> crate::Result<Outcome> {
    let (conversation, mut outcome) = Conversation::start(request, Rc::new(options.clone()), given)?;
    if applied {
        conversation.apply(&mut outcome)?;
    }
    Ok(outcome)
}

/// Applies a plan that was made elsewhere or earlier, as it stands. Edits that do not match the history are left out.
///
/// # Errors
/// As [`fold`].
pub fn render(request: &Request<'_>, options: &Options, plan: &Plan) -> crate::Result<Rendered> {
    let view = plan.format.read(request, options.context_block.as_deref())?;
    let edits = carry::carry(&view, plan).edits;
    let sent = turns::calls(&view).into_iter().rev().nth(1).unwrap_or(0);
    let points = marks::of(&view, options, marks::by_entry(&edits), Sent { length: view.messages.len(), added_from: sent }, None);
    apply(&view, plan.format, &edits, points, options)
}

/// A conversation that goes on: what an earlier call has read is not read again.
pub struct Conversation<'t> {
    format: Format,
    /// Of so many messages the format was recognised; a carried plan names it.
    recognised: usize,
    options: Rc<Options>,
    /// `None` with `enabled: false`.
    planner: Option<Planner<'t>>,
    edits: Vec<(usize, Rc<Edit>)>,
    /// Whether they are those of the call before.
    has_same_edits: bool,
}

impl<'t> Conversation<'t> {
    /// Decides the first call. The outcome has no patches yet: see [`Conversation::apply`].
    ///
    /// # Errors
    /// As [`fold`].
    pub fn start(request: &Request<'t>, options: Rc<Options>, given: Given) -> crate::Result<(Conversation<'t>, Outcome)> {
        let (format, recognised) = match (options.format, &given) {
            (Some(format), _) => (format, 0),
            (None, Given::Carried(plan)) => (plan.format, 0),
            _ => (Format::recognise(request)?, request.message_array()?.len()),
        };
        let view = format.read(request, options.context_block.as_deref())?;
        if !options.enabled {
            let outcome = disabled(&view, format, &options, given);
            return Ok((Conversation { format, recognised, options, planner: None, edits: Vec::new(), has_same_edits: false }, outcome));
        }
        let (planner, planned) = Planner::start(view, format, options.clone(), given);
        let outcome = outcome(planner.view(), &planned, &options);
        Ok((Conversation { format, recognised, options, planner: Some(planner), edits: planned.edits, has_same_edits: false }, outcome))
    }

    /// Decides the next call, of the same request with these messages behind the others; what is said of this call alone is told anew.
    /// Only where it [can go on](Conversation::can_go_on).
    ///
    /// # Errors
    /// As [`fold`]; the conversation is then of no more use.
    pub fn next(&mut self, messages: Children<'t>, said: Said, given: Given) -> crate::Result<Outcome> {
        let Some(planner) = &mut self.planner else {
            return Err(Error::new(Code::InvalidOption, "options.enabled", "nothing was planned that could go on"));
        };
        self.options = Rc::new(Options { cold: said.cold, usage: said.usage, ..(*self.options).clone() });
        if self.options.format.is_none() && matches!(given, Given::Derive | Given::New) {
            let all = planner.view().nodes.iter().copied().chain(messages.clone()).enumerate();
            Format::of_messages(all.clone().skip(self.recognised))?;
            self.recognised = all.count();
        }
        let format = self.format;
        let planned = planner.next(self.options.clone(), given, |view| format.append(view, messages))?;
        let outcome = outcome(planner.view(), &planned, &self.options);
        let is_same = |((was, before), (is, now)): (&(usize, Rc<Edit>), &(usize, Rc<Edit>))| was == is && Rc::ptr_eq(before, now);
        self.has_same_edits = self.edits.len() == planned.edits.len() && self.edits.iter().zip(&planned.edits).all(is_same);
        self.edits = planned.edits;
        Ok(outcome)
    }

    /// Whether more messages may follow: those of the leading system messages change what stands before the history.
    pub fn can_go_on(&self) -> bool {
        self.planner.as_ref().is_some_and(|planner| planner.view().system_end < planner.view().messages.len())
    }

    /// The plan that was returned last.
    pub fn plan(&self) -> Option<&Plan> {
        self.planner.as_ref().map(Planner::plan)
    }

    /// The messages as they stand in the request; none where nothing was planned.
    pub fn messages(&self) -> &[Node<'t>] {
        self.planner.as_ref().map_or(&[], |planner| &planner.view().nodes)
    }

    /// The edits of the plan that was returned last.
    pub fn edits(&self) -> impl Iterator<Item = &Rc<Edit>> {
        self.edits.iter().map(|(_, edit)| edit)
    }

    /// Whether the patches are those of the call before: no edit has changed, and marks, which move, are not written.
    pub fn has_same_patches(&self) -> bool {
        self.has_same_edits && self.options.marks == Marks::None
    }

    /// Adds the patches of the call that was decided last.
    ///
    /// # Errors
    /// As [`fold`].
    pub fn apply(&self, outcome: &mut Outcome) -> crate::Result<()> {
        let Some(planner) = &self.planner else { return Ok(()) };
        let points = std::mem::take(&mut outcome.breakpoints);
        let rendered = apply(planner.view(), self.format, &self.edits, points, &self.options)?;
        (outcome.patches, outcome.breakpoints, outcome.marks) = (rendered.patches, rendered.breakpoints, rendered.marks);
        Ok(())
    }
}

fn outcome(view: &View<'_>, planned: &Planned, options: &Options) -> Outcome {
    let (fits, report) = report::of(view, planned, options);
    let breakpoints = planned.breakpoints.clone();
    Outcome {
        patches: Vec::new(),
        marks: breakpoints.iter().map(|at| Mark { at: *at, part: None }).collect(),
        breakpoints,
        folded: planned.folded(),
        fits,
        verdict: Verdict::of(planned, fits),
        report,
        plan: planned.plan.clone(),
    }
}

fn disabled(view: &View<'_>, format: Format, options: &Options, given: Given) -> Outcome {
    let plan = match given {
        Given::Carried(plan) => plan,
        Given::Derive | Given::New | Given::Kept => Plan::new(format),
    };
    let tokens = view.size().tokens;
    let fits = options.window_tokens().is_none_or(|window| tokens <= window);
    let verdict = if fits { Verdict::Untouched } else { Verdict::CannotFit };
    Outcome { patches: Vec::new(), plan, breakpoints: Vec::new(), marks: Vec::new(), folded: false, fits, verdict, report: Report::disabled(tokens) }
}

/// Patches for edits, context block and marks; breakpoints come back with the part that each mark stands in.
fn apply(view: &View<'_>, format: Format, edits: &[(usize, Rc<Edit>)], points: Vec<usize>, options: &Options) -> crate::Result<Rendered> {
    let written = written(view, &points, options);
    let in_history: Vec<usize> = written.iter().filter_map(|at| at.checked_sub(view.shift())).collect();
    let block = options.context_block.as_deref();
    let changes = Changes {
        edits,
        block,
        marks: &in_history,
        mark_block: written.len() > in_history.len(),
        mark_system: false,
        dialect: options.marks,
        hour: asks_hour(view, options),
    };
    let (patches, parts) = format.apply(view, &changes)?;
    let mut parts = std::iter::repeat_n(0, written.len() - in_history.len()).chain(parts);
    let mark = |at: &usize| Mark { at: *at, part: if written.contains(at) { parts.next() } else { None } };
    Ok(Rendered { patches, marks: points.iter().map(mark).collect(), breakpoints: points })
}

fn asks_hour(view: &View<'_>, options: &Options) -> bool {
    options.marks == Marks::Anthropic && options.cache.ttl_ms >= HOUR_MS && view.host_marks.iter().all(|mark| mark.hour)
}

/// The breakpoints that are written as marks. A one-hour mark may not stand behind a five-minute one; OpenAI sets the tail's itself.
fn written(view: &View<'_>, points: &[usize], options: &Options) -> Vec<usize> {
    let last_hour = view.host_marks.iter().filter(|mark| mark.hour).filter_map(|mark| Some(mark.message? + view.shift())).max();
    let first = if asks_hour(view, options) { 0 } else { last_hour.unwrap_or(0) };
    let last = match options.marks {
        Marks::None => return Vec::new(),
        Marks::Anthropic => points.len(),
        Marks::Openai if marks::of_host(view, view.messages.len()).iter().any(|marked| points.last() < Some(marked)) => points.len(), // the caller has marked the tail
        Marks::Openai => points.len().saturating_sub(1),
    };
    points[..last].iter().copied().filter(|at| *at >= first).collect()
}
