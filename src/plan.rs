//! The plan: what the caller carries from one call to the next. Plain JSON, versioned, owned by the caller.
//!
//! It holds every edit in force as the very pieces that are sent, never as a recipe, so that a later version of this library
//! renders the same bytes. [`carry`] matches it to a history.
//!
//! ```
//! use warmfold::plan::{Edit, Piece};
//!
//! let plan = warmfold::Plan::from_json(serde_json::json!({
//!     "version": 1, "format": "openai-chat", "edits": [{
//!         "message": 2, "part": 0, "tool": "read", "fingerprint": "00000000deadbeef", "rule": "truncated", "since": 9,
//!         "pieces": ["[warmfold: 98 of 100 lines elided]\n", [0, 20], "…\n", [380, 400]]}]}))?;
//! assert_eq!(plan.edits[0].pieces[1], Piece::Span(0, 20));
//! # Ok::<(), warmfold::Error>(())
//! ```

use crate::error::Code;
use crate::fields::{self, Fault, Fields, amount, list, one_of, text, whole};
use crate::format::Format;
use crate::history::View;
use crate::tape::{Kind, Node, Tape};
use crate::tokens::RANGE;
use std::ops::Range;
use std::rc::Rc;

use serde::Serialize;

pub mod carry;
pub mod segment;

pub use segment::{Segment, SegmentRule};

/// The version of the plan's shape that this library writes.
pub const VERSION: u32 = 1;

/// The carried value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// [`VERSION`].
    pub version: u32,
    /// The format of the history it is for.
    pub format: Format,
    /// The model of the last call: another one has another cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fingerprints of what stood before the history.
    pub context: Context,
    /// Every edit in force, in the order of their addresses. Shared, since a call that does not fold hands them on as they are.
    pub edits: Vec<Rc<Edit>>,
    /// Whole exchanges that go out as one message, ascending and apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<Rc<Segment>>,
    /// The last request, which a reported usage is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sent>,
    /// What reported usage has taught about our estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}

/// What is in force at a call.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Edits, by entry, ascending.
    pub edits: Vec<(usize, Rc<Edit>)>,
    /// Segments, ascending.
    pub segments: Vec<Rc<Segment>>,
}

impl Standing {
    /// The segment that stands for a message.
    pub fn segment_of(&self, message: usize) -> Option<&Rc<Segment>> {
        segment::of(&self.segments, message)
    }

    /// Where a message of the history is returned; what a segment stands for, as that.
    pub fn returned_at(&self, view: &View<'_>, message: usize) -> usize {
        let replaced: Vec<Range<usize>> = self.segments.iter().map(|segment| segment.messages()).collect();
        view.returned_at(&replaced, message)
    }

    /// The same of each message.
    pub fn index_map(&self, view: &View<'_>) -> Vec<usize> {
        let (mut next, mut map) = (view.shift(), Vec::with_capacity(view.messages.len()));
        for message in 0..view.messages.len() {
            let is_further = self.segment_of(message).is_some_and(|segment| segment.from < message);
            next -= usize::from(is_further);
            map.push(next);
            next += 1;
        }
        map
    }

    /// The segment that an entry goes with: its message's, or that of the call which it answers.
    pub fn segment_with(&self, view: &View<'_>, entry: usize) -> Option<&Rc<Segment>> {
        let found = &view.entries[entry];
        let call = found.tool_call.map(|call| view.tool_calls[call].message);
        self.segment_of(found.message).or_else(|| self.segment_of(call?))
    }
}

/// Fingerprints, as hex, of what stood before the history in the last request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Context {
    /// Leading system messages and a separate system prompt.
    pub system: String,
    /// Tools schema.
    pub tools: String,
    /// Context block.
    pub block: String,
}

/// What was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Messages of the history it was made from.
    pub up_to: usize,
    /// Our estimate of it in tokens, unscaled.
    pub estimate: u32,
}

/// Reported tokens over estimated tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scale {
    /// Multiplies our estimates.
    pub ratio: f64,
    /// The request that it was learned from.
    pub up_to: usize,
}

/// An entry, shortened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edit {
    /// Address: index of the message in the history.
    pub message: usize,
    /// Address: part of the message.
    pub part: u32,
    /// Name of the tool whose result it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Fingerprint of the whole content, as hex.
    pub fingerprint: String,
    /// Estimated tokens of the whole content, so that a call which carries the edit need not count them again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// Why it was made.
    pub rule: Rule,
    /// Length of the history at the call that made it.
    pub since: usize,
    /// What is sent in place of the content; nothing at all for reasoning.
    pub pieces: Vec<Piece>,
    /// The entry that stands in for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Why an edit was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// An earlier result of the same tool says the same.
    Duplicate,
    /// A later call shows the same resource as it is by then.
    Superseded,
    /// A later call has changed what it showed.
    Stale,
    /// Large and old: what matters of it stays, or its head and tail.
    Truncated,
    /// The same in one line, so that the window is fitted.
    Summarized,
    /// Old reasoning.
    Reasoning,
}

