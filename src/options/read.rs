//! Reads options from JSON: names first, then shapes, then ranges, each fault with its path and what to do.

use super::{BTreeMap, Code, Cold, Deserialize, EntryRef, Error, Format, Map, Marks, ModelInfo, Options, Profile, ToolKind, Usage, Value, When};
use crate::render::breadcrumb;

/// The options as they are spelt, before checks. A missing one keeps the preset's value.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    format: Option<Format>,
    context_block: Option<String>,
    model: Option<ModelInfo>,
    cold: Option<ColdGiven>,
    usage: Option<Usage>,
    pins: Option<Vec<PinGiven>>,
    enabled: Option<bool>,
    cache: Option<Profile>,
    budget_tokens: Option<u32>,
    floor_ratio: Option<f64>,
    fit_to_window: Option<bool>,
    context_headroom: Option<f64>,
    completion_reserve: Option<u32>,
    protect_recent_turns: Option<usize>,
    max_tool_result_bytes: Option<usize>,
    keep_head_bytes: Option<usize>,
    keep_tail_bytes: Option<usize>,
    min_saved_bytes: Option<usize>,
    expected_calls: Option<u32>,
    collapse_duplicate_results: Option<bool>,
    elide_superseded_reads: Option<bool>,
    drop_reasoning: Option<bool>,
    tool_kinds: Option<BTreeMap<String, ToolKind>>,
    resource_of: Option<BTreeMap<String, Vec<String>>>,
    when: Option<When>,
    marks: Option<Marks>,
    max_breakpoints: Option<usize>,
    milestone_tokens: Option<u32>,
    label: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false or { modelSwitched, retrying, idleMs }")]
enum ColdGiven {
    Said(bool),
    Because(Cold),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the index of a message or { message, part }")]
enum PinGiven {
    Message(usize),
    Entry { message: usize, part: Option<u32> },
}

const NAMES: &[&str] = &[
    "format", "contextBlock", "model", "cold", "usage", "pins", "enabled", "preset", "when", "cache", "budgetTokens", "floorRatio", "fitToWindow", "contextHeadroom",
    "completionReserve", "protectRecentTurns", "maxToolResultBytes", "keepHeadBytes", "keepTailBytes", "minSavedBytes", "expectedCalls", "collapseDuplicateResults",
    "elideSupersededReads", "dropReasoning", "toolKinds", "resourceOf", "marks", "maxBreakpoints", "milestoneTokens", "label",
];

/// Options of the whole design that this version does not carry out, each with the only value that it takes until then.
const NOT_YET: &[(&str, Option<Value>)] = &[
    ("byKind", None),
    ("calibration", None),
    ("elideStaleReads", Some(Value::Bool(false))),
    ("outline", Some(Value::Bool(false))),
    ("dropImages", Some(Value::Bool(false))),
    ("overflow", None),
    ("autoCompactThreshold", None),
    ("summarize", None),
    ("phases", None),
    ("entryCount", None),
    ("count", None),
];

/// See [`Options::from_json`].
pub(super) fn options(value: Value) -> crate::Result<Options> {
    let mut fields = match value {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        _ => return Err(Error::new(Code::InvalidOption, "options", "expected an object of options; leave it out for the defaults")),
    };
    fields.retain(|_, value| !value.is_null());
    check_names(&mut fields)?;
    check_policy(&mut fields)?;
    let given: Given = serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = format!("options.{}", error.path());
        Error::new(Code::InvalidOption, path, error.inner().to_string())
    })?;
    let options = with_defaults(given);
    check_ranges(&options)?;
    Ok(options)
}

fn check_names(fields: &mut Map<String, Value>) -> crate::Result<()> {
    for (name, accepted) in NOT_YET {
        match fields.remove(*name) {
            Some(value) if Some(&value) != accepted.as_ref() => {
                let only = accepted.as_ref().map_or("leave it out".to_owned(), |value| format!("leave it out, or pass {value}"));
                return Err(Error::new(Code::UnsupportedOption, format!("options.{name}"), format!("this version does not carry it out yet; {only}")));
            }
            _ => {}
        }
    }
    let Some(unknown) = fields.keys().find(|name| !NAMES.contains(&name.as_str())) else { return Ok(()) };
    let near = NAMES.iter().map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &unknown.to_lowercase()), name)).min();
    let hint = match near {
        Some((distance, name)) if distance <= 3 => format!("did you mean {name}?"),
        _ => format!("the options are {}", NAMES.join(", ")),
    };
    Err(Error::new(Code::UnknownOption, format!("options.{unknown}"), format!("there is no such option; {hint}")))
}

fn check_policy(fields: &mut Map<String, Value>) -> crate::Result<()> {
    if let Some(preset) = fields.remove("preset")
        && preset != "spec"
    {
        let known = ["careful", "balanced", "thrifty"].iter().any(|name| preset == *name);
        let code = if known { Code::UnsupportedOption } else { Code::InvalidOption };
        let what = if known { "this version has only preset \"spec\"; leave it out or pass \"spec\"" } else { "expected \"spec\", the preset that this version has" };
        return Err(Error::new(code, "options.preset", what));
    }
    if fields.get("when").is_some_and(|when| when == "pays") {
        return Err(Error::new(Code::UnsupportedOption, "options.when", "this version folds by budget only; leave it out, or pass \"budget\" or \"never\""));
    }
    Ok(())
}

