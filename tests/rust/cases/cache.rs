//! What a provider has cached: rewriting it must be rare, worth it, and never by accident.

use serde_json::{Value, json};

use crate::oracle;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    a_conversation_over_budget_folds_rarely covers 7,
    nothing_left_to_shorten_means_pure_extensions covers 7 12,
    a_small_saving_does_not_rewrite_a_long_prefix covers 8,
    a_fold_says_when_it_has_paid covers 8,
    an_unedited_message_gets_no_patch covers 9,
    a_breakpoint_never_changes_what_is_said covers 10,
    the_callers_marks_count_towards_four covers 11,
    a_changed_context_is_a_cold_call,
    idle_time_is_cold_past_the_lifetime_only,
}

fn rounds(from: usize, to: usize, size: usize) -> Vec<Value> {
    (from..to)
        .flat_map(|at| exchange(&format!("c{at}"), "read", json!({ "path": format!("src/{at}.rs") }), &lines(&format!("file {at}"), size)))
        .collect()
}

/// Over the trigger for many calls, most calls only append. Guards against a rewrite at every call for one more result.
fn a_conversation_over_budget_folds_rarely() {
    let messages = history(&[&[user("go")], &rounds(0, 40, 40)]);
    let small = json!({ "budgetTokens": 8500, "floorRatio": 0.5, "maxToolResultBytes": 400, "keepHeadBytes": 100, "keepTailBytes": 100, "protectRecentTurns": 2 });
    for policy in [json!({ "preset": "spec" }), json!({ "byKind": { "read": { "protectCalls": 2 } } })] {
        let calls = carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| merged(&small, &policy));
        let folds = calls.iter().filter(|call| call.outcome.folded).count();
        assert!((1..=6).contains(&folds), "{policy}: {folds} folds in {} calls", calls.len());
        calls.windows(2).for_each(|two| oracle::next_call(&two[0], &two[1]).unwrap());
    }
}

/// Where nothing more can be shortened, being over the trigger rewrites nothing: ten calls, ten pure extensions.
fn nothing_left_to_shorten_means_pure_extensions() {
    let chatter: Vec<Value> = (0..10).flat_map(|at| [assistant(&lines("thinking aloud", 30)), user(&format!("and {at}?"))]).collect();
    let messages = history(&[&[user("go")], &rounds(0, 4, 40), &chatter]);
    let calls = carry_through(&json!({ "messages": messages }), &call_lengths(&messages), |_| merged(&eager(), &json!({ "protectRecentTurns": 1 })));
    let folds = calls.iter().skip(6).filter(|call| call.outcome.folded).count();
    assert_eq!(folds, 0);
}

/// One small result far back is not worth writing everything behind it anew.
fn a_small_saving_does_not_rewrite_a_long_prefix() {
    let old = exchange("old", "read", json!({ "path": "old.rs" }), &lines("old", 30));
    let text: Vec<Value> = (0..30).flat_map(|_| [assistant(&lines("a long answer", 100)), user("go on")]).collect();
    let messages = history(&[&[user("go")], &old, &text]);
    let options = json!({ "budgetTokens": 20_000, "maxToolResultBytes": 400, "keepHeadBytes": 100, "keepTailBytes": 100, "expectedCalls": 10 });
    let before = fold_messages(&messages[..messages.len() - 2], &merged(&options, &json!({ "when": "never" })), &Carry::New);
    let warm = fold_messages(&messages, &options, &before.next());
    assert!(!warm.outcome.folded && warm.outcome.report.pending == 1, "{:?}", warm.outcome.report);
    assert!(warm.says("less than rewriting the cached prefix costs"));
    let cold = fold_messages(&messages, &merged(&options, &json!({ "cold": true })), &before.next());
    assert!(cold.outcome.folded, "with nothing cached it is free");
}

/// What a fold costs is reported as the calls after which it has paid.
fn a_fold_says_when_it_has_paid() {
    let messages = history(&[&[user("go")], &rounds(0, 12, 200), &[assistant("so"), user("next")]]);
    let options = json!({ "budgetTokens": 10_000, "floorRatio": 0.5, "protectRecentTurns": 1 });
    let before = fold_messages(&messages[..messages.len() - 2], &json!({ "when": "never" }), &Carry::New);
    let fold = fold_messages(&messages, &options, &before.next());
    assert!(fold.outcome.folded && fold.outcome.report.pays_after_calls.is_some_and(|calls| calls > 0), "{:?}", fold.outcome.report);
    let free = fold_messages(&messages, &merged(&options, &json!({ "cold": true })), &before.next());
    assert_eq!(free.outcome.report.pays_after_calls, Some(0));
}

