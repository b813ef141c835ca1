//! warmfold shortens the old tool results in an LLM agent's message history when that saves more than it costs in the provider's prompt cache.
//!
//! Before each model call the host passes its messages and the plan that it carries; it gets back edits, cache breakpoints and the
//! next plan. The same input always gives the same bytes.
//!
//! ```text
//! request ─ wire::read ─▶ view ─▶ planner::plan(view, carried plan, options) ─▶ plan' ─▶ render ─▶ wire::apply ─▶ patches
//!                                                                                └─▶ breakpoints, report
//! ```
//!
//! One direction. The planner decides, the renderer writes text, the wire alone knows a provider's JSON, and nothing does I/O.
//!
//! Laws, each a property test: the same input gives the same bytes; what is untouched stays as it is; calls keep their results;
//! without a fold the output only ever grows at its end; an edit renders to the same bytes until a reported fold; planning twice
//! changes nothing; an edit never grows its text, never is silent, never touches what is protected; and any input gives a result or
//! one clear [`Error`].
//!
//! ```
//! use warmfold::{Options, Tape, fold::fold, planner::Given, wire::Request};
//!
//! let log = "line of a build log that nobody will read again\n".repeat(200);
//! let mut messages = serde_json::json!([
//!     { "role": "user", "content": "make it build" },
//!     { "role": "assistant", "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "build", "arguments": "{}" } }] },
//!     { "role": "tool", "tool_call_id": "1", "content": log },
//!     { "role": "assistant", "content": "It builds." },
//!     { "role": "user", "content": "thanks" }]);
//! let tape = Tape::from_json(&serde_json::json!({ "messages": messages }).to_string())?;
//!
//! let outcome = fold(&Request::of(tape.root()), &Options::default(), Given::New)?;
//! outcome.patches.iter().for_each(|patch| patch.apply_to(&mut messages));
//! assert!(messages[2]["content"].as_str().unwrap().starts_with("[warmfold: 199 of 200 lines elided]"));
//! # Ok::<(), warmfold::Error>(())
//! ```
//!
//! What this crate does not do: it calls no model, stores nothing, and knows no clock. Summaries and storage are the host's.

#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]
#![warn(missing_docs)]

pub mod bytes;
pub mod cache;
pub mod error;
mod fields;
pub mod fold;
pub mod format;
pub mod history;
pub mod options;
pub mod plan;
pub mod planner;
pub mod render;
pub mod replay;
pub mod report;
pub mod stats;
pub mod tape;
pub mod tokens;
#[cfg(target_arch = "wasm32")]
mod wasm;
pub mod wire;

pub use error::{Error, Result};
pub use format::Format;
pub use options::Options;
pub use plan::Plan;
pub use tape::Tape;