fn with_defaults(given: Given) -> Options {
    let spec = Options::default();
    let model = given.model.unwrap_or_default();
    let by_model = || model.cache.or_else(|| model.id.as_deref().map(Profile::of_model)).unwrap_or_default();
    Options {
        format: given.format,
        context_block: given.context_block.filter(|block| !block.is_empty()),
        cold: given.cold.and_then(|cold| match cold {
            ColdGiven::Said(cold) => cold.then_some(None),
            ColdGiven::Because(cold) => Some(Some(cold)),
        }),
        usage: given.usage,
        pins: given.pins.unwrap_or_default().into_iter().map(entry_ref).collect(),
        enabled: given.enabled.unwrap_or(spec.enabled),
        when: given.when.unwrap_or(spec.when),
        cache: given.cache.unwrap_or_else(by_model),
        budget_tokens: given.budget_tokens.or(spec.budget_tokens),
        floor_ratio: given.floor_ratio.unwrap_or(spec.floor_ratio),
        fit_to_window: given.fit_to_window.unwrap_or(spec.fit_to_window),
        context_headroom: given.context_headroom.unwrap_or(spec.context_headroom),
        completion_reserve: given.completion_reserve.unwrap_or(spec.completion_reserve),
        protect_recent_turns: given.protect_recent_turns.unwrap_or(spec.protect_recent_turns),
        max_tool_result_bytes: given.max_tool_result_bytes.unwrap_or(spec.max_tool_result_bytes),
        keep_head_bytes: given.keep_head_bytes.unwrap_or(spec.keep_head_bytes),
        keep_tail_bytes: given.keep_tail_bytes.unwrap_or(spec.keep_tail_bytes),
        min_saved_bytes: given.min_saved_bytes.unwrap_or(spec.min_saved_bytes),
        expected_calls: given.expected_calls,
        collapse_duplicate_results: given.collapse_duplicate_results.unwrap_or(spec.collapse_duplicate_results),
        elide_superseded_reads: given.elide_superseded_reads.unwrap_or(spec.elide_superseded_reads),
        drop_reasoning: given.drop_reasoning.unwrap_or(spec.drop_reasoning),
        tool_kinds: given.tool_kinds.unwrap_or_default(),
        resource_of: given.resource_of.unwrap_or_default(),
        marks: given.marks.unwrap_or(spec.marks),
        max_breakpoints: given.max_breakpoints.unwrap_or(spec.max_breakpoints),
        milestone_tokens: given.milestone_tokens.unwrap_or(spec.milestone_tokens),
        label: given.label.unwrap_or(spec.label),
        model,
    }
}

fn entry_ref(pin: PinGiven) -> EntryRef {
    match pin {
        PinGiven::Message(message) => EntryRef { message, part: None },
        PinGiven::Entry { message, part } => EntryRef { message, part },
    }
}

fn check_ranges(options: &Options) -> crate::Result<()> {
    let share = |name: &str, value: f64| {
        let fault = || Error::new(Code::InvalidOption, format!("options.{name}"), format!("expected a share over 0 and at most 1, got {value}"));
        if value > 0.0 && value <= 1.0 { Ok(()) } else { Err(fault()) }
    };
    share("floorRatio", options.floor_ratio)?;
    share("contextHeadroom", options.context_headroom)?;
    let positive = |name: &str, value: Option<u32>| match value {
        Some(0) => Err(Error::new(Code::InvalidOption, format!("options.{name}"), "expected at least 1, got 0")),
        _ => Ok(()),
    };
    positive("budgetTokens", options.budget_tokens)?;
    positive("milestoneTokens", Some(options.milestone_tokens))?;
    positive("model.contextWindow", options.model.context_window)?;
    positive("usage.inputTokens", options.usage.map(|usage| usage.input_tokens))?;
    if options.max_breakpoints > 4 {
        return Err(Error::new(Code::InvalidOption, "options.maxBreakpoints", format!("providers take at most 4, got {}", options.max_breakpoints)));
    }
    if options.cold.flatten().and_then(|cold| cold.idle_ms).is_some_and(|idle| idle < 0.0 || idle.is_nan()) {
        return Err(Error::new(Code::InvalidOption, "options.cold.idleMs", "expected milliseconds since the last call, at least 0"));
    }
    options.cache.check("options.cache")?;
    if !breadcrumb::is_plain(&options.label) {
        let what = "expected 1 to 120 printable ASCII characters without brackets, since it stands in every breadcrumb";
        return Err(Error::new(Code::InvalidOption, "options.label", what));
    }
    check_window(options)
}

fn check_window(options: &Options) -> crate::Result<()> {
    let Some(window) = options.model.context_window else { return Ok(()) };
    let room = f64::from(window) * options.context_headroom;
    if room.floor() > f64::from(options.completion_reserve) {
        return Ok(());
    }
    let what = format!(
        "a window of {window} tokens × headroom {} − {} reserved for the answer leaves nothing for the prompt; lower completionReserve or choose a larger model",
        options.context_headroom, options.completion_reserve
    );
    Err(Error::new(Code::WindowTooSmall, "options.completionReserve", what))
}
