//! `wire::gemini`: held against its Chat twin, against the provider's rules, and shape by shape.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::history::View;
use warmfold::planner::Given;
use warmfold::wire::patch::Patch;
use warmfold::wire::{Request, splice};
use warmfold::{Format, Options, Plan, Tape, tape};

use crate::histories::{long_request, output, policy, request, signals, tool_choice};
use crate::laws::going_on::{goes_on, passed, steps};
use crate::laws::total::{any_json, damage};
use crate::laws::{all, cases};
use crate::oracle::{self, Checked, ensure};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, Edit, at_length, call_lengths, edits, fold as fold_chat, merged};
use from_chat::{Ways, apart, from_chat};

mod broken;
mod from_chat;
mod requests;
mod shapes;
pub mod validator;

/// A request folded, and the whole of what is sent.
struct Folded {
    outcome: Outcome,
    plan: Value,
    sent: Value,
}

fn try_fold(request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Folded> {
    let tape = Tape::from_json(request.to_string())?;
    let given = match carry {
        Carry::Derive => Given::Derive,
        Carry::New => Given::New,
        Carry::Plan(plan) => Given::Carried(Plan::from_json(plan.clone())?),
    };
    let outcome = fold::fold(&Request::of(tape.root()), &Options::from_json(options.clone())?, given)?;
    let mut sent = request.clone();
    outcome.patches.iter().for_each(|patch| patch.apply_to_request(&mut sent, "contents"));
    Ok(Folded { plan: serde_json::to_value(&outcome.plan).unwrap(), outcome, sent })
}

fn folded(request: &Value, options: &Value, carry: &Carry) -> Folded {
    try_fold(request, options, carry).expect("a good request folds")
}

/// What the splices make of the request's bytes.
fn spliced(body: &str, patches: &[Patch]) -> Value {
    let tape = Tape::from_json(body).unwrap();
    let request = Request::of(tape.root());
    let list = request.messages.unwrap();
    let view = Format::Gemini.read(&request, None).unwrap();
    let splices = splice::of_request(tape.root(), list, &view.nodes, patches, body.as_bytes());
    serde_json::from_slice(&splice::spliced(body.as_bytes(), &splices)).expect("what is spliced is JSON")
}

/// Lets a test look at what is read.
fn read<T>(request: &Value, look: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(request.to_string()).unwrap();
    look(&Format::Gemini.read(&Request::of(tape.root()), None).unwrap())
}

fn ways() -> impl Strategy<Value = Ways> {
    (any::<bool>(), any::<bool>()).prop_map(|(sdk, snake)| Ways { ids: true, sdk, snake })
}

/// The request as it was at an earlier length of its contents.
fn up_to(request: &Value, length: usize) -> Value {
    let mut request = request.clone();
    request["contents"].as_array_mut().unwrap().truncate(length);
    request
}

/// The lengths at each call.
fn lengths(request: &Value) -> Vec<usize> {
    let contents = request["contents"].as_array().unwrap();
    let begins = |at: &usize| contents[*at]["role"] == "model" && contents[*at - 1]["role"] != "model";
    (1..contents.len()).filter(begins).chain([contents.len()]).collect()
}

/// Policies under which it does not matter how much the messages weigh beside their texts. Chat needs some of the reasoning that may go here.
fn weightless() -> impl Strategy<Value = Value> {
    let budget = json!({ "when": "budget", "budgetTokens": 1, "fitToWindow": false });
    let free = json!({ "when": "pays", "budgetTokens": null, "fitToWindow": false, "cache": { "read": 0.5, "write": 0.5, "ttlMs": 1000 } });
    (policy(), prop_oneof![Just(budget), Just(free)]).prop_map(|(policy, when)| all(&[&policy.0, &when, &json!({ "dropReasoning": false })]))
}

/// Edits of results, without their addresses.
fn decisions(plan: &Value) -> Vec<(Option<String>, String, String, String)> {
    let results = edits(plan).into_iter().filter(|edit| edit.rule != "reasoning");
    let mut results: Vec<_> = results.map(|edit| (edit.tool, edit.fingerprint, edit.rule, format!("{:?}", edit.pieces))).collect();
    results.sort();
    results
}

/// Entries and calls as far as both formats have them.
fn told(format: Format, request: &Value) -> (Vec<String>, Vec<String>) {
    let tape = Tape::from_json(request.to_string()).unwrap();
    let view = format.read(&Request::of(tape.root()), None).unwrap();
    let entries = view.entries.iter().filter(|entry| !entry.text().is_empty() && (format == Format::Gemini || entry.message >= view.system_end));
    let mut entries: Vec<String> = entries
        .map(|entry| {
            let message = &view.messages[entry.message];
            format!("{:?} {:?} {:?} {} {:?}", message.role, entry.kind, view.tool_of(entry), entry.has_failed(), entry.text())
        })
        .collect();
    entries.sort();
    let calls = view.tool_calls.iter().map(|call| {
        let arguments = call.arguments.map(|node| node.text().map_or_else(|| node.stringified().unwrap(), str::to_owned));
        format!("{} {:?}", call.name, arguments)
    });
    (entries, calls.collect())
}

fn agrees(chat: &Value, ways: Ways, policy: &Value, carried: bool) -> Result<usize, TestCaseError> {
    let mut twin = [Carry::New, Carry::New];
    let mut seen = 0;
    for length in call_lengths(chat["messages"].as_array().unwrap()) {
        let chat = at_length(chat, length);
        let (ours, theirs) = (folded(&from_chat(&chat, ways), policy, &twin[0]), fold_chat(&chat, policy, &twin[1]));
        prop_assert_eq!(decisions(&ours.plan), decisions(&theirs.plan));
        prop_assert_eq!(ours.outcome.folded, theirs.outcome.folded);
        seen += decisions(&ours.plan).len();
        twin = if carried { [Carry::Plan(ours.plan), theirs.next()] } else { [Carry::Derive, Carry::Derive] };
    }
    Ok(seen)
}

fn key_of<'v>(part: &'v mut Value, camel: &str, snake: &str) -> Option<&'v mut Value> {
    let key = if part.get(camel).is_some() { camel } else { snake };
    part.get_mut(key)
}

