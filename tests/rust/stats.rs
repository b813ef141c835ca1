//! `stats`: the figures are those of what is sent, and add up on every wire.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::stats::{self, ContextStats, SessionStats};
use warmfold::wire::Request;
use warmfold::{Options, Plan, Tape};

use crate::histories::{output, policy, request};
use crate::laws::{all, cases};
use crate::support::{Carry, Sent, asks, assistant, exchange, fold, history, lines, result, send, system, user};
use crate::twin::{self, for_each_wire};

mod bar;

fn try_stats(request: &Value, options: &Value, plan: Option<&Value>) -> warmfold::Result<SessionStats> {
    let tape = Tape::from_json(request.to_string())?;
    let plan = plan.map(|plan| Plan::from_json(plan.clone())).transpose()?;
    stats::of(&Request::of(tape.root()), &Options::from_json(options.clone())?, plan.as_ref(), None)
}

fn stats_of(request: &Value, options: &Value) -> SessionStats {
    try_stats(request, options, None).expect("a good request is counted")
}

/// Of what was sent.
fn stats_of_sent(sent: &Sent) -> SessionStats {
    try_stats(&sent.request, &sent.options, Some(&sent.plan)).expect("what folds is counted")
}

fn add_up(stats: &SessionStats) -> Result<(), TestCaseError> {
    let SessionStats { context, system_prompt_tokens, tool_schema_tokens, conversation_tokens } = stats;
    let (roles, resolutions, phases) = (context.role_tokens, context.resolution_tokens, context.phase_tokens);
    let all = context.estimated_used - tool_schema_tokens;
    prop_assert_eq!(roles.system + roles.user + roles.assistant + roles.tool, all);
    prop_assert_eq!(resolutions.full + resolutions.outlined + resolutions.summarized + resolutions.pinned, all);
    prop_assert_eq!(phases.exploration + phases.execution + phases.verification + phases.conclusion + phases.unclassified, all);
    prop_assert_eq!(system_prompt_tokens + tool_schema_tokens + conversation_tokens, context.estimated_used);
    prop_assert!(*system_prompt_tokens <= roles.system);
    prop_assert_eq!((context.compaction_tokens, context.compacted_entry_count), (0, 0));
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    /// Of any call, with whatever usage has taught, they are the tokens of its report.
    fn the_figures_add_up_to_what_the_report_says(request in request(), policy in policy(), output in output(), reported in 1u32..20_000) {
        let options = all(&[&policy.0, &output.0, &json!({ "enabled": true })]);
        let call = fold(&request.0, &options, &Carry::New);
        let usage = json!({ "usage": { "inputTokens": reported, "upTo": call.input().len() } });
        for call in [&call, &fold(&request.0, &all(&[&options, &usage]), &call.next())] {
            let stats = stats_of_sent(&call.sent);
            add_up(&stats)?;
            prop_assert_eq!(stats.context.estimated_used, call.outcome.report.tokens_after);
            prop_assert_eq!(stats.context.message_count, call.sent.output().len());
            prop_assert_eq!(stats.context.path_entry_count, call.sent.input().len());
            let resolutions = stats.context.resolution_tokens;
            prop_assert!(resolutions.outlined + resolutions.summarized == 0 || !call.edits().is_empty());
            let whole = try_stats(&call.sent.request, &call.sent.options, None).unwrap().context;
            prop_assert_eq!((whole.resolution_tokens.outlined, whole.resolution_tokens.summarized), (0, 0));
        }
    }
}

/// A session with every phase, a system prompt and tools.
fn session() -> Value {
    let parts: &[&[Value]] = &[
        &[system("Be brief."), user("fix the parser"), assistant("I will look."), user("do")],
        &exchange("a", "read_file", json!({ "path": "a.rs" }), &lines("source", 80)),
        &[asks(&[("b", "edit_file", json!({ "path": "a.rs", "content": "x" }))]), result("b", "edited")],
        &exchange("c", "run_tests", json!({}), "2 passed, 0 failed"),
        &[assistant("It is done."), user("thanks")],
    ];
    let tool = json!({ "type": "function", "function": { "name": "read_file", "description": "Reads a file.", "parameters": { "type": "object", "properties": {} } } });
    json!({ "messages": history(parts), "tools": [tool] })
}

