//! Reads options from JSON: names first, then values, each fault with its path and what to do.

use super::{ByKind, Cold, EntryRef, KindPolicy, Marks, ModelInfo, Options, Overflow, Preset, Usage, When};
use crate::cache::profile::{Asked, Profile};
use crate::error::{Code, Error};
use crate::fields::{self, Fault, Fields, amount, list, one_of, positive, share, text, truth, whole};
use crate::format::Format;
use crate::history::kinds::ToolKind;
use crate::history::phase::Phase;
use crate::plan::ratio;
use crate::render::breadcrumb;
use crate::tape::{Kind, Node};
use crate::tokens::Learned;

const NAMES: &[&str] = &[
    "format",
    "contextBlock",
    "model",
    "cold",
    "usage",
    "calibration",
    "pins",
    "enabled",
    "preset",
    "when",
    "cache",
    "budgetTokens",
    "floorRatio",
    "fitToWindow",
    "contextHeadroom",
    "completionReserve",
    "protectRecentTurns",
    "protectQuotedCalls",
    "byKind",
    "maxToolResultBytes",
    "keepHeadBytes",
    "keepTailBytes",
    "minSavedBytes",
    "expectedCalls",
    "collapseDuplicateResults",
    "elideSupersededReads",
    "elideStaleReads",
    "dropReasoning",
    "outline",
    "toolKinds",
    "resourceOf",
    "overflow",
    "autoCompactThreshold",
    "phases",
    "entryCount",
    "count",
    "marks",
    "maxBreakpoints",
    "milestoneTokens",
    "label",
];

/// Where a name belongs that may be looked for at the top.
const INSIDE: &[&str] = &["model.id", "model.contextWindow", "cold.modelSwitched", "cold.retrying", "cold.idleMs", "usage.inputTokens", "usage.upTo"];

/// What TypeScript takes out of its options before they come here, where the call has it; the last two are those of a replay.
const BESIDE: &[&str] = &["plan", "system", "tools", "toolChoice", "times", "asScored"];

/// Options of the whole design that this version does not carry out. Those that can be off, may be.
const NOT_YET: &[&str] = &["dropImages", "summarize"];

/// See [`Options::read_for`].
pub(super) fn options(node: Node<'_>, sent_to: Option<&str>) -> crate::Result<Options> {
    let fields = Fields::of(node, "options", Code::InvalidOption, "")?;
    check_names(&fields)?;
    let (mut model, asked) = fields
        .read("model", |value| match value.kind() {
            Kind::Object => fields::inner(value, model),
            _ => Err(Fault::expected("an object { id, contextWindow, ... }", value)),
        })?
        .unwrap_or_default();
    model.id = model.id.or_else(|| sent_to.map(str::to_owned));
    model.cache = asked.map(|asked| asked.for_model(model.id.as_deref()));
    let preset = fields.read("preset", |value| one_of(value, Preset::NAMES))?.unwrap_or_default();
    let by_model = || model.cache.or_else(|| model.id.as_deref().map(Profile::of_model)).unwrap_or_default();
    let mut options = Options { cache: by_model(), model, ..Options::of(preset) };
    let to = &mut options;
    to.format = fields.read("format", |value| one_of(value, Format::NAMES))?;
    to.context_block = fields.read("contextBlock", text)?.filter(|block| !block.is_empty());
    to.cold = fields.read("cold", cold)?.flatten();
    to.usage = fields.read("usage", |value| fields::inner(value, usage))?;
    set(&mut to.calibration, fields.read("calibration", |value| table(value, "model id", |value| fields::inner(value, learned))))?;
    set(&mut to.pins, fields.read("pins", |value| list(value, pin)))?;
    set(&mut to.when, fields.read("when", |value| one_of(value, &[("pays", When::Pays), ("budget", When::Budget), ("never", When::Never)])))?;
    let asked = fields.read("cache", Asked::read)?.map(|asked| asked.for_model(to.model.id.as_deref()));
    to.assumes_prices = asked.is_none() && to.model.cache.is_none();
    to.cache = asked.unwrap_or(to.cache);
    set(&mut to.tool_kinds, fields.read("toolKinds", |value| table(value, "tool name", |value| one_of(value, ToolKind::NAMES))))?;
    set(&mut to.resource_of, fields.read("resourceOf", |value| table(value, "tool name", |value| list(value, text))))?;
    set(&mut to.phases, fields.read("phases", |value| table(value, "tool name", |value| one_of(value, Phase::NAMES))))?;
    to.entry_count = fields.read("entryCount", whole)?;
    fields.read("count", function)?; // TypeScript calls it, for statistics alone
    set(
        &mut to.marks,
        fields.read("marks", |value| one_of(value, &[("none", Marks::None), ("anthropic", Marks::Anthropic), ("openai", Marks::Openai)])),
    )?;
    set(
        &mut to.overflow,
        fields.read("overflow", |value| one_of(value, &[("report", Overflow::Report), ("digest", Overflow::Digest), ("evict", Overflow::Evict)])),
    )?;
    set(&mut to.max_breakpoints, fields.read("maxBreakpoints", at_most_four))?;
    set(&mut to.label, fields.read("label", label))?;
    for (name, share_of) in
        [("floorRatio", &mut to.floor_ratio), ("contextHeadroom", &mut to.context_headroom), ("autoCompactThreshold", &mut to.auto_compact_threshold)]
    {
        set(share_of, fields.read(name, share))?;
    }
    for (name, switch) in [
        ("enabled", &mut to.enabled),
        ("fitToWindow", &mut to.fit_to_window),
        ("collapseDuplicateResults", &mut to.collapse_duplicate_results),
        ("elideSupersededReads", &mut to.elide_superseded_reads),
        ("elideStaleReads", &mut to.elide_stale_reads),
        ("dropReasoning", &mut to.drop_reasoning),
        ("outline", &mut to.outline),
    ] {
        set(switch, fields.read(name, truth))?;
    }
    for (name, count) in [("protectRecentTurns", &mut to.protect_recent_turns), ("minSavedBytes", &mut to.min_saved_bytes)] {
        set(count, fields.read(name, whole))?;
    }
    set(&mut to.protect_quoted_calls, fields.read("protectQuotedCalls", whole))?;
    by_kind(&fields, &mut to.by_kind)?;
    set(&mut to.completion_reserve, fields.read("completionReserve", whole))?;
    set(&mut to.milestone_tokens, fields.read("milestoneTokens", positive))?;
    to.expected_calls = fields.read("expectedCalls", whole)?;
    to.budget_tokens = fields.read("budgetTokens", positive)?.or(to.budget_tokens);
    check_window(&options)?;
    Ok(options)
}

