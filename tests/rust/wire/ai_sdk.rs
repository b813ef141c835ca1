//! Model messages of the AI SDK: held against their Chat twins, and the laws read from their JSON alone.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::wire::splice;
use warmfold::{Format, Tape, tape, wire::Request};

use crate::histories::{long_request, output, policy, request, signals};
use crate::laws::bytes::fold_body;
use crate::laws::going_on::{goes_on, passed, steps};
use crate::laws::{all, cases};
use crate::oracle::{self, Checked, ensure};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Call, Carry, Edit, at_length, call_lengths, carry_through, fold};
use from_chat::{Ways, from_chat};

mod from_chat;
mod shapes;
pub mod validator;

fn ways() -> impl Strategy<Value = Ways> {
    (any::<bool>(), any::<bool>()).prop_map(|(joined, json)| Ways { joined, json })
}

fn ai_sdk(options: &[&Value]) -> Value {
    all(&[options, &[&json!({ "format": "ai-sdk" })]].concat())
}

/// Policies under which it does not matter how much the messages weigh beside their texts: tool calls weigh differently. Chat can do without
/// some of the reasoning that stays here.
fn weightless() -> impl Strategy<Value = Value> {
    let budget = json!({ "when": "budget", "budgetTokens": 1, "fitToWindow": false });
    let free = json!({ "when": "pays", "budgetTokens": null, "fitToWindow": false, "cache": { "read": 0.5, "write": 0.5, "ttlMs": 1000 } });
    let calls_keep_it = json!({ "dropReasoning": false });
    (policy(), prop_oneof![Just(budget), Just(free)]).prop_map(move |(policy, when)| all(&[&policy.0, &when, &calls_keep_it]))
}

/// Edits of results, without their addresses.
fn decisions(call: &Call) -> Vec<(Option<String>, String, String, String)> {
    let results = call.edits().into_iter().filter(|edit| edit.rule != "reasoning");
    let mut results: Vec<_> = results.map(|edit| (edit.tool, edit.fingerprint, edit.rule, format!("{:?}", edit.pieces))).collect();
    results.sort();
    results
}

/// Entries and calls as far as both formats have them.
fn told(format: Format, request: &Value) -> (Vec<String>, Vec<String>) {
    let tape = Tape::from_json(request.to_string()).unwrap();
    let view = format.read(&Request::of(tape.root()), None).unwrap();
    let entries = view.entries.iter().filter(|entry| !entry.text().is_empty());
    let entries =
        entries.map(|entry| format!("{:?} {:?} {:?} {:?}", view.messages[entry.message].role, entry.kind, view.tool_of(entry), entry.text()));
    let calls = view.tool_calls.iter().map(|call| {
        let arguments = call.arguments.map(|node| node.text().map_or_else(|| node.stringified().unwrap(), str::to_owned));
        format!("{} {:?}", call.name, arguments)
    });
    // Further texts of a result stand behind all others of a message.
    let mut entries: Vec<String> = entries.collect();
    entries.sort();
    (entries, calls.collect())
}

/// The text that an edit stands on, found by counting as the format says.
fn slot(message: &mut Value, part: usize) -> Option<&mut Value> {
    if message["content"].is_string() {
        return Some(&mut message["content"]).filter(|_| part == 0);
    }
    let parts = message["content"].as_array_mut()?;
    let mut further = parts.len();
    for (index, one) in parts.iter_mut().enumerate() {
        if one["type"] == "tool-result" && one["output"]["type"] == "content" {
            let items = one["output"]["value"].as_array_mut()?.iter_mut().filter(|item| item["type"] == "text");
            for (nth, item) in items.enumerate() {
                let number = if nth == 0 { index } else { further };
                further += usize::from(nth > 0);
                if number == part {
                    return Some(&mut item["text"]);
                }
            }
        } else if index == part {
            return Some(if one["type"] == "tool-result" { &mut one["output"] } else { &mut one["text"] });
        }
    }
    None
}

