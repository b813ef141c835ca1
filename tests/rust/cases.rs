//! Faults that users of other systems met, each as a kind, with the neighbours of the kind.
//!
//! One file a group: what goes wrong between a call and its result, in the cache, when folding pays, with the budget, with what must stay,
//! with the text that is cut, and with a plan that meets another history. Each runs on every wire ([`twin`](crate::twin)), and says which rows
//! of CASES.md it covers.

mod budget;
mod cache;
mod pairing;
mod pays;
mod plan;
mod protection;
mod supersession;
mod text;
mod window;

/// The tests of all files.
#[cfg(not(target_arch = "wasm32"))]
pub const TESTS: &[crate::twin::rows::Tests] =
    &[budget::TESTS, cache::TESTS, pairing::TESTS, pays::TESTS, plan::TESTS, protection::TESTS, supersession::TESTS, text::TESTS, window::TESTS];
