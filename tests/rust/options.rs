//! `options`: every knob is read, every bad input is refused with its path and what to do.

use serde_json::{Value, json};
use warmfold::Options;
use warmfold::cache::profile::Lookup;
use warmfold::history::kinds::ToolKind;
use warmfold::options::{KindPolicy, When};

use crate::support::merged;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn nothing_is_balanced() {
    let options = Options::from_json(json!({})).unwrap();
    assert_eq!(options, Options::default());
    assert_eq!(options, Options::from_json(json!({ "preset": "balanced" })).unwrap());
    assert_eq!((options.when, options.budget_tokens, options.floor_ratio, options.protect_recent_turns), (When::Pays, None, 0.5, 1));
    assert!(options.enabled && options.collapse_duplicate_results && options.elide_superseded_reads && options.elide_stale_reads);
    assert!(!options.drop_reasoning);
}

#[test]
fn the_preset_spec_is_the_specification_as_it_ships() {
    let options = Options::from_json(json!({ "preset": "spec" })).unwrap();
    assert_eq!((options.when, options.budget_tokens, options.floor_ratio, options.protect_recent_turns), (When::Budget, Some(40_000), 1.0, 4));
    let policy = KindPolicy { protect_calls: 0, max_bytes: 4096, keep_head_bytes: 512, keep_tail_bytes: 512 };
    assert!(ToolKind::NAMES.iter().all(|(_, kind)| options.by_kind.of(*kind) == policy));
    assert!(options.enabled && options.drop_reasoning && options.collapse_duplicate_results && options.elide_superseded_reads);
    assert!(!options.elide_stale_reads && options.protect_quoted_calls == 0);
}

#[test]
fn what_is_said_of_one_kind_goes_before_what_is_said_of_all() {
    let own = json!({ "maxToolResultBytes": 1000, "keepHeadBytes": 10, "byKind": { "read": { "protectCalls": 7, "keepHeadBytes": 99 } } });
    let options = Options::from_json(own).unwrap();
    let (read, run) = (options.by_kind.of(ToolKind::Read), options.by_kind.of(ToolKind::Run));
    assert_eq!((read.protect_calls, read.max_bytes, read.keep_head_bytes), (7, 1000, 99));
    assert_eq!((run.max_bytes, run.keep_head_bytes), (1000, 10));
    assert_eq!(run.protect_calls, Options::default().by_kind.of(ToolKind::Run).protect_calls);
}

/// `null` and an absent field are the same, as JavaScript hosts spread options.
#[test]
fn null_is_absent() {
    let names = "format contextBlock model cold usage pins enabled preset when cache budgetTokens floorRatio label marks toolKinds";
    for name in names.split(' ') {
        assert_eq!(Options::from_json(json!({ (name): null })).unwrap(), Options::default(), "{name}");
    }
}

#[test]
fn what_is_not_built_yet_may_be_off() {
    for name in ["outline", "dropImages"] {
        assert!(Options::from_json(json!({ (name): false })).is_ok(), "{name}");
        assert!(Options::from_json(json!({ (name): null })).is_ok(), "{name}");
    }
}

