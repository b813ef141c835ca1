//! The window: what stays at any size of it, what a digest tells, and what comes back.

use serde_json::{Value, json};

use crate::support::{Carry, Sent, assistant, exchange, history, lines, merged, user};
use crate::twin::{self, addresses::Addresses, every_wire};

every_wire! {
    a_long_history_keeps_its_ends_at_any_window covers 14,
    a_digest_tells_what_was_done,
    digests_are_appended_and_merged_when_cold,
    memories_and_pins_stay,
    before_the_window_is_full,
    without_overflow_nothing_goes,
}

fn narrow(window: u32, more: &Value) -> Value {
    let window = json!({ "model": { "contextWindow": window }, "contextHeadroom": 1, "completionReserve": 0, "protectRecentTurns": 1 });
    merged(&merged(&window, &json!({ "overflow": "digest" })), more)
}

fn send(messages: &[Value], options: &Value, carry: &Carry) -> Sent {
    let (twin, request) = (twin::current(), json!({ "messages": messages }));
    let converted = (twin.from_chat)(&request);
    let options = Addresses::of(twin, &request, &converted).options(&merged(options, &json!({ "format": twin.format })));
    twin.send(&converted.request, &options, carry)
}

/// Calls that read a file, and after each third a word of the user's.
fn session(rounds: usize) -> Vec<Value> {
    let mut messages = vec![user("the task: mend the parser")];
    for round in 0..rounds {
        messages.extend(exchange(
            &format!("c{round}"),
            "read_file",
            json!({ "path": format!("src/part{round}.rs") }),
            &lines(&format!("part {round}"), 8),
        ));
        if round % 3 == 2 {
            messages.extend([assistant(&format!("part {round} is done")), user(&format!("go on behind part {round}"))]);
        }
    }
    messages
}

fn says(messages: &[Value], text: &str) -> usize {
    messages.iter().filter(|message| message.to_string().contains(text)).count()
}

fn a_long_history_keeps_its_ends_at_any_window() {
    let mut messages = session(1200);
    messages.extend(exchange("last", "read_file", json!({ "path": "src/last.rs" }), "the last result"));
    assert!(messages.len() >= 3000 + 200);
    for window in [400, 1000, 4000, 20_000] {
        for overflow in ["evict", "digest"] {
            let sent = send(&messages, &narrow(window, &json!({ "overflow": overflow })), &Carry::New);
            assert_eq!(says(&sent.output()[..1], "the task: mend the parser"), 1, "{overflow} {window}");
            assert_eq!(says(&sent.output()[sent.output().len() - 2..], "the last result"), 1, "{overflow} {window}");
            if overflow == "evict" {
                assert!(sent.outcome.fits && sent.outcome.report.tokens_after <= window, "{window}: {:?}", sent.outcome.report.cannot_fit);
            } else {
                let users = messages.iter().filter(|message| message["role"] == "user").count();
                assert_eq!(says(sent.output(), "go on behind part"), users - 1, "the user's words stay verbatim");
            }
        }
    }
}