fn check_names(fields: &Fields<'_>) -> crate::Result<()> {
    for name in NOT_YET {
        let refused = fields.read(name, |value| Ok(value.kind() != Kind::False))?.unwrap_or(false);
        if refused {
            return Err(fields.error(Code::UnsupportedOption, name, "this version does not carry it out yet: leave it out"));
        }
    }
    let Some(unknown) = fields.other_than(&[NAMES, NOT_YET].concat()) else {
        return Ok(());
    };
    if BESIDE.contains(&unknown) {
        return Err(fields.error(Code::UnknownOption, unknown, "it is no option of this call: leave it out"));
    }
    let hint = match fields::meant(unknown, &[NAMES, INSIDE, BESIDE].concat()) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("the options are {}", [NAMES, &BESIDE[..4]].concat().join(", ")),
    };
    Err(fields.error(Code::UnknownOption, unknown, format!("there is no such option; {hint}")))
}

/// What is said of every kind at once, then what is said of one.
fn by_kind(fields: &Fields<'_>, policies: &mut ByKind) -> crate::Result<()> {
    let sizes = [fields.read("maxToolResultBytes", whole)?, fields.read("keepHeadBytes", whole)?, fields.read("keepTailBytes", whole)?];
    policies.all_mut().for_each(|policy| change(policy, None, sizes));
    let own = fields.read("byKind", |value| match value.kind() {
        Kind::Object => fields::inner(value, changes),
        _ => Err(Fault::expected("an object by kind: { read: { protectCalls, maxBytes, keepHeadBytes, keepTailBytes }, ... }", value)),
    })?;
    for (kind, calls, sizes) in own.into_iter().flatten() {
        change(policies.of_mut(kind), calls, sizes);
    }
    Ok(())
}

fn change(policy: &mut KindPolicy, calls: Option<u32>, sizes: [Option<usize>; 3]) {
    policy.protect_calls = calls.unwrap_or(policy.protect_calls);
    let to = [&mut policy.max_bytes, &mut policy.keep_head_bytes, &mut policy.keep_tail_bytes];
    to.into_iter().zip(sizes).for_each(|(to, size)| *to = size.unwrap_or(*to));
}

type Change = (ToolKind, Option<u32>, [Option<usize>; 3]);

fn changes(fields: &Fields<'_>) -> crate::Result<Vec<Change>> {
    fields.refuse_others(&ToolKind::NAMES.each_ref().map(|(name, _)| *name))?;
    let mut changes = Vec::new();
    for (name, kind) in ToolKind::NAMES {
        let change = fields.read(name, |value| {
            fields::inner(value, |policy| {
                policy.refuse_others(&["protectCalls", "maxBytes", "keepHeadBytes", "keepTailBytes"])?;
                let sizes = [policy.read("maxBytes", whole)?, policy.read("keepHeadBytes", whole)?, policy.read("keepTailBytes", whole)?];
                Ok((policy.read("protectCalls", whole)?, sizes))
            })
        })?;
        changes.extend(change.map(|(calls, sizes)| (*kind, calls, sizes)));
    }
    Ok(changes)
}

