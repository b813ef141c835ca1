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
use crate::history::{Front, View, turns};
use crate::options::{Marks, Options, Said};
use crate::plan::{Edit, Plan, Standing, carry};
use crate::planner::marks::{self, Sent};
use crate::planner::{Given, Planned, Planner};
use crate::report::{self, Report, Verdict};
use crate::tape::{Children, Node};
use crate::tokens::Estimator;
use crate::wire::patch::Patch;
use crate::wire::{Changes, Request, Segment};

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

/// A breakpoint's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// What it stands on.
    pub at: Place,
    /// The part that the mark was written into; absent where none was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

/// What a breakpoint stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// A returned message.
    Message(usize),
    /// What stands before the messages.
    Front(Front),
}

impl Place {
    /// The returned message that it is.
    pub fn message(self) -> Option<usize> {
        match self {
            Place::Message(at) => Some(at),
            Place::Front(_) => None,
        }
    }
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
    let standing = carry::carry(&view, plan).standing;
    let sent = turns::calls(&view).into_iter().rev().nth(1).unwrap_or(0);
    let points =
        marks::of(&view, options, marks::by_entry(&standing.edits), &standing.segments, Sent { length: view.messages.len(), added_from: sent }, None);
    apply(&view, plan.format, &standing, &points, options)
}

/// A conversation that goes on: what an earlier call has read is not read again.
pub struct Conversation<'t> {
    format: Format,
    /// Whether the messages alone tell the format; else a plan or the options named it.
    is_recognised: bool,
    options: Rc<Options>,
    /// `None` with `enabled: false`.
    planner: Option<Planner<'t>>,
    standing: Standing,
    /// The breakpoints of the last call.
    points: Vec<usize>,
    /// Whether what is in force is what was at the call before.
    stands: bool,
}

impl<'t> Conversation<'t> {
    /// Decides the first call. The outcome has no patches yet: see [`Conversation::apply`].
    ///
    /// # Errors
    /// As [`fold`].
    pub fn start(request: &Request<'t>, options: Rc<Options>, given: Given) -> crate::Result<(Conversation<'t>, Outcome)> {
        let carried = told_format(request, &options, if let Given::Carried(plan) = &given { Some(plan) } else { None });
        let format = carried.map_or_else(|| Format::recognise(request), Ok)?;
        let view = format.read(&request.for_model(model_of(&options, &given)), options.context_block.as_deref())?;
        if !options.enabled {
            let outcome = disabled(&view, format, &options, given);
            return Ok((Conversation::of(format, options, None), outcome));
        }
        let (planner, planned) = Planner::start(view, format, options.clone(), given);
        let outcome = outcome(planner.view(), &planned, &options);
        let begun = Conversation {
            standing: planned.standing,
            points: planned.breakpoints,
            is_recognised: carried.is_none(),
            ..Conversation::of(format, options, Some(planner))
        };
        Ok((begun, outcome))
    }

