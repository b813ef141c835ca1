//! Budgets and windows that cannot be met, and what counts towards them.

use serde_json::json;

use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    what_can_never_fit_is_left_alone_with_a_reason covers 12 28,
    a_window_without_room_is_an_error covers 13,
    no_message_ever_goes_missing covers 14,
    what_cannot_fit_names_the_entry_in_the_way,
    over_the_window_a_fold_need_not_pay covers 16,
    a_switch_to_a_smaller_model_fits_or_says_why covers 16,
    never_is_never,
    what_pays_is_not_held_up_by_what_does_not,
    scripts_outside_ascii_count_for_what_they_are covers 27,
    an_image_is_neither_its_base64_nor_free covers 27,
    unknown_fields_count covers 28,
    everything_sent_counts covers 28,
}

/// A small edit far in front would rewrite all that is cached, one near the end hardly anything: the budget is out of reach, so what pays
/// is made, and folding what was folded finds no more.
fn what_pays_is_not_held_up_by_what_does_not() {
    let words = "words that nobody can shorten. ".repeat(4000);
    let run = |id: &str, count| exchange(id, "run", json!({ "command": id }), &lines(id, count));
    let messages = history(&[&[user("go")], &run("a", 20), &[assistant(&words), user("more")], &run("b", 40), &[assistant("done"), user("so")]]);
    let policy = |when: &str| merged(&eager(), &json!({ "when": when, "budgetTokens": 8000, "cache": "anthropic-5m" }));
    let before = fold_messages(&messages[..7], &policy("never"), &Carry::New);
    let call = fold_messages(&messages, &policy("budget"), &before.next());
    assert_eq!(call.edits().iter().map(|edit| edit.message).collect::<Vec<_>>(), [6]);
    assert!(call.outcome.folded && call.says("1 eligible edit would save"), "{:?}", call.outcome.report.reasons);
    let again = fold_messages(&messages, &policy("budget"), &call.next());
    assert!(!again.outcome.folded && again.plan == call.plan);
}

/// Tools and system prompt alone are over the budget: nothing loops, nothing changes, and the reason is given each time.
fn what_can_never_fit_is_left_alone_with_a_reason() {
    let tools: Vec<_> = (0..50)
        .map(|at| json!({ "type": "function", "function": { "name": format!("tool_{at}"), "description": lines("what it does", 20) } }))
        .collect();
    let request = json!({ "messages": [system(&lines("a rule", 50)), user("hi")], "tools": tools });
    let mut call = fold(&request, &json!({ "budgetTokens": 1000 }), &Carry::New);
    for _ in 0..5 {
        let next = fold(&request, &json!({ "budgetTokens": 1000 }), &call.next());
        assert!(!next.outcome.folded && next.plan == call.plan && next.outcome.patches.is_empty());
        assert!(next.says("over the limit") && next.says("what is left is protected, too young or too small"), "{:?}", next.outcome.report.reasons);
        call = next;
    }
}

/// The window less the reserve leaves nothing: an error at once, on the shortest history, rather than a loop.
fn a_window_without_room_is_an_error() {
    let options = json!({ "model": { "contextWindow": 40_000 }, "completionReserve": 36_000 });
    let fault = try_fold(&json!({ "messages": [user("hi")] }), &options, &Carry::New).unwrap_err();
    assert_eq!((fault.code().as_str(), fault.path()), ("window_too_small", "options.completionReserve"));
    assert!(fault.message().contains("40000") && fault.message().contains("lower completionReserve"), "{fault}");
    let one_token = json!({ "model": { "contextWindow": 40_000 }, "completionReserve": 35_999 });
    assert!(!fold_messages(&[user("hi there, how are you?")], &one_token, &Carry::New).outcome.fits);
}

/// No budget is so small that a message goes missing.
fn no_message_ever_goes_missing() {
    let long = user(&lines("all in one message", 200));
    for budget in [1, 25, 100] {
        let call = fold_messages(std::slice::from_ref(&long), &json!({ "budgetTokens": budget }), &Carry::New);
        assert_eq!(call.output(), std::slice::from_ref(&long));
    }
    let nothing = fold_messages(&[], &json!({ "budgetTokens": 1 }), &Carry::Derive);
    assert!(nothing.output().is_empty() && nothing.outcome.breakpoints.is_empty());
}

/// A prompt over the window says what would be left, what fits, and which entry stands in the way.
fn what_cannot_fit_names_the_entry_in_the_way() {
    let messages = history(&[&[user("go")], &exchange("a", "todo_write", json!({}), &lines("a plan", 400)), &[assistant("ok"), user("so")]]);
    let call = fold_messages(&messages, &json!({ "model": { "contextWindow": 3000 }, "completionReserve": 0 }), &Carry::New);
    let cannot_fit = call.outcome.report.cannot_fit.as_ref().expect("a memory is never cut");
    assert_eq!(cannot_fit.limit_tokens, 2700);
    assert_eq!(cannot_fit.entry.map(|place| place.message), Some(2));
    assert!(!call.outcome.fits && cannot_fit.floor_tokens > 2700);
}

