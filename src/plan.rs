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

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error};
use crate::wire::Format;

pub mod carry;

/// The version of the plan's shape that this library writes.
pub const VERSION: u32 = 1;

/// The carried value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// [`VERSION`].
    pub version: u32,
    /// The format of the history it is for.
    pub format: Format,
    /// The model of the last call: another one has another cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fingerprints of what stood before the history.
    #[serde(default)]
    pub context: Context,
    /// Every edit in force, in the order of their addresses.
    pub edits: Vec<Edit>,
    /// The last request, which a reported usage is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Sent>,
    /// What reported usage has taught about our estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}

/// Fingerprints, as hex, of what stood before the history in the last request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Leading system messages and a separate system prompt.
    pub system: String,
    /// Tools schema.
    pub tools: String,
    /// Context block.
    pub block: String,
}

/// What was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Messages of the history it was made from.
    pub up_to: usize,
    /// Our estimate of it in tokens, unscaled.
    pub estimate: u32,
}

/// Reported tokens over estimated tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scale {
    /// Multiplies our estimates.
    pub ratio: f64,
    /// The request that it was learned from.
    pub up_to: usize,
}

/// An entry, shortened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// Address: index of the message in the history.
    pub message: usize,
    /// Address: part of the message.
    pub part: u32,
    /// Name of the tool whose result it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Fingerprint of the whole content, as hex.
    pub fingerprint: String,
    /// Why it was made.
    pub rule: Rule,
    /// Length of the history at the call that made it.
    pub since: usize,
    /// What is sent in place of the content; nothing at all for reasoning.
    pub pieces: Vec<Piece>,
    /// The entry that stands in for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Why an edit was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// An earlier result of the same tool says the same.
    Duplicate,
    /// A later call shows the same resource as it is by then.
    Superseded,
    /// Large and old: head and tail stay.
    Truncated,
    /// Old reasoning.
    Reasoning,
}

/// A stretch of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn from_json(value: serde_json::Value) -> crate::Result<Plan> {
        Plan::read(value)
    }

    /// Reads a plan from any value that serde can walk.
    ///
    /// # Errors
    /// [`Code::InvalidPlan`] with the path to the fault.
    pub fn read<'de>(value: impl serde::Deserializer<'de>) -> crate::Result<Plan> {
        let fault = |path: String, what: String| {
            let path = if path == "." { "plan".to_owned() } else { format!("plan.{path}") };
            Error::new(Code::InvalidPlan, path, format!("{what}; pass the plan that the last call returned, unchanged, or null to start anew"))
        };
        let plan: Plan = serde_path_to_error::deserialize(value).map_err(|error| fault(error.path().to_string(), error.inner().to_string()))?;
        if plan.version != VERSION {
            return Err(fault("version".into(), format!("version {} is not one that this library reads (it reads {VERSION})", plan.version)));
        }
        Ok(plan)
    }
}
