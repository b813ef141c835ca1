//! `wire`: breakpoints written into the request, in both dialects.

use serde_json::{Value, json};

use crate::support::*;
use crate::twin::law::marks_in;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn marked(messages: &[Value], options: Value) -> Sent {
    send_messages(messages, &merged(&json!({ "marks": "anthropic" }), &options), &Carry::New)
}

/// Removing the marks gives the very output that a call without them gives.
#[test]
fn without_its_marks_a_request_is_the_unmarked_one() {
    let parts =
        json!({ "role": "user", "content": [{ "type": "text", "text": "look", "x": 1 }, { "type": "image_url", "image_url": { "url": "u" } }] });
    let messages = history(&[
        &[system("rules"), user("go")],
        &exchange("a", "read", json!({ "path": "a" }), &lines("a", 40)),
        &[assistant("ok"), parts.clone(), assistant("I see"), parts],
    ]);
    for marks in ["anthropic", "openai"] {
        for block in [Value::Null, json!("notes")] {
            let options = merged(&eager(), &json!({ "milestoneTokens": 5, "contextBlock": block }));
            let plain = send_messages(&messages, &options, &Carry::New);
            let call = send_messages(&messages, &merged(&options, &json!({ "marks": marks })), &Carry::New);
            assert!(!marks_in(&plain.body, &call.body).unwrap().is_empty(), "they differ in marks alone");
            assert!(call.output != plain.output && call.plan == plain.plan, "marks are no part of a plan");
        }
    }
}

#[test]
fn a_string_becomes_one_text_part() {
    let call = marked(&[system("rules"), user("hi")], json!({}));
    let part = |text: &str| json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }]);
    assert_eq!((&call.output[0]["content"], &call.output[1]["content"]), (&part("rules"), &part("hi")));
    let places: Vec<_> = call.outcome.marks.iter().map(|mark| (mark.at.message(), mark.part)).collect();
    assert_eq!(places, [(Some(0), Some(0)), (Some(1), Some(0))]);
}

/// Among parts the last text that says something is marked: no image, no empty text.
#[test]
fn the_last_text_part_is_marked() {
    let parts = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }, { "type": "text", "text": "" }, { "type": "image_url", "image_url": {} }, "bare"]);
    let call = marked(&[json!({ "role": "user", "content": parts })], json!({}));
    let marks: Vec<usize> = (0..5).filter(|part| call.output[0]["content"][part].get("cache_control").is_some()).collect();
    assert_eq!(marks, [1]);
}

/// OpenAI sets the tail's itself, takes three more, and none in the assistant's messages.
#[test]
fn openai_marks_are_explicit_and_beside_the_implicit_one() {
    let messages: Vec<Value> =
        [vec![system("rules")], (0..10).flat_map(|_| [user("a question"), assistant("an answer")]).collect(), vec![user("so")]].concat();
    let call = marked(&messages, json!({ "marks": "openai", "milestoneTokens": 5 }));
    let marks: Vec<usize> = (0..messages.len()).filter(|at| call.output[at]["content"].is_array()).collect();
    assert_eq!(marks.len(), 3, "{marks:?}");
    for at in marks {
        assert_eq!(call.output[at]["content"][0]["prompt_cache_breakpoint"], json!({ "mode": "explicit" }));
        assert_ne!(call.output[at]["role"], "assistant");
    }
    assert_eq!(call.outcome.breakpoints.last(), Some(&(messages.len() - 1)));
}

/// The one-hour cache is asked for in each mark, and never behind a five-minute one.
#[test]
fn an_hour_stands_before_five_minutes() {
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    let call = marked(&[system("rules"), user("hi")], json!({ "cache": "anthropic-1h" }));
    assert_eq!(call.output[0]["content"][0]["cache_control"], hour);

    let own = |mark: Value| json!({ "role": "user", "content": [{ "type": "text", "text": "mine", "cache_control": mark }] });
    let five = json!({ "type": "ephemeral" });
    let call = marked(&[system("rules"), own(five.clone()), assistant("ok"), user("hi")], json!({ "cache": "anthropic-1h" }));
    assert_eq!(call.output[3]["content"][0]["cache_control"], five, "behind the caller's five minutes");
    assert!(!call.output[0].to_string().contains("1h") || call.output[1]["content"][0]["cache_control"] == five);

    let call = marked(&[system("rules"), own(hour), assistant("ok"), user("hi")], json!({}));
    assert_eq!(call.output[0], system("rules"), "five minutes may not stand before the caller's hour");
    assert_eq!(call.output[3]["content"][0]["cache_control"], five);
}

/// The function role takes a string only, and a bare string in a list has no place for a mark.
#[test]
fn what_cannot_hold_a_mark_gets_none() {
    let function = json!({ "role": "function", "name": "f", "content": "said" });
    let bare = json!({ "role": "user", "content": ["bare"] });
    for message in [function, bare, json!({ "role": "assistant", "content": null }), json!({ "role": "user", "content": "" })] {
        let call = marked(&[user("hi"), message.clone()], json!({}));
        assert_eq!(call.output[1], message);
        assert_eq!(call.outcome.breakpoints, [0]);
    }
}

#[test]
fn no_more_than_asked_for() {
    let messages: Vec<Value> = (0..20).flat_map(|_| [user("a question"), assistant("an answer")]).collect();
    for most in 0..=4 {
        let call = marked(&messages, json!({ "maxBreakpoints": most, "milestoneTokens": 5 }));
        assert_eq!(call.output.to_string().matches("cache_control").count(), most);
    }
}

/// Marks stand in text parts only, whatever else has a `text`; blank text holds none.
#[test]
fn no_mark_on_reasoning_images_or_blanks() {
    let content = json!([{ "type": "text", "text": "hi" }, { "type": "reasoning", "text": "t" }, { "type": "image_url", "image_url": { "url": "x" }, "text": "alt" }]);
    let messages = [user("go"), json!({ "role": "assistant", "content": content }), user("  \n")];
    let call = send_messages(&messages, &json!({ "marks": "anthropic" }), &Carry::New);
    let marked = call.output()[1]["content"].as_array().unwrap().iter().map(|part| part.get("cache_control").is_some()).collect::<Vec<_>>();
    assert_eq!(marked, [true, false, false]);
    assert_eq!(call.output()[2], messages[2]);
}

/// What the caller has marked counts wherever it may stand, and what only looks like a mark does not.
#[test]
fn marks_count_where_they_are_marks() {
    let mark = json!({ "type": "ephemeral" });
    let messages: Vec<Value> = [system("rules")].into_iter().chain((0..6).map(|_| user(&lines("words", 400)))).collect();
    let written = |request: Value| {
        let call = send(&request, &json!({ "marks": "anthropic", "milestoneTokens": 2000 }), &Carry::New);
        call.outcome.marks.iter().filter(|mark| mark.part.is_some()).count()
    };
    assert_eq!(written(json!({ "messages": messages })), 4);
    assert_eq!(written(json!({ "messages": messages, "system": [{ "type": "text", "text": "r", "cache_control": mark }] })), 3);
    assert_eq!(written(json!({ "messages": messages, "tools": [{ "type": "function", "cache_control": mark }] })), 3);
    let schema = json!({ "type": "object", "properties": { "cache_control": { "type": "string" } } });
    assert_eq!(written(json!({ "messages": messages, "tools": [{ "type": "function", "function": { "parameters": schema } }] })), 4);
    let mut unmarked = messages.clone();
    unmarked[3]["cache_control"] = Value::Null;
    assert_eq!(written(json!({ "messages": unmarked })), 4);
}
