//! `cache::profile`: which figures an id gets, and which it does not.

use warmfold::cache::profile::{Lookup, Profile};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const NAMES: [&str; 11] =
    ["anthropic-5m", "anthropic-1h", "openai", "openai-4o", "openai-4.1", "openai-5.6", "gemini", "deepseek", "mistral", "xai", "none"];

/// Ids as hosts spell them, their profile, and the read price and minimum where the model has its own.
#[test]
fn an_id_tells_its_profile() {
    let table: &[(&str, &str, Option<f64>, Option<u32>)] = &[
        ("claude-sonnet-4-5-20250929", "anthropic-5m", None, None),
        ("anthropic/claude-sonnet-4.5", "anthropic-5m", None, None),
        ("claude-sonnet-4-20250514", "anthropic-5m", None, None),
        ("claude-opus-4-1-20250805", "anthropic-5m", None, None),
        ("claude-opus-4-20250514", "anthropic-5m", None, None),
        ("claude-opus-4-8", "anthropic-5m", None, None),
        ("claude-3-7-sonnet-latest", "anthropic-5m", None, None),
        ("claude-3-opus-20240229", "anthropic-5m", None, None),
        ("databricks-claude-sonnet-4-5", "anthropic-5m", None, None),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic-5m", None, Some(4096)),
        ("claude-opus-4-5@20251101", "anthropic-5m", None, Some(4096)),
        ("anthropic--claude-4.5-opus", "anthropic-5m", None, Some(4096)),
        ("openrouter/anthropic/claude-opus-4.6", "anthropic-5m", None, Some(4096)),
        ("claude-opus-4-7", "anthropic-5m", None, Some(2048)),
        ("Claude-Haiku-4-5", "anthropic-5m", None, Some(4096)),
        ("claude-3-5-haiku-20241022", "anthropic-5m", None, Some(2048)),
        ("anthropic.claude-3-haiku-20240307-v1:0", "anthropic-5m", None, Some(2048)),
        ("claude-haiku-5-5", "anthropic-5m", None, Some(512)),
        ("claude-sonnet-5", "anthropic-5m", None, None),
        ("claude-sonnet-5-5", "anthropic-5m", Some(0.05), Some(512)),
        ("claude-opus-5", "anthropic-5m", None, Some(512)),
        ("claude-opus-5.5:thinking", "anthropic-5m", Some(0.05), Some(512)),
        ("claude-fable-5", "anthropic-5m", None, Some(512)),
        ("claude-fable-5-1", "anthropic-5m", Some(0.025), Some(512)),
        ("claude-mythos-preview", "anthropic-5m", None, Some(2048)),
        ("anthropic/claude-opus-4-1", "anthropic-5m", None, None),
        ("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic-5m", None, None),
        ("global.anthropic.claude-haiku-4-5-20251001-v1:0", "anthropic-5m", None, Some(4096)),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1:0", "anthropic-5m", None, Some(4096)),
        ("vertex_ai/claude-haiku-4-5@20251001", "anthropic-5m", None, Some(4096)),
        ("publishers/anthropic/models/claude-opus-4-7", "anthropic-5m", None, Some(2048)),
        ("opus-4.5", "anthropic-5m", None, Some(4096)),
        ("opus4.5", "anthropic-5m", None, Some(4096)),
        ("anthropic/opus-5", "anthropic-5m", None, Some(512)),
        ("sonnet-4", "anthropic-5m", None, None),
        ("sonnet-5.5", "anthropic-5m", Some(0.05), Some(512)),
        ("haiku", "anthropic-5m", None, None),
        ("haiku-4-5", "anthropic-5m", None, Some(4096)),
        ("opus", "anthropic-5m", None, None),
        ("gpt-4o", "openai-4o", None, None),
        ("gpt4o", "openai-4o", None, None),
        ("openai-o3-mini", "openai-4o", None, None),
        ("o3-mini-high", "openai-4o", None, None),
        ("openai/gpt-4o-mini-2024-07-18", "openai-4o", None, None),
        ("chatgpt-4o-latest", "openai-4o", None, None),
        ("gpt-4.5-preview", "openai-4o", None, None),
        ("o1", "openai-4o", None, None),
        ("openai:o3-mini", "openai-4o", None, None),
        ("gpt-4.1-nano", "openai-4.1", None, None),
        ("openai/o3", "openai-4.1", None, None),
        ("o4-mini-2025-04-16", "openai-4.1", None, None),
        ("o3", "openai-4.1", None, None),
        ("o4-mini", "openai-4.1", None, None),
        ("azure/openai-o3", "openai-4.1", None, None),
        ("gpt4.1-mini", "openai-4.1", None, None),
        ("azure/gpt-41", "openai-4.1", None, None),
        ("codex-mini-latest", "openai-4.1", None, None),
        ("gpt-5-2025-08-07", "openai", None, None),
        ("azure/gpt-5.1", "openai", None, None),
        ("gpt5", "openai", None, None),
        ("gpt5-mini", "openai", None, None),
        ("GPT5.2-codex", "openai", None, None),
        ("gpt-5.1-codex-mini", "openai", None, None),
        ("gpt-5.5", "openai", None, None),
        ("gpt-5.6-luna", "openai-5.6", None, None),
        ("gpt5.6", "openai-5.6", None, None),
        ("gpt-5.10", "openai-5.6", None, None),
        ("gpt-6-astra", "openai-5.6", None, None),
        ("gpt-6.1-sol", "openai-5.6", Some(0.05), None),
        ("gpt-4-turbo", "none", None, None),
        ("gpt4", "none", None, None),
        ("gpt5-pro", "none", None, None),
        ("gpt-4-1106-preview", "none", None, None),
        ("gpt-3.5-turbo", "none", None, None),
        ("azure/gpt-35-turbo-16k", "none", None, None),
        ("o1-pro", "none", None, None),
        ("gpt-5-pro", "none", None, None),
        ("gemini-2.5-pro", "gemini", None, Some(2048)),
        ("vertex_ai/gemini-2.5-flash", "gemini", None, Some(2048)),
        ("publishers/google/models/gemini-3-pro", "gemini", None, None),
        ("gemini3-flash", "gemini", None, None),
        ("gemini-1.5-pro-002", "none", None, None),
        ("models/gemini-2.5-pro", "gemini", None, Some(2048)),
        ("google/gemini-3.1-pro-preview", "gemini", None, None),
        ("gemini-2.0-flash", "none", None, None),
        ("deepseek-r1", "deepseek", None, None),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek", None, None),
        ("us.deepseek.r1-v1:0", "deepseek", None, None),
        ("deepseek-flash", "deepseek", None, None),
        ("deepseek/deepseek-v4-pro", "deepseek", Some(1.0 / 30.0), None),
        ("mixtral-8x7b", "mistral", None, None),
        ("open-mixtral-8x22b", "mistral", None, None),
        ("mistral.mistral-large-2407-v1:0", "mistral", None, None),
        ("codestral", "mistral", None, None),
        ("devstral", "mistral", None, None),
        ("magistral", "mistral", None, None),
        ("mistral-large-latest", "mistral", None, None),
        ("mistralai/devstral-medium", "mistral", None, None),
        ("codestral-2508", "mistral", None, None),
        ("grok-4", "xai", None, None),
        ("grok4", "xai", None, None),
        ("x-ai/grok-4.7", "xai", None, None),
        ("grok-code-fast-1", "xai", Some(0.1), None),
    ];
    for &(id, name, read, minimum) in table {
        let named = Profile::named(name).unwrap();
        let expected = Profile { read: read.unwrap_or(named.read), minimum_tokens: minimum.unwrap_or(named.minimum_tokens), ..named };
        assert_eq!(Profile::of_model(id), expected, "{id} is {name}");
        assert!(Profile::knows(id), "{id}");
    }
}

