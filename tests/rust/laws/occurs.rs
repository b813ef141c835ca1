//! What the laws speak of does occur in the histories and options that they are asked of: a law over cases that never fold proves nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::all;
use crate::histories::{Json, long_request, paying, policy, request};
use crate::support::{Call, call_lengths, carry_through};
use crate::twin::every_wire;

every_wire! {
    every_rule_occurs_in_short_histories,
    reasoning_goes,
    every_rule_occurs_where_folds_must_pay,
    quotes_hold_back,
}

/// Counts in so many cases, the same ones each time.
fn counted(
    cases: usize,
    strategy: &impl Strategy<Value = (Json, Json)>,
    mut count: impl FnMut(&mut BTreeMap<String, usize>, &Value, &Value),
) -> BTreeMap<String, usize> {
    let mut runner = TestRunner::deterministic();
    let mut counts = BTreeMap::new();
    for _ in 0..cases {
        let (request, options) = strategy.new_tree(&mut runner).expect("no value is rejected").current();
        count(&mut counts, &request.0, &options.0);
    }
    counts
}

fn run(request: &Value, options: &Value) -> Vec<Call> {
    carry_through(request, &call_lengths(request["messages"].as_array().unwrap()), |_| options.clone())
}

fn count_edits(counts: &mut BTreeMap<String, usize>, calls: &[Call]) {
    let mut add = |name: &str, more: usize| *counts.entry(name.to_owned()).or_default() += more;
    for (number, call) in calls.iter().enumerate() {
        add("calls", 1);
        add("folds", usize::from(call.outcome.folded));
        add("warm folds that cost", usize::from(number > 0 && call.outcome.report.fold_cost.is_some_and(|cost| cost > 0)));
        add("calls that hold back", usize::from(call.outcome.report.pending > 0));
        add("leftovers", call.outcome.report.edits_lowered);
        add("refetches", call.outcome.report.refetches);
        call.new_edits().iter().for_each(|edit| add(&edit.rule, 1));
    }
}

/// Counts that must be at least so high.
fn occur(counts: &BTreeMap<String, usize>, least: &[(&str, usize)]) {
    for (name, least) in least {
        let count = counts.get(*name).copied().unwrap_or(0);
        assert!(count >= *least, "{name} occurs {count} times: {counts:?}");
    }
}

fn every_rule_occurs_in_short_histories() {
    let counts = counted(400, &(request(), policy()), |counts, request, options| count_edits(counts, &run(request, options)));
    occur(&counts, &[("duplicate", 3), ("superseded", 20), ("stale", 20), ("truncated", 100), ("leftovers", 3)]);
    occur(&counts, &[("folds", 200), ("warm folds that cost", 50), ("calls that hold back", 200), ("refetches", 20)]);
}

fn every_rule_occurs_where_folds_must_pay() {
    let counts = counted(60, &(long_request(), paying()), |counts, request, options| count_edits(counts, &run(request, options)));
    occur(&counts, &[("duplicate", 10), ("superseded", 20), ("stale", 10), ("truncated", 200), ("leftovers", 1)]);
    occur(&counts, &[("folds", 150), ("warm folds that cost", 30), ("calls that hold back", 200), ("refetches", 20)]);
}

fn reasoning_goes() {
    let counts = counted(60, &(long_request(), paying()), |counts, request, options| count_edits(counts, &run(request, options)));
    occur(&counts, &[("reasoning", 20)]);
}

/// A quote holds a result back that would have been cut.
fn quotes_hold_back() {
    let counts = counted(60, &(long_request(), paying()), |counts, request, options| {
        let [free, held] = [0, 30].map(|calls| run(request, &all(&[options, &json!({ "protectQuotedCalls": calls })])));
        let later = free.iter().zip(&held).filter(|(free, held)| held.edits().len() < free.edits().len()).count();
        *counts.entry("calls with fewer edits".to_owned()).or_default() += later;
    });
    occur(&counts, &[("calls with fewer edits", 100)]);
}