/// The text that a part number of a content stands for, found by counting as the format says.
fn slot(content: &mut Value, part: usize) -> Option<&mut Value> {
    let parts = content["parts"].as_array_mut()?;
    let mut further = parts.len();
    for (index, one) in parts.iter_mut().enumerate() {
        let Some(response) = key_of(one, "functionResponse", "function_response").map(|held| &mut held["response"]) else { continue };
        let mut texts = Vec::new();
        collect(response, 0, &mut texts);
        for (nth, text) in texts.into_iter().enumerate() {
            let number = if nth == 0 { index } else { further };
            further += usize::from(nth > 0);
            if number == part {
                return Some(text);
            }
        }
    }
    None
}

fn collect<'v>(value: &'v mut Value, depth: usize, texts: &mut Vec<&'v mut Value>) {
    match value {
        Value::String(text) if depth < 2 || text.len() >= 120 => texts.push(value),
        Value::Array(items) if depth < 6 => items.iter_mut().for_each(|item| collect(item, depth + 1, texts)),
        Value::Object(fields) if depth < 6 => fields.values_mut().for_each(|field| collect(field, depth + 1, texts)),
        _ => {}
    }
}

fn is_droppable(part: &Value) -> bool {
    part["thought"] == true && part["thoughtSignature"].is_null() && part["thought_signature"].is_null()
}

fn carried_out(edit: &Edit, content: &mut Value) -> Checked {
    if edit.rule == "reasoning" {
        content["parts"].as_array_mut().unwrap().retain(|part| !is_droppable(part));
        ensure!(
            content["parts"].as_array().is_some_and(|parts| parts.iter().any(|part| part["thought"] != true)),
            "nothing is said any more: {content}"
        );
        return Ok(());
    }
    let Some(slot) = slot(content, edit.part) else { return Err(format!("an edit of nothing: {edit:?}")) };
    let text = slot.as_str().unwrap_or("").to_owned();
    ensure!(tape::hex(tape::fingerprint(&text)) == edit.fingerprint, "an edit on a text that is not its own: {edit:?}");
    *slot = oracle::rendered(&text, &edit.pieces).into();
    Ok(())
}

