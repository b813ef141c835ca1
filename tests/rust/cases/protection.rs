//! What must stay whole: the current run, memories, pins, images, reasoning that a provider needs back.

use serde_json::{Value, json};

use crate::oracle;
use crate::support::*;
use crate::twin::{self, every_wire};

every_wire! {
    the_newest_result_stays_however_large covers 15,
    the_whole_running_batch_stays covers 15,
    recent_turns_are_counted_by_calls_and_users,
    memories_are_never_shortened covers 24,
    pins_and_the_forced_tool_stay,
    images_stay_and_text_beside_them_may_go covers 26,
    reasoning_goes_whole covers 17,
    reasoning_beside_a_tool_call_stays covers 18 19,
    reasoning_that_a_router_passes_on_from_anthropic_stays_in_its_loop covers 18,
    reasoning_content_stays_whatever_stands_beside_it covers 18 19,
    reasoning_of_an_open_loop_stays covers 18 19,
    the_latest_reasoning_and_the_only_reasoning_stay,
    what_people_and_models_say_stays,
    reasoning_beside_empty_fields_is_the_only_thing_said,
    a_cold_call_does_not_overflow_the_window covers 16,
}

/// The newest result is the largest and far over budget: it stays, or the model would call again at once.
fn the_newest_result_stays_however_large() {
    let messages = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a" }), &lines("a", 3000))]);
    for turns in 0..3 {
        let call = fold_messages(&messages, &merged(&eager(), &json!({ "protectRecentTurns": turns })), &Carry::New);
        assert!(call.edits().is_empty(), "with {turns} turns protected");
    }
}

/// All results of the running batch are the tail, not the last one alone.
fn the_whole_running_batch_stays() {
    let batch = [
        asks(&[("a", "read", json!({ "path": "a" })), ("b", "read", json!({ "path": "b" }))]),
        result("a", &lines("a", 40)),
        result("b", &lines("b", 40)),
    ];
    let call = fold_messages(&history(&[&[user("go")], &batch]), &eager(), &Carry::New);
    assert!(call.edits().is_empty());
}

/// Turns are counted as users count them: a tool loop of ten steps is ten turns, results are none.
fn recent_turns_are_counted_by_calls_and_users() {
    let rounds: Vec<Value> =
        (0..10).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": at.to_string() }), &lines(&at.to_string(), 40))).collect();
    let messages = history(&[&[user("go")], &rounds]);
    for (turns, edited) in [(0, 9), (1, 9), (2, 8), (4, 6), (10, 0), (50, 0)] {
        let call = fold_messages(&messages, &merged(&eager(), &json!({ "protectRecentTurns": turns })), &Carry::New);
        assert_eq!(call.edits().len(), edited, "with {turns} turns protected");
    }
}

/// Memories, skills, todo lists and plans cannot be had again, and steer the agent.
fn memories_are_never_shortened() {
    for tool in ["memory", "load_skill", "TodoWrite", "update_plan", "think", "ask_question"] {
        let messages = history(&[&[user("go")], &exchange("a", tool, json!({ "path": "a" }), &lines("a", 100)), &[assistant("ok"), user("so")]]);
        assert!(fold_messages(&messages, &eager(), &Carry::New).edits().is_empty(), "{tool}");
        let known = merged(&eager(), &json!({ "toolKinds": { (tool): "read" } }));
        assert_eq!(fold_messages(&messages, &known, &Carry::New).edits().len(), 1, "the host knows better: {tool}");
    }
}

