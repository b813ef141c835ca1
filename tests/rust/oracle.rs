//! The laws, read a second time: from the host's JSON alone, without the view, the renderer or the wire of the library.
//!
//! [`one_call`] asks everything that one call must keep, [`next_call`] what the call after it must. Both tell what is wrong. They speak of
//! Chat histories; that what was sent is the same on the wire of the test, every fold is asked ([`law`](crate::twin::law)).

use std::collections::BTreeMap;

use serde_json::Value;
use warmfold::history::View;
use warmfold::history::actions::{Action, same_file};
use warmfold::history::failures::is_error;
use warmfold::history::kinds::ToolKind;
use warmfold::tape;
use warmfold::wire::Request;
use warmfold::{Format, Options};

use crate::support::{Call, Edit, Piece};
use crate::twin::openai_chat::REASONING;

mod warm;

pub use warm::next_call;

pub type Checked = Result<(), String>;

macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}
pub(crate) use ensure;

/// Laws 5, 7, 8 and 9 for one call.
pub fn one_call(call: &Call) -> Checked {
    edits_are_for_their_text(call)?;
    never_grows(call)?;
    never_silent(call)?;
    protected_stays(call)?;
    ages_are_kept(call)?;
    targets_stand(call)
}

pub fn rendered(original: &str, pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Span(from, to) => original.get(*from..*to).expect("a span is inside its text").to_owned(),
        Piece::Text(text) => text.clone(),
    };
    pieces.iter().map(piece).collect()
}

/// The text of a part: a string content is part 0.
pub fn text_at(message: &Value, part: usize) -> Option<&str> {
    match &message["content"] {
        Value::String(text) => Some(text).filter(|_| part == 0).map(String::as_str),
        Value::Array(parts) => parts.get(part).and_then(|part| part.as_str().or_else(|| part["text"].as_str())),
        _ => None,
    }
}

/// Law 5: an edit lies on the text that it was made for, and knows its tool.
fn edits_are_for_their_text(call: &Call) -> Checked {
    let tools = tools_of(call.input());
    for edit in call.edits() {
        let message = call.input().get(edit.message).ok_or_else(|| format!("an edit of no message: {edit:?}"))?;
        if edit.rule == "reasoning" {
            ensure!(REASONING.iter().any(|key| !message[*key].is_null()), "dropped reasoning that is not there: {edit:?}");
            ensure!(edit.pieces.is_empty(), "reasoning goes as a whole: {edit:?}");
            continue;
        }
        let text = text_at(message, edit.part).ok_or_else(|| format!("an edit of no text: {edit:?}"))?;
        ensure!(tape::hex(tape::fingerprint(text)) == edit.fingerprint, "an edit lies on a text that is not its own: {edit:?}");
        ensure!(tools[edit.message] == edit.tool, "an edit of {:?} names the tool {:?}", tools[edit.message], edit.tool);
    }
    Ok(())
}

/// The tool whose result each message is.
pub fn tools_of(messages: &[Value]) -> Vec<Option<String>> {
    answered(messages).into_iter().map(|call| call.map(|(_, tool)| tool)).collect()
}

/// The message that asked for the result that each message is.
pub fn asked_in(messages: &[Value]) -> Vec<Option<usize>> {
    answered(messages).into_iter().map(|call| call.map(|(message, _)| message)).collect()
}

/// The call whose result each message is, as its message and tool: the nearest unanswered one before it with its id.
pub fn answered(messages: &[Value]) -> Vec<Option<(usize, String)>> {
    let mut open: Vec<(&Value, usize, String)> = Vec::new(); // id, message, tool
    let mut calls = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let asked = match message["role"].as_str() {
            Some("tool") => &message["tool_call_id"],
            Some("function") => &message["name"],
            _ => &Value::Null,
        };
        // The nearest message with a call of that id, and there the first.
        let nearest = open.iter().filter(|(id, ..)| asked.is_string() && *id == asked).map(|(_, message, _)| *message).max();
        let answered = open.iter().position(|(id, message, _)| *id == asked && Some(*message) == nearest);
        calls.push(answered.map(|answered| open.remove(answered)).map(|(_, message, tool)| (message, tool)));
        let name = |call: &Value| call["name"].as_str().unwrap_or("").to_owned();
        let made = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(made.map(|call| (&call["id"], at, name(&call["function"]))));
        let legacy = &message["function_call"];
        if legacy.is_object() {
            open.push((&legacy["name"], at, name(legacy)));
        }
    }
    calls
}