fn each_token_is_somewhere() {
    let request = (twin::current().from_chat)(&session()).request;
    let session = stats_of(&request, &json!({ "format": twin::current().format }));
    add_up(&session).unwrap();
    let SessionStats { context, system_prompt_tokens, tool_schema_tokens, conversation_tokens } = session;
    assert!(system_prompt_tokens > 0 && tool_schema_tokens > 10 && conversation_tokens > 500, "{context:?}");
    assert_eq!(context.role_tokens.system, system_prompt_tokens);
    let (roles, phases) = (context.role_tokens, context.phase_tokens);
    assert!(roles.user > 0 && roles.assistant > 0 && roles.tool > 500, "{roles:?}");
    assert!(phases.exploration > 500 && phases.execution > 0 && phases.verification > 0 && phases.conclusion > 0, "{phases:?}");
    assert!(phases.unclassified > system_prompt_tokens + roles.user - 10, "{phases:?}");
    let resolutions = context.resolution_tokens;
    assert!(resolutions.full > 500 && resolutions.pinned > 0 && resolutions.outlined + resolutions.summarized == 0, "{resolutions:?}");
}

fn edits_tell_the_resolution() {
    let mut parts = history(&[&[user("go")]]);
    for id in ["a", "b", "c", "d"] {
        let text = if id == "b" || id == "c" { lines("twice", 90) } else { lines(id, 90) };
        parts.extend(exchange(id, "run_job", json!({ "id": id }), &text));
    }
    parts.push(user("next"));
    let request = (twin::current().from_chat)(&json!({ "messages": parts })).request;
    let tight = json!({
        "format": twin::current().format, "preset": "spec", "budgetTokens": 1, "protectRecentTurns": 0, "maxToolResultBytes": 400,
        "cache": { "read": 1, "write": 1, "ttlMs": 1 }
    });
    let sent = send(&request, &tight, &Carry::New);
    let rules: Vec<String> = sent.edits().into_iter().map(|edit| edit.rule).collect();
    assert!(rules.contains(&"duplicate".to_owned()) && rules.contains(&"truncated".to_owned()), "{rules:?}");
    let context = stats_of_sent(&sent).context;
    assert_eq!(context.estimated_used, sent.outcome.report.tokens_after);
    let resolutions = context.resolution_tokens;
    assert!(resolutions.outlined > resolutions.summarized && resolutions.summarized > 5 && resolutions.full > 0, "{resolutions:?}");
    let whole = stats_of(&request, &tight).context;
    assert_eq!(whole.estimated_used, sent.outcome.report.tokens_before);
}

fn a_plan_of_another_history_changes_nothing() {
    let request = (twin::current().from_chat)(&session()).request;
    let options = json!({ "format": twin::current().format });
    let plan = json!({ "version": 1, "format": twin::current().format, "edits": [
        { "message": 5, "part": 0, "tool": "read_file", "fingerprint": "00000000deadbeef", "rule": "truncated", "since": 9, "pieces": ["[gone]"] }
    ] });
    assert_eq!(try_stats(&request, &options, Some(&plan)).unwrap(), stats_of(&request, &options));
}

for_each_wire!(crate::twin::on_each! the_figures_add_up_to_what_the_report_says);
for_each_wire!(crate::twin::on_each! each_token_is_somewhere);
for_each_wire!(crate::twin::on_each! edits_tell_the_resolution);
for_each_wire!(crate::twin::on_each! a_plan_of_another_history_changes_nothing);

#[test]
fn the_budget_of_the_specification() {
    let options = json!({ "model": { "contextWindow": 32768 }, "completionReserve": 4096 });
    let context = stats_of(&session(), &options).context;
    assert_eq!((context.context_window, context.completion_reserve, context.prompt_budget()), (Some(32768), 4096, Some(28672)));
    assert_eq!(Options::from_json(options).unwrap().prompt_budget(), Some(28672));
    assert_eq!(context.estimated_remaining(), Some(28672 - context.estimated_used));
    for reserve in [32768, 32769, u32::MAX] {
        let options = json!({ "model": { "contextWindow": 32768 }, "completionReserve": reserve });
        let error = Options::from_json(options).unwrap_err();
        assert_eq!((error.code().as_str(), error.path()), ("window_too_small", "options.completionReserve"));
    }
}