/// Options, the code, the path, and words of the message that tell what to do.
fn refused() -> Vec<(Value, &'static str, &'static str, &'static str)> {
    let not_whole = "a whole number of at least 0 (and below 2^32), got ";
    vec![
        (json!([]), "invalid_option", "options", "expected an object, got []"),
        (json!("spec"), "invalid_option", "options", "expected an object, got \"spec\""),
        (json!({ "floorRatoi": 1 }), "unknown_option", "options.floorRatoi", "did you mean floorRatio?"),
        (json!({ "budget_tokens": 1 }), "unknown_option", "options.budget_tokens", "did you mean budgetTokens?"),
        (json!({ "BUDGETTOKENS": 1 }), "unknown_option", "options.BUDGETTOKENS", "did you mean budgetTokens?"),
        (json!({ "zzzzzzzzzz": 1 }), "unknown_option", "options.zzzzzzzzzz", "the options are format, contextBlock,"),
        (json!({ "calibration": [] }), "invalid_option", "options.calibration", "an object by model id"),
        (
            json!({ "calibration": { "gpt-5": { "ratio": 9, "reports": 1 } } }),
            "invalid_option",
            "options.calibration.gpt-5.ratio",
            "a ratio of 0.25 to 4",
        ),
        (json!({ "calibration": { "gpt-5": { "ratio": 1 } } }), "invalid_option", "options.calibration.gpt-5.reports", "missing"),
        (
            json!({ "calibration": { "a": { "ratio": 1, "reports": 1, "n": 1 } } }),
            "invalid_option",
            "options.calibration.a.n",
            "expected ratio, reports",
        ),
        (json!({ "floorRatio": 0 }), "invalid_option", "options.floorRatio", "a share over 0 and at most 1, got 0"),
        (json!({ "floorRatio": 1.01 }), "invalid_option", "options.floorRatio", "a share over 0 and at most 1, got 1.01"),
        (json!({ "floorRatio": "75%" }), "invalid_option", "options.floorRatio", "got \"75%\""),
        (json!({ "contextHeadroom": -1 }), "invalid_option", "options.contextHeadroom", "a share over 0"),
        (json!({ "budgetTokens": 0 }), "invalid_option", "options.budgetTokens", "a whole number of at least 1"),
        (json!({ "budgetTokens": 1.5 }), "invalid_option", "options.budgetTokens", "got 1.5"),
        (json!({ "budgetTokens": 4_294_967_296u64 }), "invalid_option", "options.budgetTokens", "below 2^32"),
        (json!({ "budgetTokens": "40k" }), "invalid_option", "options.budgetTokens", "got \"40k\""),
        (json!({ "protectRecentTurns": -1 }), "invalid_option", "options.protectRecentTurns", not_whole),
        (json!({ "keepHeadBytes": {} }), "invalid_option", "options.keepHeadBytes", not_whole),
        (json!({ "milestoneTokens": 0 }), "invalid_option", "options.milestoneTokens", "at least 1"),
        (json!({ "maxBreakpoints": 5 }), "invalid_option", "options.maxBreakpoints", "0 to 4, the most that providers take"),
        (json!({ "enabled": "yes" }), "invalid_option", "options.enabled", "true or false, got \"yes\""),
        (json!({ "dropReasoning": 1 }), "invalid_option", "options.dropReasoning", "true or false, got 1"),
        (json!({ "when": "always" }), "invalid_option", "options.when", "pays, budget, never"),
        (json!({ "marks": "claude" }), "invalid_option", "options.marks", "none, anthropic, openai"),
        (json!({ "format": "telegraph" }), "invalid_option", "options.format", "openai-chat"),
        (json!({ "preset": "fast" }), "invalid_option", "options.preset", "careful, balanced, thrifty, spec"),
        (json!({ "cache": "aws" }), "invalid_option", "options.cache", "one of anthropic-5m, anthropic-1h, openai"),
        (json!({ "cache": { "read": 0.1, "write": 1.25 } }), "invalid_option", "options.cache.ttlMs", "missing"),
        (json!({ "cache": { "read": 1, "write": 0, "ttlMs": 1 } }), "invalid_option", "options.cache.write", "are the two exchanged?"),
        (json!({ "cache": { "read": 0.1, "write": 1e308, "ttlMs": 1 } }), "invalid_option", "options.cache.write", "at most 1,000,000, got 1e+308"),
        (
            json!({ "model": { "cache": { "read": 1e7, "write": 1e7, "ttlMs": 1 } } }),
            "invalid_option",
            "options.model.cache.read",
            "at most 1,000,000",
        ),
        (json!({ "cache": { "read": -1, "write": 1, "ttlMs": 1 } }), "invalid_option", "options.cache.read", "a number of at least 0"),
        (json!({ "cache": { "read": 0.1, "write": 1, "ttlMs": 1, "ttl": 5 } }), "invalid_option", "options.cache.ttl", "did you mean ttlMs?"),
        (
            json!({ "cache": { "read": 0.1, "write": 1, "ttlMs": 1, "minimumTokens": 0.5 } }),
            "invalid_option",
            "options.cache.minimumTokens",
            not_whole,
        ),
        (
            json!({ "model": { "cache": { "read": 0.1, "write": 1, "ttlMs": 1, "granularityTokens": 0 } } }),
            "invalid_option",
            "options.model.cache.granularityTokens",
            "at least 1",
        ),
        (json!({ "label": "" }), "invalid_option", "options.label", "printable ASCII characters without brackets"),
        (json!({ "label": "a]b" }), "invalid_option", "options.label", "without brackets"),
        (json!({ "label": "größe" }), "invalid_option", "options.label", "printable ASCII"),
        (json!({ "label": "a\nb" }), "invalid_option", "options.label", "printable ASCII"),
        (json!({ "pins": 3 }), "invalid_option", "options.pins", "an array, got 3"),
        (json!({ "pins": [1, "x"] }), "invalid_option", "options.pins[1]", "the index of a message or { message, part }"),
        (json!({ "pins": [{ "message": 1, "parts": 2 }] }), "invalid_option", "options.pins[0].parts", "there is no such field; did you mean part?"),
        (json!({ "pins": [{ "part": 2 }] }), "invalid_option", "options.pins[0].message", "missing"),
        (json!({ "cold": 1 }), "invalid_option", "options.cold", "true, false or { modelSwitched, retrying, idleMs }"),
        (json!({ "cold": { "idle": 1 } }), "invalid_option", "options.cold.idle", "there is no such field; did you mean idleMs?"),
        (json!({ "cold": { "reason": 1 } }), "invalid_option", "options.cold.reason", "expected modelSwitched, retrying, idleMs"),
        (json!({ "usage": { "inputTokens": 0, "upTo": 1 } }), "invalid_option", "options.usage.inputTokens", "at least 1"),
        (json!({ "usage": { "inputTokens": 9 } }), "invalid_option", "options.usage.upTo", "missing"),
        (json!({ "model": "gpt" }), "invalid_option", "options.model", "an object"),
        (json!({ "model": { "contextWindow": 0 } }), "invalid_option", "options.model.contextWindow", "at least 1"),
        (json!({ "model": { "window": 1 } }), "invalid_option", "options.model.window", "expected id, contextWindow"),
        (json!({ "toolKinds": { "bash": "shell" } }), "invalid_option", "options.toolKinds.bash", "read, search, list"),
        (json!({ "toolKinds": [] }), "invalid_option", "options.toolKinds", "an object by tool name"),
        (json!({ "resourceOf": { "bash": ["a", 1] } }), "invalid_option", "options.resourceOf.bash[1]", "a text, got 1"),
        (json!({ "phases": { "bash": "verify" } }), "invalid_option", "options.phases.bash", "exploration, execution, verification, conclusion"),
        (json!({ "entryCount": -1 }), "invalid_option", "options.entryCount", not_whole),
        (json!({ "count": 3 }), "invalid_option", "options.count", "a function that tells the tokens of a text, got 3"),
        (json!({ "contextBlock": 5 }), "invalid_option", "options.contextBlock", "a text, got 5"),
        (
            json!({ "model": { "contextWindow": 100 } }),
            "window_too_small",
            "options.completionReserve",
            "lower completionReserve, or choose a larger model",
        ),
        (json!({ "protectQuotedCalls": -1 }), "invalid_option", "options.protectQuotedCalls", not_whole),
        (json!({ "elideStaleReads": "no" }), "invalid_option", "options.elideStaleReads", "true or false, got \"no\""),
        (json!({ "expectedCalls": 0.5 }), "invalid_option", "options.expectedCalls", not_whole),
        (json!({ "byKind": [] }), "invalid_option", "options.byKind", "an object by kind"),
        (json!({ "byKind": { "shell": {} } }), "invalid_option", "options.byKind.shell", "expected read, search, list"),
        (json!({ "byKind": { "read": { "protectTurns": 1 } } }), "invalid_option", "options.byKind.read.protectTurns", "did you mean protectCalls?"),
        (json!({ "byKind": { "run": { "maxBytes": -1 } } }), "invalid_option", "options.byKind.run.maxBytes", not_whole),
        (json!({ "summarize": {} }), "unsupported_option", "options.summarize", "leave it out"),
        (json!({ "dropImages": "fit" }), "unsupported_option", "options.dropImages", "leave it out"),
        (json!({ "overflow": "drop" }), "invalid_option", "options.overflow", "digest"),
        (json!({ "autoCompactThreshold": 0 }), "invalid_option", "options.autoCompactThreshold", ""),
    ]
}