/// Where nothing is edited not one patch is made, so odd spacing, key order, 1.0 and unknown fields are the host's own.
fn an_unedited_message_gets_no_patch() {
    let odd = json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": "a", "type": "function", "function": { "name": "read", "arguments": "{ \"path\" :\"\\u0061\" , \"n\": 1.0 }" } }],
        "vendor": { "z": 1.0, "a": [1e308, null] } });
    let messages = [user("go"), odd, result("a", "short"), assistant("ok"), user("so")];
    let call = fold_messages(&messages, &merged(&eager(), &json!({ "marks": "none" })), &Carry::New);
    assert!(call.outcome.patches.is_empty() && call.output() == messages);
}

/// Placing a breakpoint changes no content: not where the tail is an image, an empty result, or an empty user message.
fn a_breakpoint_never_changes_what_is_said() {
    let image = json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }] });
    for (is_empty, tail) in [
        (false, image),
        (true, result("a", "")),
        (true, user("")),
        (true, json!({ "role": "assistant", "content": null })),
        (true, json!({ "role": "user", "content": [] })),
    ] {
        let messages = history(&[&[system("rules"), user("go")], &[asks(&[("a", "read", json!({ "path": "a" }))])], &[tail]]);
        for marks in ["anthropic", "openai"] {
            let call = fold_messages(&messages, &json!({ "marks": marks }), &Carry::New);
            assert_eq!(call.output(), messages);
            let last = Some(call.sent.output().len() - 1);
            let on_last = call.outcome.marks.iter().any(|mark| mark.part.is_some() && mark.at.message() == last);
            assert!(!is_empty || !on_last, "a mark on nothing: {:?}", call.outcome.marks);
        }
    }
}

/// The caller's marks count: with all four taken, on tools or messages, we set none.
fn the_callers_marks_count_towards_four() {
    let marked = |text: &str| json!({ "role": "user", "content": [{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }] });
    let tools = json!([{ "type": "function", "function": { "name": "read" }, "cache_control": { "type": "ephemeral" } }]);
    for own in 0..6 {
        let messages: Vec<Value> =
            (0..6).flat_map(|at| [if at < own { marked("a question") } else { user("a question") }, assistant("an answer")]).collect();
        let call = fold(&json!({ "messages": messages, "tools": tools }), &json!({ "marks": "anthropic", "milestoneTokens": 1 }), &Carry::New);
        let count = |request: &Value| request.to_string().matches("\"ephemeral\"").count();
        let (own, all) = (count(&call.sent.request), count(&call.sent.body));
        assert!(all <= 4.max(own), "{all} marks where the caller has {own}, one of them on tools where those can have one");
        assert_eq!(call.outcome.marks.len(), 4usize.saturating_sub(own));
    }
}

/// Another model, system prompt, tool or context block is another cache: the call is cold and says why.
fn a_changed_context_is_a_cold_call() {
    let request = |rules: &str, tool: &str| json!({ "messages": [system(rules), user("go"), assistant("so"), user("on")], "tools": [{ "type": "function", "function": { "name": tool } }] });
    let options = |model: &str, block: &str| json!({ "model": { "id": model }, "contextBlock": block });
    let first = fold(&request("be brief", "read"), &options("claude", "notes"), &Carry::New);
    let changes = [
        (request("be brief", "read"), options("gpt-5", "notes"), Some("the model changed from claude to gpt-5")),
        (request("be long", "read"), options("claude", "notes"), Some("the system prompt changed")),
        (request("be brief", "write"), options("claude", "notes"), Some("the tools changed")),
        (request("be brief", "read"), options("claude", "other notes"), Some("the context block changed")),
        (request("be brief", "read"), options("claude", "notes"), None),
    ];
    for (request, options, why) in changes {
        let call = fold(&request, &options, &first.next());
        match why {
            Some(why) => assert!(call.says(&format!("cache cold: {why}")), "{:?}", call.outcome.report.reasons),
            None => assert!(!call.says("cache cold"), "{:?}", call.outcome.report.reasons),
        }
    }
}

/// A cache is cold after its lifetime, not before.
fn idle_time_is_cold_past_the_lifetime_only() {
    let messages = [user("go"), assistant("so"), user("on")];
    for (idle, cache, cold) in
        [(300_000, "anthropic-5m", false), (300_001, "anthropic-5m", true), (300_001, "anthropic-1h", false), (1, "none", true)]
    {
        let call = fold_messages(&messages, &json!({ "cold": { "idleMs": idle }, "cache": cache }), &Carry::Derive);
        assert_eq!(call.says("cache cold: idle"), cold, "{idle} ms, {cache}");
    }
}