fn options_of(call: &Call) -> Options {
    Options::from_json(call.options.clone()).expect("a call had good options")
}

fn new_result_edits(call: &Call) -> Vec<(Edit, String, String)> {
    let results = call.new_edits().into_iter().filter(|edit| edit.rule != "reasoning");
    results
        .map(|edit| {
            let original = text_at(&call.input()[edit.message], edit.part).unwrap_or("").to_owned();
            let text = rendered(&original, &edit.pieces);
            (edit, original, text)
        })
        .collect()
}

/// Law 7.
fn never_grows(call: &Call) -> Checked {
    let least = options_of(call).min_saved_bytes.max(1);
    for (edit, original, text) in new_result_edits(call) {
        ensure!(text.len() + least <= original.len(), "{} bytes became {}, which saves less than {least}: {edit:?}", original.len(), text.len());
    }
    Ok(())
}

/// What each result's call is told, by the result's message.
fn of_calls<T>(call: &Call, told: impl Fn(&View<'_>, usize, &Options) -> T) -> BTreeMap<usize, T> {
    let options = options_of(call);
    let tape = tape::Tape::from_json(call.request.to_string()).expect("it was folded");
    let view = Format::OpenaiChat.read(&Request::of(tape.root()), options.context_block.as_deref()).expect("it was folded");
    view.entries.iter().filter_map(|entry| Some((entry.message, told(&view, entry.tool_call?, &options)))).collect()
}

/// What the call of each result does. This is the library's own word: what it is worth, `history::actions` tests.
pub fn actions_of(call: &Call) -> BTreeMap<usize, Action> {
    of_calls(call, |view, tool_call, options| {
        let tool = view.tool_calls[tool_call].name;
        (*view.action(tool_call, options.kind_of(tool), options.resource_of(tool))).clone()
    })
}

/// The same of calls that may be made again. This is the library's own word too: `history::repeats` tests it.
fn repeatable_kinds_of(call: &Call) -> BTreeMap<usize, ToolKind> {
    let mut kinds = kinds_of(call);
    let harmless = of_calls(call, |view, tool_call, options| view.is_harmless(tool_call, options.kind_of(view.tool_calls[tool_call].name)));
    kinds.retain(|message, _| harmless[message]);
    kinds
}

pub fn kinds_of(call: &Call) -> BTreeMap<usize, ToolKind> {
    actions_of(call).into_iter().map(|(message, action)| (message, action.kind)).collect()
}

/// Law 8: one generated line says what went; every other line is the original's.
fn never_silent(call: &Call) -> Checked {
    let kinds = repeatable_kinds_of(call);
    for (edit, original, text) in new_result_edits(call) {
        let is_marked = |line: &str| line.starts_with(['[', '…']);
        let lines = || text.split('\n').map(str::trim).filter(|line| !line.is_empty());
        let ours = |line: &&str| line.starts_with('[') && line.contains(" elided") && !original.contains(*line);
        let odd = lines().find(|line| !is_marked(line) && !original.contains(line));
        ensure!(odd.is_none(), "a line that is neither the original's nor marked: {odd:?}");
        let breadcrumb = lines().find(ours).ok_or_else(|| format!("a silent edit: {text:?}"))?;
        let plain = breadcrumb.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && breadcrumb.ends_with(']');
        let brackets = breadcrumb.matches(['[', ']']).count();
        ensure!(plain && brackets == 2, "a breadcrumb is one line of plain ASCII in brackets: {breadcrumb:?}");
        let kind = kinds.get(&edit.message).copied().unwrap_or(ToolKind::Other);
        let again = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch | ToolKind::Verify);
        ensure!(again || !breadcrumb.contains(" again"), "a {kind:?} must not be called again: {breadcrumb}");
        let source = matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch) && edit.rule != "stale";
        ensure!(source == breadcrumb.contains("; source intact"), "has a {kind:?} a source? {breadcrumb}");
        ensure!(edit.rule == "truncated" || text == breadcrumb, "it leaves one line only: {text:?}");
    }
    Ok(())
}