/// Laws 2, 3 and 5: what is sent is the request with the plan's edits and the block in it, and nothing else; marks are never written.
fn lawful(request: &Value, options: &Value, folded: &Folded) -> Checked {
    let mut expected = request.clone();
    for edit in edits(&folded.plan) {
        carried_out(&edit, &mut expected["contents"][edit.message])?;
    }
    if let Some(block) = options["contextBlock"].as_str().filter(|block| !block.is_empty()) {
        let system = if request["config"].is_object() { &mut expected["config"] } else { &mut expected };
        let key = if system.get("system_instruction").is_some() { "system_instruction" } else { "systemInstruction" };
        let is_there =
            system[key]["parts"].as_array().and_then(|parts| parts.last()).is_some_and(|last| last["text"].as_str().unwrap_or("").ends_with(block));
        if !is_there {
            let mut parts = system[key]["parts"].as_array().cloned().unwrap_or_default();
            parts.push(json!({ "text": block }));
            system[key] = json!({ "parts": parts });
        }
    }
    ensure!(expected == folded.sent, "expected {expected}\n  sent     {}", folded.sent);
    ensure!(folded.outcome.marks.iter().all(|mark| mark.part.is_none()), "a mark was written");
    let new = validator::new_faults(request, &folded.sent);
    ensure!(new.is_empty(), "{new:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn it_reads_what_its_twin_reads(request in request(), ways in ways()) {
        let request = apart(&request.0);
        prop_assert_eq!(told(Format::Gemini, &from_chat(&request, ways)), told(Format::OpenaiChat, &request));
    }

    #[test]
    fn it_decides_what_its_twin_decides(
        request in prop_oneof![request(), long_request()], policy in weightless(), choice in tool_choice(), ways in ways(), carried in any::<bool>(),
    ) {
        agrees(&merged(&apart(&request.0), &json!({ "tool_choice": choice })), ways, &policy, carried)?;
    }

    /// Where calls have no ids, names and order pair them.
    #[test]
    fn names_do_for_ids(request in long_request(), policy in weightless()) {
        agrees(&apart(&request.0), Ways { ids: false, sdk: false, snake: false }, &policy, true)?;
    }

    #[test]
    fn the_laws_hold(
        request in prop_oneof![2 => request(), 1 => long_request()], policy in policy(), output in output(), signals in signals(), ways in ways(),
    ) {
        let request = from_chat(&request.0, ways);
        let options = all(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]);
        let mut carry = Carry::New;
        let mut before: Option<Value> = None;
        for length in lengths(&request) {
            let request = up_to(&request, length);
            let now = folded(&request, &options, &carry);
            lawful(&request, &options, &now).map_err(TestCaseError::fail)?;
            if let Some(before) = before.filter(|_| !now.outcome.folded) {
                let before = before.as_array().unwrap();
                prop_assert_eq!(&before[..], &now.sent["contents"].as_array().unwrap()[..before.len()], "warm");
            }
            let again = folded(&request, &options, &Carry::Plan(now.plan.clone()));
            prop_assert!(!again.outcome.folded && again.sent == now.sent, "it settles");
            carry = Carry::Plan(now.plan);
            before = Some(now.sent["contents"].clone());
        }
    }

    #[test]
    fn it_goes_on(request in request(), policy in policy(), output in output(), ways in ways(), steps in steps(passed())) {
        let request = from_chat(&request.0, ways);
        let alone = json!({ "messages": request["contents"], "system": request["systemInstruction"] });
        goes_on(&alone, &all(&[&policy.0, &output.0, &json!({ "format": "gemini" })]), &steps)?;
    }

    #[test]
    fn bytes_and_objects_agree(request in request(), policy in policy(), output in output(), ways in ways(), seed in any::<u64>()) {
        let request = from_chat(&request.0, ways);
        let folded = folded(&request, &all(&[&policy.0, &output.0]), &Carry::New);
        let body = spell(&request, &mut Choices::of(seed));
        prop_assert_eq!(floats(&spliced(&body, &folded.outcome.patches)), floats(&folded.sent));
    }

    /// Law 10: with one value something else it is folded as it then is, or refused with the path to the fault.
    #[test]
    fn damaged(request in request(), ways in ways(), policy in policy(), output in output(), at in any::<prop::sample::Index>(), with in any_json()) {
        let mut request = from_chat(&request.0, ways);
        damage(&mut request, at, with);
        if let Ok(folded) = try_fold(&request, &merged(&merged(&policy.0, &output.0), &json!({ "dropReasoning": true })), &Carry::Derive)
            && request.get("contents").is_some_and(|contents| !contents.is_null())
        {
            prop_assert_eq!(spliced(&request.to_string(), &folded.outcome.patches), folded.sent);
        }
    }
}

/// The properties look at something.
#[test]
fn twins_are_edited() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let histories = (0..20).map(|_| long_request().new_tree(&mut runner).unwrap().current().0);
    let (ways, policy) =
        (Ways { ids: true, sdk: false, snake: false }, json!({ "preset": "thrifty", "cache": { "read": 0.5, "write": 0.5, "ttlMs": 1000 } }));
    let edits: usize = histories.map(|chat| agrees(&apart(&chat), ways, &policy, true).unwrap()).sum();
    assert!(edits > 200, "a test that looks at nothing: {edits} edits");
}