/// A pin holds a message or one part of it; the results of a tool that must be called next stay too.
fn pins_and_the_forced_tool_stay() {
    let parts = json!({ "role": "tool", "tool_call_id": "b", "content": [{ "type": "text", "text": lines("one", 40) }, { "type": "text", "text": lines("two", 40) }] });
    let messages = history(&[
        &[user("go")],
        &exchange("a", "read", json!({ "path": "a" }), &lines("a", 40)),
        &[asks(&[("b", "grep", json!({ "pattern": "b" }))]), parts, assistant("ok"), user("so")],
    ]);
    let edited = |options: Value, choice: Value| {
        let call = fold(&json!({ "messages": messages, "tool_choice": choice }), &merged(&eager(), &options), &Carry::New);
        oracle::one_call(&call).unwrap();
        call.edits().iter().map(|edit| (edit.message, edit.part)).collect::<Vec<_>>()
    };
    assert_eq!(edited(json!({}), json!("auto")), [(2, 0), (4, 0), (4, 1)]);
    assert_eq!(edited(json!({ "pins": [2] }), Value::Null), [(4, 0), (4, 1)]);
    assert_eq!(edited(json!({ "pins": [{ "message": 4, "part": 1 }] }), Value::Null), [(2, 0), (4, 0)]);
    assert_eq!(edited(json!({ "pins": [4, 99] }), Value::Null), [(2, 0)]);
    assert_eq!(edited(json!({}), json!({ "type": "function", "function": { "name": "grep" } })), [(2, 0)]);
}

/// Thirty results with screenshots: images stay, the text beside them may go, and each image counts.
fn images_stay_and_text_beside_them_may_go() {
    let shot = |at: usize| json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{at}AAAA") } });
    let rounds: Vec<Value> = (0..30)
        .flat_map(|at| {
            let [ask, mut answer] = exchange(&format!("c{at}"), "screenshot", json!({}), "");
            answer["content"] = json!([shot(at), { "type": "text", "text": lines(&at.to_string(), 40) }, shot(at)]);
            [ask, answer]
        })
        .collect();
    let call = fold_messages(&history(&[&[user("go")], &rounds, &[assistant("ok")]]), &eager(), &Carry::New);
    oracle::one_call(&call).unwrap();
    assert_eq!(call.edits().len(), 30);
    assert!(call.outcome.report.tokens_after > 60 * 500, "sixty images are not free");
}

/// Reasoning goes whole or not at all: never as a placeholder with a signature that no longer fits.
fn reasoning_goes_whole() {
    let thought = json!({ "role": "assistant", "content": "so", "reasoning": lines("hm", 30), "reasoning_details": [{ "type": "reasoning.text", "text": lines("hm", 30), "signature": "c2lnbmVk" }] });
    let messages = [user("go"), thought.clone(), user("and?"), assistant("well"), user("ok")];
    let call = fold_messages(&messages, &eager(), &Carry::New);
    assert_eq!(call.output[1], json!({ "role": "assistant", "content": "so" }));
    assert!(call.says("reasoning of 1 message dropped"), "dropped reasoning leaves no line, so the report counts it");
    let kept = fold_messages(&messages, &merged(&eager(), &json!({ "dropReasoning": false })), &Carry::New);
    assert_eq!(kept.output[1], thought);
}

/// Reasoning that belongs to a tool call goes back with it: `reasoning_content`, and signed details.
fn reasoning_beside_a_tool_call_stays() {
    for field in ["reasoning_content", "reasoning_details"] {
        let mut ask = asks(&[("a", "read", json!({ "path": "a" }))]);
        ask[field] = if field == "reasoning_details" { json!([{ "text": lines("hm", 30), "signature": "x" }]) } else { lines("hm", 30).into() };
        let messages = [user("go"), ask.clone(), result("a", &lines("a", 40)), assistant("well"), user("ok")];
        let call = fold_messages(&messages, &eager(), &Carry::New);
        assert_eq!(call.output[1], ask, "{field}");
        assert_eq!(call.edits().len(), 1, "its result may be cut all the same");
    }
}

/// What a router passes on from Anthropic is needed as there: until the user speaks again.
fn reasoning_that_a_router_passes_on_from_anthropic_stays_in_its_loop() {
    let mut ask = asks(&[("a", "read", json!({ "path": "a" }))]);
    ask["reasoning_details"] = json!([{ "text": lines("hm", 30), "signature": "x", "format": "anthropic-claude-v1" }]);
    let messages = [user("go"), ask.clone(), result("a", "short"), assistant("well"), user("ok"), assistant("so"), user("yes")];
    assert_eq!(fold_messages(&messages[..4], &eager(), &Carry::New).output[1], ask);
    assert!(fold_messages(&messages, &eager(), &Carry::New).output[1]["reasoning_details"].is_null());
}