#[test]
fn figures_of_the_window_keep_to_it() {
    let of = |estimated_used| ContextStats { context_window: Some(1100), completion_reserve: 100, estimated_used, ..ContextStats::default() };
    let told = |used| (of(used).utilization_percent().unwrap(), of(used).estimated_remaining().unwrap());
    assert_eq!([told(0), told(4), told(5), told(999), told(1000), told(u32::MAX)], [(0, 1000), (0, 996), (1, 995), (100, 1), (100, 0), (100, 0)]);
    let nothing = ContextStats { context_window: Some(1), completion_reserve: 5, ..ContextStats::default() };
    assert_eq!((nothing.prompt_budget(), nothing.estimated_remaining(), nothing.utilization_percent()), (Some(0), Some(0), Some(100)));
    let unknown = stats_of(&session(), &json!({})).context;
    assert_eq!((unknown.prompt_budget(), unknown.estimated_remaining(), unknown.utilization_percent()), (None, None, None));
    let plain = json!(unknown);
    assert!(plain["contextWindow"].is_null() && plain["utilizationPercent"].is_null() && plain["estimatedUsed"] == unknown.estimated_used);
}

#[test]
fn pins_count_as_pinned_and_the_host_tells_its_entries() {
    let pinned = |options: Value| stats_of(&session(), &options).context.resolution_tokens.pinned;
    let (none, result, part) = (pinned(json!({})), pinned(json!({ "pins": [5] })), pinned(json!({ "pins": [{ "message": 5, "part": 0 }] })));
    assert!(part > none + 500 && result > part && result < part + 10, "{none} {part} {result}");
    assert_eq!(pinned(json!({ "pins": [99, { "message": 5, "part": 7 }] })), none);
    let counts = |options: Value| {
        let context = stats_of(&session(), &options).context;
        (context.entry_count, context.path_entry_count, context.message_count)
    };
    assert_eq!(counts(json!({})), (12, 12, 12));
    assert_eq!(counts(json!({ "entryCount": 40 })), (40, 12, 12));
    let block = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let context = stats_of(&block, &json!({ "contextBlock": "Notes" }));
    assert_eq!((context.context.path_entry_count, context.context.message_count), (1, 2));
    assert!(context.system_prompt_tokens > 0);
}

#[test]
fn the_host_may_name_the_phase_of_a_tool() {
    let of = |options: Value| stats_of(&session(), &options).context.phase_tokens;
    let (plain, told) = (of(json!({})), of(json!({ "phases": { "read_file": "verification" } })));
    assert!(told.exploration == 0 && told.verification == plain.verification + plain.exploration, "{plain:?} {told:?}");
    assert_eq!(of(json!({ "toolKinds": { "read_file": "verify" } })), told);
}

#[test]
fn ui_messages_are_counted_as_what_is_sent_of_them() {
    let tool = json!({ "type": "tool-read", "toolCallId": "1", "state": "output-available", "input": { "path": "a.txt" }, "output": "hello" });
    let ui = json!({ "messages": [
        { "id": "a", "role": "user", "parts": [{ "type": "text", "text": "what is in a.txt?" }] },
        { "id": "b", "role": "assistant", "parts": [{ "type": "step-start" }, tool, { "type": "step-start" }, { "type": "text", "text": "hello" }] }
    ] });
    let stats = stats_of(&ui, &json!({}));
    add_up(&stats).unwrap();
    assert_eq!((stats.context.path_entry_count, stats.context.message_count), (2, 4));
    assert!(stats.context.role_tokens.tool > 0 && stats.context.phase_tokens.exploration > 0 && stats.context.phase_tokens.conclusion > 0);
}

/// With one token a byte, whatever was estimated of texts is gone.
#[test]
fn texts_may_be_counted_by_somebody_else() {
    let request = session();
    let tape = Tape::from_json(request.to_string()).unwrap();
    let (request, options) = (Request::of(tape.root()), Options::default());
    let texts = stats::texts(&request, &options, None).unwrap();
    assert!(texts.iter().any(|text| text == "Be brief.") && texts.iter().any(|text| text.contains("\"description\"")));
    assert!(texts.iter().any(|text| text.contains("\"path\"")) && texts.iter().any(|text| text == "2 passed, 0 failed"));
    let counts: Vec<u32> = texts.iter().map(|text| text.len() as u32).collect();
    let counted = stats::of(&request, &options, None, Some(&counts)).unwrap();
    add_up(&counted).unwrap();
    let none = stats::of(&request, &options, None, Some(&vec![0; counts.len()])).unwrap().context.estimated_used;
    assert_eq!(counted.context.estimated_used - none, counts.iter().sum::<u32>());
    assert!(none < 200, "overheads alone: {none}");
    assert!(stats::of(&request, &options, None, Some(&counts[1..])).is_err());
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let error = try_stats(&json!({ "messages": 1 }), &json!({}), None).unwrap_err();
    assert_eq!((error.code().as_str(), error.path()), ("not_an_array", "messages"));
}
