//! `cache::breakpoints`: places that the next call asks for again, the limit, and the order of keeping.

use serde_json::{Value, json};
use warmfold::cache::breakpoints::{Layout, Limits, plan};

use crate::support::*;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn layout(bytes: &[u64], system_end: usize) -> Layout {
    Layout { bytes: bytes.to_vec(), blocks: vec![1; bytes.len()], can_hold: vec![true; bytes.len()], system_end, added_from: bytes.len() }
}

/// A milestone every 100 bytes.
fn limits(most: usize) -> Limits {
    Limits { most, milestone_tokens: 25 }
}

/// Bytes that come in no pattern.
fn odd_bytes(count: u64) -> Vec<u64> {
    (0..count).map(|at| (at * 7919) % 61 + 1).collect()
}

#[test]
fn milestones_do_not_drift_as_messages_are_appended() {
    let bytes = odd_bytes(200);
    let milestones = |length: usize| -> Vec<usize> {
        let all = plan(&layout(&bytes[..length], 1), &limits(1000), &[], None);
        all.into_iter().filter(|at| *at != length - 1 && *at != 0).collect()
    };
    let full = milestones(200);
    assert!(full.len() > 20, "{full:?}");
    for length in 2..200 {
        let expected: Vec<usize> = full.iter().copied().filter(|at| *at < length - 1).collect();
        assert_eq!(milestones(length), expected, "at {length} messages");
    }
}

#[test]
fn each_is_the_last_message_that_ends_before_a_multiple() {
    assert_eq!(plan(&layout(&[60, 30, 30, 60, 40, 10], 0), &limits(9), &[], None), [1, 3, 5]);
    assert_eq!(plan(&layout(&[60, 40, 30], 0), &limits(9), &[], None), [1, 2], "one that ends on it is before it");
    assert_eq!(plan(&layout(&[250, 30], 0), &limits(9), &[], None), [1], "nothing ends before the first");
}

#[test]
fn system_run_and_tail_come_with_every_plan() {
    assert_eq!(plan(&layout(&[5, 5, 5, 5], 2), &limits(4), &[], None), [1, 3]);
    assert_eq!(plan(&layout(&[5], 1), &limits(4), &[], None), [0]);
    assert_eq!(plan(&layout(&[], 0), &limits(4), &[], None), [0usize; 0]);
}

/// Over the limit: tail, system, fold point, second tail, then the newest milestones.
#[test]
fn the_order_of_keeping() {
    let layout = Layout { added_from: 10, ..layout(&[90; 40], 1) };
    let expected: [&[usize]; 7] = [&[], &[39], &[0, 39], &[0, 5, 39], &[0, 5, 28, 39], &[0, 5, 28, 37, 39], &[0, 5, 28, 36, 37, 39]];
    for (most, expected) in expected.into_iter().enumerate() {
        assert_eq!(plan(&layout, &limits(most), &[], Some(5)), expected, "{most} at most");
    }
}

#[test]
fn what_the_caller_has_marked_is_not_marked_again() {
    let layout = layout(&[90; 5], 1);
    assert_eq!(plan(&layout, &limits(2), &[4], None), [0, 3]);
    assert_eq!(plan(&layout, &limits(2), &[0, 4], None), [2, 3]);
}

#[test]
fn a_breakpoint_moves_back_to_what_can_hold_it() {
    let mut layout = layout(&[90; 6], 2);
    layout.can_hold = vec![true, false, true, true, false, false];
    assert_eq!(plan(&layout, &limits(2), &[], None), [0, 3]);
    layout.can_hold = vec![false; 6];
    assert_eq!(plan(&layout, &limits(4), &[], None), [0usize; 0]);
}

/// Twenty blocks back a provider looks no further: a long last turn gets a mark from which it sees what the last call wrote.
#[test]
fn a_long_turn_gets_a_second_tail() {
    let far = Limits { most: 4, milestone_tokens: 1_000_000 };
    assert_eq!(plan(&layout(&[5; 15], 1), &far, &[], None), [0, 14]);
    assert_eq!(plan(&Layout { added_from: 21, ..layout(&[5; 40], 1) }, &far, &[], None), [0, 39], "nineteen blocks are in reach");
    assert_eq!(plan(&Layout { added_from: 10, ..layout(&[5; 40], 1) }, &far, &[], None), [0, 28, 39]);
    let mut wide = Layout { added_from: 2, ..layout(&[5; 8], 1) };
    wide.blocks = vec![1, 1, 1, 1, 25, 1, 1, 1];
    assert_eq!(plan(&wide, &far, &[], None), [0, 3, 7], "blocks count, not messages");
}

/// Where every turn is short the tail of the last call is in reach, so a second one would only drift along.
#[test]
fn a_short_turn_gets_no_second_tail() {
    let rounds: Vec<Value> = (0..30).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": at.to_string() }), "short")).collect();
    let messages = history(&[&[system("rules"), user("go")], &rounds]);
    for call in carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| json!({})) {
        assert_eq!(call.outcome.breakpoints, [0, call.input().len() - 1]);
    }
}

/// After a fold one mark stands where the last call wrote one that can still be read.
#[test]
fn a_fold_keeps_a_mark_that_is_still_warm() {
    let chatter: Vec<Value> = (0..30).flat_map(|_| [assistant(&lines("thinking aloud", 10)), user("go on")]).collect();
    let late = exchange("a", "read", json!({ "path": "a" }), &lines("a", 400));
    let messages = history(&[&[system("rules"), user("go")], &chatter, &late, &[assistant("ok"), user("so")]]);
    let options = merged(&eager(), &json!({ "milestoneTokens": 2000 }));
    let before = fold_messages(&messages[..64], &merged(&options, &json!({ "when": "never" })), &Carry::New);
    let after = fold_messages(&messages, &options, &before.next());
    let from = after.outcome.report.folded_from.expect("the long read is cut");
    let warm = before.outcome.breakpoints.iter().copied().filter(|at| *at < from).max();
    assert!(warm.is_some_and(|at| at > 1 && after.outcome.breakpoints.contains(&at)), "{warm:?} of {:?}", after.outcome.breakpoints);
}

/// Twenty calls at once and their results: nothing near can hold a mark, so the old tail is asked for itself.
#[test]
fn a_wide_batch_asks_for_the_old_tail() {
    let far = Limits { most: 4, milestone_tokens: 1_000_000 };
    let mut wide = Layout { added_from: 3, ..layout(&[5; 25], 1) };
    wide.blocks[3] = 20;
    wide.can_hold[3] = false;
    assert_eq!(plan(&wide, &far, &[], None), [0, 2, 24]);
}