impl Rule {
    const NAMES: &[(&str, Rule)] = &[
        ("duplicate", Rule::Duplicate),
        ("superseded", Rule::Superseded),
        ("stale", Rule::Stale),
        ("truncated", Rule::Truncated),
        ("summarized", Rule::Summarized),
        ("reasoning", Rule::Reasoning),
    ];
}

/// A stretch of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Piece {
    /// Bytes of the original, from and up to.
    Span(u32, u32),
    /// Generated text.
    Text(String),
}

impl From<String> for Piece {
    fn from(text: String) -> Piece {
        Piece::Text(text)
    }
}

/// The entry that an edit points at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Its message.
    pub message: usize,
    /// Its part.
    pub part: u32,
    /// Its fingerprint, as hex.
    pub fingerprint: String,
}

impl Plan {
    /// A plan without edits.
    pub fn new(format: Format) -> Plan {
        Plan {
            version: VERSION,
            format,
            model: None,
            context: Context::default(),
            edits: Vec::new(),
            segments: Vec::new(),
            request: None,
            scale: None,
        }
    }

    /// Whether it holds anything whose address means something in its format alone.
    pub fn is_bound(&self) -> bool {
        !self.edits.is_empty() || !self.segments.is_empty()
    }

    /// Reads a plan that a caller carried.
    ///
    /// # Errors
    /// [`Code::InvalidPlan`] with the path to the fault.
    pub fn read(node: Node<'_>) -> crate::Result<Plan> {
        let advice = match node.text() {
            Some(_) => ": a plan that was stored as text must go through JSON.parse first",
            None => ": pass the plan that the last call returned, unchanged, or null to start anew",
        };
        let plan = Fields::of(node, "plan", Code::InvalidPlan, advice)?;
        let version = plan.need("version", |value| match whole(value)? {
            VERSION => Ok(VERSION),
            _ => Err(Fault::expected(&format!("version {VERSION}, the one that this library reads"), value)),
        })?;
        Ok(Plan {
            version,
            format: plan.need("format", |value| one_of(value, Format::NAMES))?,
            model: plan.read("model", text)?,
            context: plan.read("context", |value| fields::inner(value, context))?.unwrap_or_default(),
            edits: plan.need("edits", |value| list(value, |edit| fields::inner(edit, Edit::read).map(Rc::new)))?,
            segments: plan.read("segments", |value| list(value, |segment| fields::inner(segment, Segment::read).map(Rc::new)))?.unwrap_or_default(),
            request: plan.read("request", |value| {
                fields::inner(value, |sent| Ok(Sent { up_to: sent.need("upTo", whole)?, estimate: sent.need("estimate", whole)? }))
            })?,
            scale: plan.read("scale", |value| {
                fields::inner(value, |scale| Ok(Scale { ratio: scale.need("ratio", ratio)?, up_to: scale.need("upTo", whole)? }))
            })?,
        })
    }
    /// The same from JSON.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn from_json(value: serde_json::Value) -> crate::Result<Plan> {
        Plan::read(Tape::from_json(value.to_string())?.root())
    }
}

fn context(fields: &Fields<'_>) -> crate::Result<Context> {
    let print = |name| Ok(fields.read(name, text)?.unwrap_or_default());
    Ok(Context { system: print("system")?, tools: print("tools")?, block: print("block")? })
}

impl Edit {
    fn read(fields: &Fields<'_>) -> crate::Result<Edit> {
        Ok(Edit {
            message: fields.need("message", whole)?,
            part: fields.need("part", whole)?,
            tool: fields.read("tool", text)?,
            fingerprint: fields.need("fingerprint", text)?,
            tokens: fields.read("tokens", whole)?,
            rule: fields.need("rule", |value| one_of(value, Rule::NAMES))?,
            since: fields.need("since", whole)?,
            pieces: fields.need("pieces", |value| list(value, Piece::read))?,
            target: fields.read("target", |value| fields::inner(value, Target::read))?,
        })
    }
}

/// As far as a [`Scale`] ever goes.
pub(crate) fn ratio(node: Node<'_>) -> Result<f64, Fault> {
    let (least, most) = RANGE;
    amount(node).ok().filter(|ratio| (least..=most).contains(ratio)).ok_or_else(|| Fault::expected("a ratio of 0.25 to 4", node))
}

impl Target {
    fn read(fields: &Fields<'_>) -> crate::Result<Target> {
        Ok(Target { message: fields.need("message", whole)?, part: fields.need("part", whole)?, fingerprint: fields.need("fingerprint", text)? })
    }
}

impl Piece {
    fn read(value: Node<'_>) -> Result<Piece, Fault> {
        if let Some(text) = value.text() {
            return Ok(Piece::Text(text.to_owned()));
        }
        let ends = if value.kind() == Kind::Array { list(value, whole)? } else { Vec::new() };
        match ends[..] {
            [from, to] if from <= to => Ok(Piece::Span(from, to)),
            _ => Err(Fault::expected("a text or [from, to]", value)),
        }
    }
}