fn carried_out(edit: &Edit, message: &mut Value) -> Checked {
    if edit.rule == "reasoning" {
        message["content"].as_array_mut().unwrap().retain(|part| part["type"] != "reasoning");
        return Ok(());
    }
    let Some(slot) = slot(message, edit.part) else { return Err(format!("an edit of nothing: {edit:?}")) };
    let text = if slot.is_string() { slot.clone() } else { slot["value"].clone() };
    let is_json = slot["type"].as_str().is_some_and(|kind| kind.ends_with("json"));
    let text = if is_json { text.to_string() } else { text.as_str().unwrap_or("").to_owned() };
    ensure!(tape::hex(tape::fingerprint(&text)) == edit.fingerprint, "an edit on a text that is not its own: {edit:?}");
    let rendered = Value::from(oracle::rendered(&text, &edit.pieces));
    if slot.is_string() {
        *slot = rendered;
    } else {
        slot["value"] = rendered;
        if is_json {
            slot["type"] = slot["type"].as_str().unwrap().replace("json", "text").into();
        }
    }
    Ok(())
}

/// What is sent, without the marks that were written; the host's own come back.
fn unmarked(call: &Call) -> Vec<Value> {
    let mut messages = call.output().to_vec();
    for at in call.outcome.marks.iter().filter(|mark| mark.part.is_some()).filter_map(|mark| mark.at.message()) {
        let original = at.checked_sub(call.shift()).and_then(|at| call.input().get(at)).cloned().unwrap_or_default();
        let message = &mut messages[at];
        if original["content"].is_string() && message["content"].is_array() {
            message["content"] = message["content"][0]["text"].take();
        }
        restore(message, &original);
        let parts = message["content"].as_array_mut().into_iter().flatten();
        let gone: Vec<usize> = original["content"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .filter(|(_, part)| part["type"] == "reasoning")
            .map(|(at, _)| at)
            .collect();
        let is_dropped = !gone.is_empty() && !call.output()[at].to_string().contains("\"reasoning\"");
        let kept = (0..).filter(|at| !is_dropped || !gone.contains(at));
        for (part, at) in parts.zip(kept) {
            let original = &original["content"][at];
            restore(part, original);
            if let Some(items) = part.pointer_mut("/output/value").and_then(Value::as_array_mut) {
                items.iter_mut().enumerate().for_each(|(at, item)| restore(item, &original["output"]["value"][at]));
            }
        }
    }
    messages
}

fn restore(node: &mut Value, original: &Value) {
    let Some(node) = node.as_object_mut() else { return };
    match original.get("providerOptions") {
        Some(options) => drop(node.insert("providerOptions".into(), options.clone())),
        None => drop(node.remove("providerOptions")),
    }
}

/// Laws 2, 3 and 5: what is sent is the history with the plan's edits in it, and nothing else.
fn lawful(call: &Call) -> Checked {
    let mut expected = call.input().to_vec();
    for edit in call.edits() {
        carried_out(&edit, &mut expected[edit.message])?;
    }
    if let Some(block) = call.options["contextBlock"].as_str().filter(|block| !block.is_empty()) {
        let lead = call.input().iter().take_while(|message| message["role"] == "system").count();
        match lead.checked_sub(1) {
            None => expected.insert(0, json!({ "role": "system", "content": block })),
            Some(last) => {
                let text = expected[last]["content"].as_str().unwrap_or("").to_owned();
                let is_there = expected[..lead].iter().any(|message| message["content"].as_str().is_some_and(|text| text.ends_with(block)));
                if !is_there {
                    expected[last]["content"] = if text.is_empty() { block.into() } else { format!("{text}\n\n{block}").into() };
                }
            }
        }
    }
    let sent = unmarked(call);
    for (at, (expected, sent)) in expected.iter().zip(&sent).enumerate() {
        ensure!(expected == sent, "message {at}:\n  expected {expected}\n  sent     {sent}");
    }
    ensure!(expected.len() == sent.len(), "{} messages became {}", expected.len(), sent.len());
    ensure!(validator::valid(call.input()).is_err() || validator::valid(call.output()).is_ok(), "{:?}", validator::valid(call.output()));
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn it_reads_what_its_twin_reads(request in request(), ways in ways()) {
        prop_assert_eq!(told(Format::AiSdk, &from_chat(&request.0, ways)), told(Format::OpenaiChat, &request.0));
    }

    #[test]
    fn it_decides_what_its_twin_decides(request in prop_oneof![request(), long_request()], policy in weightless(), ways in ways(), carried in any::<bool>()) {
        let chat = request.0;
        let lengths = call_lengths(chat["messages"].as_array().unwrap());
        let mut twin = [Carry::New, Carry::New];
        for length in lengths {
            let chat = at_length(&chat, length);
            let [ours, theirs] = [fold(&from_chat(&chat, ways), &ai_sdk(&[&policy]), &twin[0]), fold(&chat, &policy, &twin[1])];
            prop_assert_eq!(decisions(&ours), decisions(&theirs));
            prop_assert_eq!(ours.outcome.folded, theirs.outcome.folded);
            twin = if carried { [ours.next(), theirs.next()] } else { [Carry::Derive, Carry::Derive] };
        }
    }

    #[test]
    fn the_laws_hold(
        request in prop_oneof![2 => request(), 1 => long_request()], policy in policy(), output in output(), signals in signals(), ways in ways(),
    ) {
        let request = from_chat(&request.0, ways);
        let messages = request["messages"].as_array().unwrap();
        let options = ai_sdk(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]);
        let calls = carry_through(&request, &call_lengths(messages), |_| options.clone());
        for call in &calls {
            lawful(call).map_err(TestCaseError::fail)?;
            let again = fold(&call.request, &options, &call.next());
            prop_assert!(!again.outcome.folded, "it settles");
            prop_assert_eq!((&again.plan, unmarked(&again)), (&call.plan, unmarked(call)));
        }
        for two in calls.windows(2).filter(|two| !two[1].outcome.folded) {
            let (before, after) = (unmarked(&two[0]), unmarked(&two[1]));
            prop_assert_eq!(&before[..], &after[..before.len()], "warm");
        }
    }

    #[test]
    fn valid_requests_stay_valid(request in long_request(), policy in policy(), output in output(), ways in ways()) {
        let request = from_chat(&request.0, ways);
        let last = fold(&request, &ai_sdk(&[&policy.0, &output.0]), &Carry::New);
        prop_assert_eq!(validator::valid(last.input()), Ok(()));
        prop_assert_eq!(validator::valid(last.output()), Ok(()));
    }

    #[test]
    fn it_goes_on(request in request(), policy in policy(), output in output(), ways in ways(), steps in steps(passed())) {
        goes_on(&from_chat(&request.0, ways), &ai_sdk(&[&policy.0, &output.0]), &steps)?;
    }

    #[test]
    fn bytes_and_objects_agree(request in request(), policy in policy(), output in output(), ways in ways(), seed in any::<u64>()) {
        let options = ai_sdk(&[&policy.0, &output.0]);
        let request = from_chat(&request.0, ways);
        let body = spell(&request, &mut Choices::of(seed));
        let objects = fold(&request, &options, &Carry::New);
        let (outcome, splices) = fold_body(&body, &options, &Carry::New);
        prop_assert_eq!(serde_json::to_value(&outcome.plan).unwrap(), objects.plan.clone());
        let spliced = splice::spliced(body.as_bytes(), &splices);
        let read: Value = serde_json::from_slice(&spliced).unwrap();
        prop_assert_eq!(floats(&read["messages"]), floats(&objects.output));
    }
}