fn a_digest_tells_what_was_done() {
    let test = "running 3 tests\ntest parses ... FAILED\ntest prints ... ok\ntest reads ... ok\n\ntest result: FAILED. 2 passed; 1 failed\n"
        .to_owned()
        + &lines("log", 30);
    let messages = history(&[
        &[user("mend it")],
        &exchange("a", "read_file", json!({ "path": "src/parser.rs" }), &lines("parser", 40)),
        &exchange("b", "edit_file", json!({ "path": "src/parser.rs", "old_string": "a", "new_string": "b" }), &lines("edited", 20)),
        &exchange("c", "bash", json!({ "command": "cargo test" }), &test),
        &exchange("d", "read_file", json!({ "path": "src/late.rs" }), "the last result"),
    ]);
    let sent = send(&messages, &narrow(160, &json!({ "floorRatio": 0.3 })), &Carry::New);
    let segments = &sent.outcome.plan.segments;
    assert_eq!(segments.len(), 1, "{:?}", sent.outcome.report);
    let text = &segments[0].text;
    for words in ["Read src/parser.rs (1 read)", "Edited src/parser.rs (1 edit)", "cargo test", "1 of 3 tests failed"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let digest = &sent.outcome.report.digests[0];
    assert_eq!((&digest.files_edited, digest.findings.failed_tests), (&vec!["src/parser.rs".to_owned()], 1));
    assert!(sent.outcome.fits && sent.says("digested into 1 message"), "{:?}", sent.outcome.report.reasons);
}

fn digests_are_appended_and_merged_when_cold() {
    let without_words: Vec<Value> = session(40)
        .into_iter()
        .filter(|message| message["role"] != "user" || message["content"].as_str().is_some_and(|text| text.starts_with("the task")))
        .collect();
    let messages: Vec<Value> =
        without_words.into_iter().filter(|message| !(message["role"] == "assistant" && message["tool_calls"].is_null())).collect();
    let options = narrow(1500, &json!({}));
    let mut carry = Carry::New;
    let mut last: Option<Sent> = None;
    for length in (3..=messages.len()).step_by(2) {
        let sent = send(&messages[..length], &options, &carry);
        if let Some(before) = &last {
            let (then, now) = (&before.outcome.plan.segments, &sent.outcome.plan.segments);
            assert!(now.starts_with(then), "a digest that was made stays as it is");
        }
        carry = sent.next();
        last = Some(sent);
    }
    let last = last.unwrap();
    assert!(last.outcome.plan.segments.len() > 1);
    let cold = send(&messages, &merged(&options, &json!({ "cold": true })), &last.next());
    assert_eq!(cold.outcome.plan.segments.len(), 1);
    assert!(cold.outcome.folded && cold.outcome.report.tokens_after < last.outcome.report.tokens_after);
    let again = send(&messages, &options, &cold.next());
    assert!(!again.outcome.folded && again.body == cold.body);
}

fn memories_and_pins_stay() {
    let remember = |id: &str, text: &str| exchange(id, "memory", json!({ "command": "view", "path": id }), text);
    let read = |id: &str| exchange(id, "read_file", json!({ "path": id }), &lines(id, 30));
    let messages = history(&[
        &[user("go")],
        &remember("old", "the old memory"),
        &read("a"),
        &remember("new", "the new memory"),
        &read("b"),
        &read("pinned"),
        &read("c"),
        &exchange("d", "read_file", json!({ "path": "d" }), "the last result"),
    ]);
    let pinned = json!({ "pins": [{ "message": 10 }], "floorRatio": 0.1, "completionReserve": 0 });
    let digest = send(&messages, &narrow(900, &pinned), &Carry::New);
    for (text, count) in [("the old memory", 1), ("the new memory", 1), ("pinned, line 29", 1), ("c, line 29", 0)] {
        assert_eq!(says(digest.output(), text), count, "{text} under digest: {:?}", digest.output());
    }
    let evict = send(&messages, &narrow(900, &merged(&pinned, &json!({ "overflow": "evict" }))), &Carry::New);
    for (text, count) in [("the old memory", 0), ("the new memory", 1), ("pinned, line 29", 1), ("c, line 29", 0), ("the last result", 1)] {
        assert_eq!(says(evict.output(), text), count, "{text} under evict: {:?}", evict.output());
    }
}

/// Digests begin at a share of the prompt budget, before the window is full.
fn before_the_window_is_full() {
    let messages = session(12);
    let at = |threshold: f64| send(&messages, &narrow(4000, &json!({ "autoCompactThreshold": threshold, "when": "budget" })), &Carry::New);
    assert_eq!(at(1.0).outcome.plan.segments.len(), 0);
    let early = at(0.2);
    assert!(!early.outcome.plan.segments.is_empty() && early.outcome.report.tokens_after <= 800, "{:?}", early.outcome.report);
}

fn without_overflow_nothing_goes() {
    let sent = send(&session(12), &narrow(300, &json!({ "overflow": "report" })), &Carry::New);
    assert_eq!(sent.output().len(), sent.input().len());
    assert!(!sent.outcome.fits && sent.outcome.plan.segments.is_empty() && sent.outcome.report.cannot_fit.is_some());
}