    fn of(format: Format, options: Rc<Options>, planner: Option<Planner<'t>>) -> Conversation<'t> {
        Conversation { format, options, planner, is_recognised: false, standing: Standing::default(), points: Vec::new(), stands: false }
    }

    /// Whether more messages may follow at all: those of the leading system messages change what stands before the history.
    pub fn is_anchored(&self) -> bool {
        self.planner.as_ref().is_some_and(|planner| planner.view().system_end < planner.view().messages.len())
    }

    /// Whether these messages may follow: they may tell that the history is of another format than it was taken to have.
    pub fn can_go_on(&self, mut messages: Children<'_>, given: &Given) -> bool {
        let is_certain = self.options.format.is_some()
            || match given {
                Given::Kept => self.plan().is_some_and(Plan::is_bound),
                Given::Carried(plan) => plan.format == self.format && plan.is_bound(),
                Given::Derive | Given::New => false,
            };
        let might_fit = match given {
            Given::Kept => true,
            Given::Carried(plan) => plan.format == self.format,
            Given::Derive | Given::New => self.is_recognised,
        };
        let counts_alike = self.planner.as_ref().is_some_and(|planner| match given {
            Given::Carried(_) => planner.view().estimator == Estimator::of(model_of(&self.options, given)),
            Given::Kept | Given::Derive | Given::New => true,
        });
        self.is_anchored() && counts_alike && (is_certain || might_fit && messages.all(|message| self.format.fits_message(message)))
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
        self.options = Rc::new(Options { cold: said.cold, usage: said.usage, calibration: said.calibration, ..(*self.options).clone() });
        self.is_recognised &= messages.clone().all(|message| self.format.fits_message(message));
        let format = self.format;
        let planned = planner.next(self.options.clone(), given, |view| format.append(view, messages))?;
        let outcome = outcome(planner.view(), &planned, &self.options);
        type At = (usize, Rc<Edit>);
        let is_same = |((was, before), (is, now)): (&At, &At)| was == is && Rc::ptr_eq(before, now);
        let (before, now) = (&self.standing, &planned.standing);
        self.stands = before.edits.len() == now.edits.len() && before.edits.iter().zip(&now.edits).all(is_same) && before.segments == now.segments;
        (self.standing, self.points) = (planned.standing, planned.breakpoints);
        Ok(outcome)
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
        self.standing.edits.iter().map(|(_, edit)| edit)
    }

    /// Whether the patches are those of the call before: no edit or segment has changed, and marks, which move, are not written.
    pub fn has_same_patches(&self) -> bool {
        self.stands && self.options.marks == Marks::None
    }

    /// Adds the patches of the call that was decided last.
    ///
    /// # Errors
    /// As [`fold`].
    pub fn apply(&self, outcome: &mut Outcome) -> crate::Result<()> {
        let Some(planner) = &self.planner else { return Ok(()) };
        let rendered = apply(planner.view(), self.format, &self.standing, &self.points, &self.options)?;
        (outcome.patches, outcome.breakpoints, outcome.marks) = (rendered.patches, rendered.breakpoints, rendered.marks);
        Ok(())
    }
}

/// The format that options or a carried plan name.
pub(crate) fn told_format(request: &Request<'_>, options: &Options, plan: Option<&Plan>) -> Option<Format> {
    // Before its first edit a conversation may have said nothing that tells its format.
    let of_plan = || plan.filter(|plan| plan.is_bound() || plan.format.fits(request)).map(|plan| plan.format);
    options.format.or_else(of_plan)
}

/// The model whose tokens are counted: that of this call, or else of the one before.
fn model_of<'o>(options: &'o Options, given: &'o Given) -> Option<&'o str> {
    let before = match given {
        Given::Carried(plan) => plan.model.as_deref(),
        Given::Kept | Given::Derive | Given::New => None,
    };
    options.model.id.as_deref().or(before)
}

fn outcome(view: &View<'_>, planned: &Planned, options: &Options) -> Outcome {
    let (fits, report) = report::of(view, planned, options);
    Outcome {
        patches: Vec::new(),
        breakpoints: in_messages(view, &planned.standing, &planned.breakpoints),
        marks: planned.breakpoints.iter().map(|at| Mark { at: place(view, &planned.standing, *at), part: None }).collect(),
        folded: planned.folded(),
        fits,
        verdict: Verdict::of(planned, fits),
        report,
        plan: planned.plan.clone(),
    }
}

/// Where a breakpoint stands.
fn place(view: &View<'_>, standing: &Standing, point: usize) -> Place {
    match (view.front, point.checked_sub(view.lead())) {
        (_, Some(message)) => Place::Message(standing.returned_at(view, message)),
        (Some(front), None) if point == 0 => Place::Front(front),
        (front, None) => Place::Message(point - usize::from(front.is_some())),
    }
}

fn in_messages(view: &View<'_>, standing: &Standing, points: &[usize]) -> Vec<usize> {
    points.iter().filter_map(|point| place(view, standing, *point).message()).collect()
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
fn apply(view: &View<'_>, format: Format, standing: &Standing, points: &[usize], options: &Options) -> crate::Result<Rendered> {
    let is_returned = |at: &usize| view.is_whole || place(view, standing, *at).message().is_some();
    let written: Vec<usize> = written(view, standing, points, options).into_iter().filter(is_returned).collect();
    let segments: Vec<Segment<'_>> = standing.segments.iter().map(|segment| Segment { messages: segment.messages(), text: &segment.text }).collect();
    let in_history: Vec<usize> = written.iter().filter_map(|at| at.checked_sub(view.lead())).collect();
    let is_before = written.len() > in_history.len();
    let changes = Changes {
        edits: &standing.edits,
        segments: &segments,
        block: options.context_block.as_deref(),
        marks: &in_history,
        mark_block: is_before && view.front.is_none(),
        mark_system: is_before && view.front.is_some(),
        dialect: options.marks,
        hour: asks_hour(view, options),
    };
    let (patches, parts) = format.apply(view, &changes)?;
    let mut parts = std::iter::repeat_n(0, written.len() - in_history.len()).chain(parts);
    let mark = |at: &usize| Mark { at: place(view, standing, *at), part: if written.contains(at) { parts.next() } else { None } };
    Ok(Rendered { patches, marks: points.iter().map(mark).collect(), breakpoints: in_messages(view, standing, points) })
}

fn asks_hour(view: &View<'_>, options: &Options) -> bool {
    options.marks == Marks::Anthropic
        && options.cache.ttl_ms >= HOUR_MS
        && view.host_marks.iter().map(|mark| mark.hour).chain(view.end_mark).all(|hour| hour)
}

/// The breakpoints that are written as marks. A one-hour mark may not stand behind a five-minute one; OpenAI sets the tail's itself.
fn written(view: &View<'_>, standing: &Standing, points: &[usize], options: &Options) -> Vec<usize> {
    let last_hour = match view.end_mark {
        Some(true) => Some(usize::MAX),
        _ => view.host_marks.iter().filter(|mark| mark.hour).filter_map(|mark| Some(mark.message? + view.lead())).max(),
    };
    let first = if asks_hour(view, options) { 0 } else { last_hour.unwrap_or(0) };
    let last = match options.marks {
        Marks::None => return Vec::new(),
        Marks::Anthropic => points.len(),
        Marks::Openai if marks::of_host(view, &standing.segments, view.messages.len()).iter().any(|marked| points.last() < Some(marked)) => {
            points.len()
        } // the caller has marked the tail
        Marks::Openai => points.len().saturating_sub(1),
    };
    points[..last].iter().copied().filter(|at| *at >= first).collect()
}