#[test]
fn bad_input_is_refused_with_its_path_and_what_to_do() {
    for (options, code, path, words) in refused() {
        let fault = Options::from_json(options.clone()).expect_err(&options.to_string());
        assert_eq!((fault.code().as_str(), fault.path()), (code, path), "{options}: {fault}");
        assert!(fault.message().contains(words), "{options}: {fault}");
    }
}

/// Misspelt, shortened, from another call or in the wrong place: the message says what is meant, and at a guess says nothing.
#[test]
fn a_misspelt_name_is_told_what_it_may_mean() {
    let at_the_top = [
        ("budgt", "budgetTokens"),
        ("budget", "budgetTokens"),
        ("byKinds", "byKind"),
        ("modle", "model"),
        ("keep_head", "keepHeadBytes"),
        ("breakpoints", "maxBreakpoints"),
        ("protectTurns", "protectRecentTurns"),
        ("contextWindow", "model.contextWindow"),
        ("idleMs", "cold.idleMs"),
        ("toolchoice", "toolChoice"),
        ("plans", "plan"),
        ("time", "times"),
    ];
    for (name, meant) in at_the_top {
        let fault = Options::from_json(json!({ (name): 1 })).expect_err(name);
        assert_eq!((fault.path(), fault.message()), (&*format!("options.{name}"), &*format!("there is no such option; did you mean {meant}?")));
    }
    let inside = [
        (json!({ "model": { "modelId": 1 } }), "model.modelId", None),
        (json!({ "model": { "contextwindow": 1 } }), "model.contextwindow", Some("contextWindow")),
        (json!({ "model": { "cache": { "reads": 1 } } }), "model.cache.reads", Some("read")),
        (json!({ "cache": { "minTokens": 1 } }), "cache.minTokens", Some("minimumTokens")),
        (json!({ "cold": { "model_switched": true } }), "cold.model_switched", Some("modelSwitched")),
        (json!({ "usage": { "input": 1 } }), "usage.input", Some("inputTokens")),
        (json!({ "pins": [0, { "mesage": 1 }] }), "pins[1].mesage", Some("message")),
        (json!({ "byKind": { "reads": {} } }), "byKind.reads", Some("read")),
        (json!({ "byKind": { "run": { "maxByte": 1 } } }), "byKind.run.maxByte", Some("maxBytes")),
    ];
    for (options, path, meant) in inside {
        let fault = Options::from_json(options.clone()).expect_err(path);
        assert_eq!(fault.path(), format!("options.{path}"), "{options}: {fault}");
        let hint = fault.message().strip_prefix("there is no such field; did you mean ").map(|name| name.trim_end_matches('?'));
        assert_eq!(hint, meant, "{options}: {fault}");
    }
    for name in ["temperature", "messages", "maxTokens", "x", "verbose"] {
        let fault = Options::from_json(json!({ (name): 1 })).expect_err(name);
        assert!(fault.message().contains("the options are format,"), "{fault}");
    }
    for name in ["plan", "system", "tools", "toolChoice", "times", "asScored"] {
        let fault = Options::from_json(json!({ (name): 1 })).expect_err(name);
        assert_eq!(fault.message(), "it is no option of this call: leave it out", "{name}");
    }
}