/// What DeepSeek needs may stand beside what Anthropic has signed.
fn reasoning_content_stays_whatever_stands_beside_it() {
    let mut ask = asks(&[("a", "read", json!({ "path": "a" }))]);
    ask["reasoning_details"] = json!([{ "text": lines("hm", 30), "signature": "x", "format": "anthropic-claude-v1" }]);
    ask["reasoning_content"] = "hm".into();
    let messages = [user("go"), ask.clone(), result("a", "short"), assistant("well"), user("ok"), assistant("so"), user("yes")];
    assert_eq!(fold_messages(&messages, &eager(), &Carry::New).output[1], ask);
}

/// As long as the user has not spoken again, whoever the provider is, and whichever field it stands in.
fn reasoning_of_an_open_loop_stays() {
    for field in ["reasoning", "reasoning_content", "reasoning_details"] {
        let asks = |id: &str| {
            let mut ask = asks(&[(id, "read", json!({ "path": id }))]);
            let detail = json!([{ "type": "reasoning.text", "text": lines("hm", 30), "signature": "x", "format": "anthropic-claude-v1" }]);
            ask[field] = if field == "reasoning_details" { detail } else { lines("hm", 30).into() };
            ask
        };
        let messages = [user("go"), asks("a"), result("a", "short"), asks("b"), result("b", "short"), asks("c"), result("c", "short")];
        let call = fold_messages(&messages, &eager(), &Carry::New);
        let needed = field != "reasoning" || !twin::current().is_chat(); // the provider of that field takes it back and needs it not
        assert_eq!(call.output[1] == messages[1], needed, "{field}");
    }
}

/// The latest answer keeps its reasoning, and an answer that is nothing but reasoning is not emptied.
fn the_latest_reasoning_and_the_only_reasoning_stay() {
    let latest = json!({ "role": "assistant", "content": "so", "reasoning": lines("hm", 30) });
    let only = json!({ "role": "assistant", "content": null, "reasoning": lines("hm", 30) });
    let messages = [user("go"), only, user("and?"), latest, user("ok")];
    assert_eq!(fold_messages(&messages, &eager(), &Carry::New).output(), messages);
}

/// Users, systems, developers and assistants are never shortened, whatever they hold and wherever they stand.
fn what_people_and_models_say_stays() {
    let long = lines("a long story", 500);
    let messages = [
        system(&long),
        user(&long),
        assistant(&long),
        json!({ "role": "developer", "content": long }),
        assistant(&long),
        json!({ "role": "critic", "content": long }),
        user("ok"),
    ];
    let call = fold_messages(&messages, &eager(), &Carry::New);
    assert_eq!(call.output(), messages);
}

/// What SDKs add to a message says nothing: without its reasoning it would go out empty.
fn reasoning_beside_empty_fields_is_the_only_thing_said() {
    for (key, value) in [("annotations", json!([])), ("id", json!("m1")), ("tool_calls", json!([])), ("refusal", json!(null))] {
        let mut thought = json!({ "role": "assistant", "content": " ", "reasoning": lines("thinking", 40) });
        thought[key] = value;
        let messages = history(&[&[user("go"), thought, user("and?"), assistant("yes"), user("so")]]);
        assert_eq!(fold_messages(&messages, &eager(), &Carry::New).edits().len(), 0, "{key}");
    }
}

/// On a cold call protection may be given back only as far as the window allows.
fn a_cold_call_does_not_overflow_the_window() {
    let reads: Vec<Value> =
        (0..8).flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": at.to_string() }), &lines("text", 300))).collect();
    let messages = history(&[&[user("go")], &reads, &[assistant("ok"), user("so")]]);
    let options = json!({ "budgetTokens": 8000, "model": { "contextWindow": 30_000 } });
    let folded = fold_messages(&messages, &options, &Carry::New);
    assert!(!folded.edits().is_empty());
    let force = json!({ "messages": messages, "tool_choice": { "type": "function", "function": { "name": "read" } } });
    let cold = fold(&force, &merged(&options, &json!({ "cold": true })), &folded.next());
    assert!(cold.outcome.fits, "{:?}", cold.outcome.report.reasons);
    let roomy = fold(&force, &json!({ "budgetTokens": 8000, "cold": true }), &folded.next());
    assert_eq!(roomy.edits().len(), 0, "without a window it is given back");
}
