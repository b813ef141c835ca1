//! The laws of DESIGN.md over generated histories, call by call.
//!
//! Each file is one law or a few that belong together. What a law says of a single call, or of two in a row, is asked of the
//! [`oracle`](crate::oracle); the files here make the calls.

use proptest::test_runner::{Config, TestCaseError};
use serde_json::Value;

use crate::oracle::Checked;
use crate::support::merged;

mod budget;
pub(crate) mod bytes;
mod derived;
mod every_call;
pub(crate) mod going_on;
mod occurs;
mod pays;
mod rewritten;
mod settled;
pub(crate) mod total;
mod warm;

/// How many cases; `PROPTEST_CASES` overrides it. Failing ones shrink to what is worth a test of its own, so none are stored.
pub(crate) fn cases(count: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok());
    Config { cases: asked.unwrap_or(count), failure_persistence: None, max_shrink_iters: 4000, ..Config::default() }
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
    options.iter().fold(serde_json::json!({}), |all, one| merged(&all, one))
}