/// The first message that recent turns or the tail protect.
pub fn protect_from(messages: &[Value], turns: usize) -> usize {
    let role = |at: usize| match messages[at]["role"].as_str() {
        Some("tool" | "function") => "result",
        Some(role) => role,
        None => "",
    };
    let says_something = |message: &Value| match &message["content"] {
        Value::Array(parts) => parts.iter().any(|part| {
            let text = part.as_str().or_else(|| part["text"].as_str());
            text.is_none_or(|text| !text.is_empty())
        }),
        content => content.as_str().is_some_and(|text| !text.is_empty()),
    };
    let is_turn = |at: &usize| role(*at) == "assistant" || (role(*at) == "user" && says_something(&messages[*at]));
    let Some(last) = messages.len().checked_sub(1) else { return 0 };
    let in_tail = |at: &usize| role(*at) == role(last) && (*at == last || ["user", "result"].contains(&role(last)));
    let tail = (0..=last).rev().take_while(in_tail).last().unwrap_or(last);
    let recent = match turns {
        0 => messages.len(),
        turns => (0..=last).rev().filter(is_turn).nth(turns - 1).unwrap_or(0),
    };
    recent.min(tail)
}

/// Law 9: no new edit of what is protected.
fn protected_stays(call: &Call) -> Checked {
    let (options, kinds) = (options_of(call), kinds_of(call));
    let from = protect_from(call.input(), options.protect_recent_turns);
    let choice = &call.request["tool_choice"];
    let forced = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
    let latest = call.input().iter().rposition(|message| message["role"] == "assistant");
    for edit in call.new_edits() {
        let role = call.input()[edit.message]["role"].as_str().unwrap_or("");
        let allowed = if edit.rule == "reasoning" { &["assistant"][..] } else { &["tool", "function"] };
        ensure!(allowed.contains(&role), "a new edit of a {role} message: {edit:?}");
        ensure!(edit.message < from, "a new edit where everything from {from} on is recent: {edit:?}");
        let pin = options.pins.iter().find(|pin| pin.message == edit.message && pin.part.is_none_or(|part| part as usize == edit.part));
        ensure!(pin.is_none(), "a new edit of a pin: {edit:?}");
        if edit.rule == "reasoning" {
            ensure!(Some(edit.message) != latest, "a new edit of the latest answer's reasoning: {edit:?}");
            continue;
        }
        let tool = edit.tool.as_deref().ok_or_else(|| format!("a new edit of a result without a call: {edit:?}"))?;
        ensure!(forced != Some(tool), "a new edit of the forced tool: {edit:?}");
        ensure!(kinds.get(&edit.message) != Some(&ToolKind::Memory), "a new edit of a memory: {edit:?}");
    }
    Ok(())
}

/// Calls before the one that made an edit whose requests held its entry.
pub fn age_of(messages: &[Value], edit: &Edit) -> usize {
    (edit.message + 1..edit.since.min(messages.len())).filter(|at| messages[*at]["role"] == "assistant").count()
}

/// Whether the prompt is over the window before anything is shortened: then ages do not protect.
fn may_be_over_window(call: &Call, options: &Options) -> bool {
    options.fit_to_window && options.window_tokens().is_some_and(|window| call.outcome.report.tokens_before > window)
}

