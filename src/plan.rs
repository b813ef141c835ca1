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
use crate::tape::{Kind, Node, Tape};
use crate::tokens::RANGE;
use std::rc::Rc;

use serde::Serialize;

pub mod carry;

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
    /// The last request, which a reported usage is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Sent>,
    /// What reported usage has taught about our estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
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
    /// Large and old: head and tail stay.
    Truncated,
    /// Old reasoning.
    Reasoning,
}

impl Rule {
    const NAMES: &[(&str, Rule)] = &[
        ("duplicate", Rule::Duplicate),
        ("superseded", Rule::Superseded),
        ("stale", Rule::Stale),
        ("truncated", Rule::Truncated),
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
        Plan { version: VERSION, format, model: None, context: Context::default(), edits: Vec::new(), request: None, scale: None }
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
