//! The laws of DESIGN.md over generated histories, call by call.
//!
//! Each file is one law or a few that belong together. What a law says of a single call, or of two in a row, is asked of the
//! [`oracle`](crate::oracle); the files here make the calls. All run on every wire ([`twin`](crate::twin)).

use proptest::test_runner::{Config, TestCaseError};
use serde_json::{Value, json};

use crate::oracle::Checked;
use crate::support::merged;
use crate::twin::addresses::Addresses;
use crate::twin::{self, rows::Tests};

pub(crate) mod alike;
mod budget;
mod bytes;
mod derived;
mod every_call;
mod going_on;
mod occurs;
mod pays;
mod rewritten;
mod settled;
pub(crate) mod total;
mod warm;
mod window;

/// The tests of all files.
pub const TESTS: &[Tests] = &[
    alike::TESTS,
    budget::TESTS,
    bytes::TESTS,
    derived::TESTS,
    every_call::TESTS,
    going_on::TESTS,
    occurs::TESTS,
    pays::TESTS,
    rewritten::TESTS,
    settled::TESTS,
    total::TESTS,
    warm::TESTS,
    window::TESTS,
];

/// How many cases; `PROPTEST_CASES` overrides it. Failing ones shrink to what is worth a test of its own, so none are stored. Wires share the
/// planner, so a few cases tell whether another wire keeps to it.
pub(crate) fn cases(count: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok());
    let count = if twin::current().is_chat() { count } else { count.div_ceil(OTHER_WIRES) };
    let max_shrink_iters = if twin::is_excepted() { 0 } else { 4000 };
    Config { cases: asked.unwrap_or(count), failure_persistence: None, max_shrink_iters, ..Config::default() }
}

/// One case in so many on a wire that is not Chat.
pub(crate) const OTHER_WIRES: u32 = 8;

/// A Chat request and its options as the wire of this test has them.
fn converted(request: &Value, options: &Value) -> (Value, Value) {
    let twin = twin::current();
    let converted = (twin.from_chat)(request);
    let options = Addresses::of(twin, request, &converted).options(&merged(options, &json!({ "format": twin.format })));
    (converted.request, options)
}

/// An oracle's answer as proptest wants it.
fn holds(checked: Checked) -> Result<(), TestCaseError> {
    checked.map_err(TestCaseError::fail)
}

fn with_choice(request: &Value, choice: Option<&Value>) -> Value {
    let mut request = request.clone();
    if let Some(choice) = choice {
        request["tool_choice"] = choice.clone();
    }
    request
}

pub(crate) fn all(options: &[&Value]) -> Value {
    options.iter().fold(json!({}), |all, one| merged(&all, one))
}