/// The model, and the prices that are asked for it.
fn model(fields: &Fields<'_>) -> crate::Result<(ModelInfo, Option<Asked>)> {
    fields.refuse_others(&["id", "contextWindow", "maxOutputTokens", "cache", "inputPrice"])?;
    let model = ModelInfo {
        id: fields.read("id", text)?,
        cache: None, // as soon as the id is known
        context_window: fields.read("contextWindow", positive)?,
        max_output_tokens: fields.read("maxOutputTokens", whole)?,
        input_price: fields.read("inputPrice", amount)?,
    };
    Ok((model, fields.read("cache", Asked::read)?))
}

fn cold(value: Node<'_>) -> Result<Option<Option<Cold>>, Fault> {
    if let Ok(said) = truth(value) {
        return Ok(said.then_some(None));
    }
    let read = |fields: &Fields<'_>| {
        fields.refuse_others(&["modelSwitched", "retrying", "idleMs"])?;
        Ok(Cold {
            model_switched: fields.read("modelSwitched", truth)?.unwrap_or(false),
            retrying: fields.read("retrying", truth)?.unwrap_or(false),
            idle_ms: fields.read("idleMs", amount)?,
        })
    };
    match value.kind() {
        Kind::Object => Ok(Some(Some(fields::inner(value, read)?))),
        _ => Err(Fault::expected("true, false or { modelSwitched, retrying, idleMs }", value)),
    }
}

fn usage(fields: &Fields<'_>) -> crate::Result<Usage> {
    fields.refuse_others(&["inputTokens", "upTo"])?;
    Ok(Usage { input_tokens: fields.need("inputTokens", positive)?, up_to: fields.need("upTo", whole)? })
}

fn learned(fields: &Fields<'_>) -> crate::Result<Learned> {
    fields.refuse_others(&["ratio", "reports"])?;
    Ok(Learned { ratio: fields.need("ratio", ratio)?, reports: fields.need("reports", whole)? })
}

fn pin(value: Node<'_>) -> Result<EntryRef, Fault> {
    if let Ok(message) = whole(value) {
        return Ok(EntryRef { message, part: None });
    }
    let read = |fields: &Fields<'_>| {
        fields.refuse_others(&["message", "part"])?;
        Ok(EntryRef { message: fields.need("message", whole)?, part: fields.read("part", whole)? })
    };
    match value.kind() {
        Kind::Object => fields::inner(value, read),
        _ => Err(Fault::expected("the index of a message or { message, part }", value)),
    }
}

fn table<T>(value: Node<'_>, by: &str, read: fn(Node<'_>) -> Result<T, Fault>) -> Result<Vec<(String, T)>, Fault> {
    if value.kind() != Kind::Object {
        return Err(Fault::expected(&format!("an object by {by}"), value));
    }
    let mut table = Vec::with_capacity(value.len());
    for value in value.children() {
        let name = value.key().unwrap_or("");
        table.push((name.to_owned(), read(value).map_err(|fault| fault.within(format_args!(".{name}")))?));
    }
    Ok(table)
}

/// Keeps the default where nothing was given.
fn set<T>(to: &mut T, given: crate::Result<Option<T>>) -> crate::Result<()> {
    if let Some(value) = given? {
        *to = value;
    }
    Ok(())
}

fn at_most_four(value: Node<'_>) -> Result<usize, Fault> {
    whole(value).ok().filter(|number| *number <= 4).ok_or_else(|| Fault::expected("0 to 4, the most that providers take", value))
}

fn function(value: Node<'_>) -> Result<(), Fault> {
    if value.kind() == Kind::Opaque { Ok(()) } else { Err(Fault::expected("a function that tells the tokens of a text", value)) }
}

fn label(value: Node<'_>) -> Result<String, Fault> {
    let what = "1 to 120 printable ASCII characters without brackets, since it stands in every breadcrumb";
    text(value).ok().filter(|label| breadcrumb::is_plain(label)).ok_or_else(|| Fault::expected(what, value))
}

fn check_window(options: &Options) -> crate::Result<()> {
    let Some(window) = options.model.context_window else {
        return Ok(());
    };
    if options.window_room() > i64::from(options.completion_reserve) {
        return Ok(());
    }
    let what = format!(
        "a window of {window} tokens, of which {} may be filled, less {} reserved for the answer leaves nothing for the prompt: lower completionReserve, or choose a larger model",
        options.window_room(),
        options.completion_reserve
    );
    Err(Error::new(Code::WindowTooSmall, "options.completionReserve", what))
}