/// The window is hard: over it a fold is made although it does not pay.
fn over_the_window_a_fold_need_not_pay() {
    let old = exchange("old", "read", json!({ "path": "old.rs" }), &lines("old", 40));
    let text: Vec<_> = (0..10).flat_map(|_| [assistant(&lines("a long answer", 100)), user("go on")]).collect();
    let messages = history(&[&[user("go")], &old, &text]);
    let small = json!({ "maxToolResultBytes": 400, "keepHeadBytes": 100, "keepTailBytes": 100, "expectedCalls": 1, "completionReserve": 0, "contextHeadroom": 1 });
    let before = fold_messages(&messages[..messages.len() - 2], &merged(&small, &json!({ "when": "never" })), &Carry::New);
    let tokens = before.outcome.report.tokens_after;
    let soft = fold_messages(&messages, &merged(&small, &json!({ "budgetTokens": tokens / 2 })), &before.next());
    assert!(!soft.outcome.folded, "the budget is soft");
    let hard = fold_messages(&messages, &merged(&small, &json!({ "model": { "contextWindow": tokens / 2 } })), &before.next());
    assert!(hard.outcome.folded && !hard.outcome.fits, "the window is hard");
    let off = fold_messages(&messages, &merged(&small, &json!({ "model": { "contextWindow": tokens / 2 }, "fitToWindow": false })), &before.next());
    assert!(!off.outcome.folded);
}

/// A history that a large model took is folded for a small one, whose cache is another; where it cannot fit, the report says why.
fn a_switch_to_a_smaller_model_fits_or_says_why() {
    let reads = |tool: &str| {
        (0..8).flat_map(|at| exchange(&format!("c{at}"), tool, json!({ "path": at.to_string() }), &lines(&at.to_string(), 300))).collect::<Vec<_>>()
    };
    let model = |id: &str, window: u32| json!({ "model": { "id": id, "contextWindow": window }, "completionReserve": 0 });
    for (tool, fits) in [("read", true), ("todo_write", false)] {
        let messages = history(&[&[user("go")], &reads(tool), &[assistant("ok"), user("so")]]);
        let large = fold_messages(&messages, &model("large", 1_000_000), &Carry::New);
        let before = fold_messages(&messages, &merged(&model("large", 1_000_000), &json!({ "when": "never" })), &Carry::New);
        assert!(large.outcome.fits && before.outcome.report.tokens_after > 10_000);
        let small = fold_messages(&messages, &model("small", 10_000), &before.next());
        assert!(small.says("the model changed from large to small"), "{:?}", small.outcome.report.reasons);
        assert_eq!((small.outcome.fits, small.outcome.report.cannot_fit.is_none()), (fits, fits), "{tool}");
        assert_eq!(small.output().len(), messages.len());
    }
}

/// `when: "never"` makes no edit, even over the window, and says that it could have.
fn never_is_never() {
    let messages = history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a" }), &lines("a", 400)), &[assistant("ok"), user("so")]]);
    let options = json!({ "when": "never", "model": { "contextWindow": 2000 }, "completionReserve": 0, "protectRecentTurns": 1 });
    let call = fold_messages(&messages, &options, &Carry::New);
    assert!(call.edits().is_empty() && !call.outcome.fits);
    assert!(call.outcome.report.cannot_fit.as_ref().unwrap().reason.contains("never"));
}

/// Scripts outside ASCII are not under-counted: a token is at most four of their bytes, and rarely so many.
fn scripts_outside_ascii_count_for_what_they_are() {
    let tokens = |text: &str| fold_messages(&[user(text)], &json!({}), &Carry::New).outcome.report.tokens_before;
    let (english, chinese, emoji) =
        (tokens(&"nothing to see here. ".repeat(1000)), tokens(&"沒有什麼可看的。".repeat(1000)), tokens(&"👩🏽‍🚀".repeat(1000)));
    assert!((3000..8000).contains(&english), "{english}");
    assert!(chinese > 5000, "{chinese} tokens for 8000 ideographs");
    assert!(emoji > 3000, "{emoji} tokens for 1000 astronauts");
}

/// An image costs neither its base64 nor nothing.
fn an_image_is_neither_its_base64_nor_free() {
    let image = |size: usize| json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{}", "A".repeat(size)) } }] });
    let tokens = |size| fold_messages(&[image(size)], &json!({}), &Carry::New).outcome.report.tokens_before;
    assert_eq!(tokens(100), tokens(1_000_000));
    assert!((200..2000).contains(&tokens(100)), "{}", tokens(100));
}

/// What a message has that nobody knows is sent, and counts.
fn unknown_fields_count() {
    let tokens = |message: serde_json::Value| fold_messages(&[user("hi"), message], &json!({}), &Carry::New).outcome.report.tokens_before;
    let with = tokens(json!({ "role": "assistant", "content": "so", "audio": { "transcript": lines("words", 100) } }));
    assert!(with > tokens(assistant("so")) + 500, "{with}");
}

/// Everything sent counts: system, tools, a context block, call arguments, reasoning.
fn everything_sent_counts() {
    let text = lines("words", 100);
    let tokens = |request: serde_json::Value, options: serde_json::Value| fold(&request, &options, &Carry::New).outcome.report.tokens_before;
    let bare = tokens(json!({ "messages": [user("hi")] }), json!({}));
    let more = [
        tokens(json!({ "messages": [system(&text), user("hi")] }), json!({})),
        tokens(json!({ "messages": [user("hi")], "system": text }), json!({})),
        tokens(json!({ "messages": [user("hi")], "tools": [{ "description": text }] }), json!({})),
        tokens(json!({ "messages": [user("hi")] }), json!({ "contextBlock": text })),
        tokens(json!({ "messages": [user("hi"), asks(&[("a", "write", json!({ "text": text }))])] }), json!({})),
        tokens(json!({ "messages": [user("hi"), { "role": "assistant", "content": "x", "reasoning": text }] }), json!({})),
    ];
    for (at, more) in more.into_iter().enumerate() {
        assert!(more > bare + 500, "place {at}: {more} tokens, {bare} without");
    }
}