/// Law 9: no text is lost before so many calls have held it as its kind asks for, except to fit the window. What stands elsewhere in the
/// prompt is not lost.
fn ages_are_kept(call: &Call) -> Checked {
    let (options, kinds) = (options_of(call), kinds_of(call));
    if may_be_over_window(call, &options) {
        return Ok(());
    }
    for edit in call.new_edits().iter().filter(|edit| matches!(edit.rule.as_str(), "truncated" | "stale")) {
        let kind = kinds.get(&edit.message).copied().unwrap_or(ToolKind::Other);
        let (age, least) = (age_of(call.input(), edit), options.by_kind.of(kind).protect_calls as usize);
        ensure!(age >= least, "a {kind:?} was shortened at age {age}, before {least}: {edit:?}");
    }
    Ok(())
}

/// A duplicate has the same text before it, a superseded result another of its tool after it; neither gives way itself. A stale one has
/// the result of a call that changed its file after it. What stands in for a result or changed it was asked for when that was there; none of
/// them says that its call failed.
fn targets_stand(call: &Call) -> Checked {
    let (tools, asked) = (tools_of(call.input()), asked_in(call.input()));
    let (edits, new, actions) = (call.edits(), call.new_edits(), actions_of(call));
    for edit in &edits {
        let Some(target) = &edit.target else {
            ensure!(matches!(edit.rule.as_str(), "truncated" | "summarized" | "reasoning"), "it points nowhere: {edit:?}");
            continue;
        };
        let text = call.input().get(target.message).and_then(|message| text_at(message, target.part));
        let text = text.ok_or_else(|| format!("its target is gone: {edit:?}"))?;
        ensure!(tape::hex(tape::fingerprint(text)) == target.fingerprint, "its target says something else: {edit:?}");
        let (address, there) = ((edit.message, edit.part), (target.message, target.part));
        let on_its_side = if edit.rule == "duplicate" { there < address } else { there > address };
        // Of results of one batch the order means nothing, and some wires number the further texts of all of them behind the first.
        let of_one_batch = edit.rule != "stale" && !new.contains(edit) && asked[edit.message] == asked[target.message];
        ensure!(on_its_side || of_one_batch, "its target is on the wrong side: {edit:?}");
        ensure!(edit.rule != "duplicate" || target.fingerprint == edit.fingerprint, "it is no duplicate: {edit:?}");
        if !new.contains(edit) {
            continue; // what the target became since is no reason to rewrite what was sent
        }
        let own = text_at(&call.input()[edit.message], edit.part).unwrap_or("");
        ensure!(!is_error(own), "a line hides that it failed: {edit:?}");
        let came_first = edit.rule == "duplicate" || asked[target.message].is_some_and(|asked| asked > edit.message);
        ensure!(came_first, "nobody knows which of the two came first: {edit:?}");
        if edit.rule == "stale" {
            ensure!(!is_error(text), "its target failed: {edit:?}");
            let of = |message: usize| actions.get(&message).ok_or_else(|| format!("a result without a call: {edit:?}"));
            let (read, write) = (of(edit.message)?, of(target.message)?);
            let changed = read.reads.iter().any(|read| write.writes.iter().any(|written| same_file(read, written)));
            ensure!(read.kind == ToolKind::Read && changed, "its target changes no file that it shows: {edit:?}, {read:?}, {write:?}");
            continue;
        }
        ensure!(tools[target.message] == edit.tool, "its target is of another tool: {edit:?}");
        // At the moment of decision a target is whole; the same call may truncate it, or find that a superseder is itself out of date by
        // now; a later one may do anything.
        let may_follow = |rule: &str| matches!(rule, "truncated" | "summarized") || (edit.rule == "superseded" && rule == "stale");
        let had_an_edit = |other: &Edit| other.since_there < edit.since_there || (other.since_there == edit.since_there && !may_follow(&other.rule));
        let gives_way = |other: &Edit| (other.message, other.part) == there && had_an_edit(other);
        ensure!(!edits.iter().any(gives_way), "its target gives way too: {edit:?}");
    }
    Ok(())
}