/// What only looks like a provider's model pays nobody's price in particular.
#[test]
fn an_unknown_id_gets_the_default() {
    let unknown = [
        "",
        "openai/gpt-oss-120b",
        "openai.gpt-oss-20b-1:0",
        "gpt-j-6b",
        "gpt-neox-20b",
        "AIDC-AI/Marco-o1",
        "skywork-o1-open",
        "foo3-o4x",
        "deepseek-r1-distill-llama-70b",
        "google/gemma-3-27b",
        "moonshotai/kimi-k2",
        "qwen3-coder",
        "llama-4-maverick",
        "größe",
        "gpt-51",
        "groq/llama-4-scout",
        "dolphin-2.6",
        "a100-o3",
    ];
    for id in unknown {
        assert!(!Profile::knows(id), "{id:?}");
        assert_eq!(Profile::of_model(id), Profile::default(), "{id:?}");
    }
    assert_eq!(Some(Profile::default()), Profile::named("anthropic-5m"));
}

#[test]
fn no_name_costs_less_to_write_than_to_read() {
    for name in NAMES {
        let profile = Profile::named(name).unwrap_or_else(|| panic!("{name} is known"));
        assert!(profile.read <= profile.write && profile.granularity_tokens > 0, "{name}: {profile:?}");
        assert_eq!(profile.lookup == Lookup::Never, profile.ttl_ms == 0.0, "{name}: {profile:?}");
    }
    assert_eq!(Profile::named("openai-4"), None);
}

#[test]
fn only_the_provider_of_the_model_is_made_precise() {
    assert_eq!(Profile::named_for("anthropic-1h", "claude-haiku-4-5").map(|hour| (hour.write, hour.minimum_tokens)), Some((2.0, 4096)));
    assert_eq!(Profile::named_for("openai", "gpt-6.1-sol").map(|openai| openai.read), Some(0.05));
    assert_eq!(Profile::named_for("openai", "claude-haiku-4-5"), Profile::named("openai"));
    assert_eq!(Profile::named_for("claude", "claude-haiku-4-5"), None);
}