/// A huge value is shown by its start only.
#[test]
fn a_message_stays_short() {
    let fault = Options::from_json(json!({ "marks": "x".repeat(10_000) })).unwrap_err();
    assert!(fault.message().len() < 200 && fault.message().ends_with('…'), "{fault}");
}

#[test]
fn the_limit_is_the_smaller_of_budget_and_window() {
    let limits = |options: Value| {
        let options = Options::from_json(options).unwrap();
        (options.window_tokens(), options.limit_tokens())
    };
    assert_eq!(limits(json!({})), (None, None));
    assert_eq!(limits(json!({ "preset": "spec" })), (None, Some(40_000)));
    assert_eq!(limits(json!({ "model": { "contextWindow": 20_000 }, "completionReserve": 1000 })), (Some(17_000), Some(17_000)));
    assert_eq!(limits(json!({ "model": { "contextWindow": 200_000 } })), (Some(175_904), Some(175_904)));
    assert_eq!(limits(json!({ "model": { "contextWindow": 200_000 }, "budgetTokens": 40_000 })), (Some(175_904), Some(40_000)));
    let off = json!({ "model": { "contextWindow": 20_000 }, "fitToWindow": false });
    assert_eq!(limits(off.clone()), (Some(13_904), None));
    assert_eq!(limits(merged(&off, &json!({ "budgetTokens": 40_000 }))), (Some(13_904), Some(40_000)));
}

#[test]
fn prices_come_from_the_model_unless_they_are_given() {
    let write = |options: Value| Options::from_json(options).unwrap().cache.write;
    assert_eq!(write(json!({})), 1.25);
    assert_eq!(write(json!({ "model": { "id": "gpt-5" } })), 1.0);
    assert_eq!(write(json!({ "model": { "id": "gpt-5", "cache": "anthropic-1h" } })), 2.0);
    assert_eq!(write(json!({ "model": { "id": "gpt-5" }, "cache": { "read": 0, "write": 3, "ttlMs": 0 } })), 3.0);
}

/// A name alone says who is paid; the id says what that provider's model asks for.
#[test]
fn a_named_profile_is_made_precise_by_the_model() {
    let cache = |options: Value| Options::from_json(options).unwrap().cache;
    let hour = |id: &str| cache(json!({ "model": { "id": id }, "cache": "anthropic-1h" }));
    assert_eq!((hour("claude-opus-4.5").write, hour("claude-opus-4.5").minimum_tokens), (2.0, 4096));
    assert_eq!(hour("claude-opus-4.5"), cache(json!({ "model": { "id": "claude-opus-4.5", "cache": "anthropic-1h" } })));
    assert_eq!((hour("claude-opus-5-5").read, hour("claude-opus-5-5").minimum_tokens), (0.05, 512));
    assert_eq!(hour("gemini-2.5-pro").minimum_tokens, 1024, "another provider's model says nothing");
}

#[test]
fn own_figures_are_taken_as_they_are() {
    let cache = |options: Value| Options::from_json(options).unwrap().cache;
    let least = cache(json!({ "model": { "id": "claude-opus-4.5" }, "cache": { "read": 0.2, "write": 1, "ttlMs": 9 } }));
    assert_eq!((least.minimum_tokens, least.granularity_tokens, least.lookup), (0, 1, Lookup::Prefix));
    let all = cache(json!({ "cache": { "read": 0.2, "write": 1, "ttlMs": 9, "minimumTokens": 512, "granularityTokens": 64 } }));
    assert_eq!((all.minimum_tokens, all.granularity_tokens), (512, 64));
}
