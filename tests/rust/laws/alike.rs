//! A history is read and decided on every wire as its Chat twin is, and on every wire in two goes as in one.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::history::turns::{self, Recent};
use warmfold::history::{Content, EntryKind, View};
use warmfold::tape::Tape;
use warmfold::wire::Request;

use super::{all, cases, with_choice};
use crate::histories::{long_request, policy, request, tool_choice};
use crate::support::{Call, Carry, Edit, at_length, call_lengths, fold, list_of};
use crate::twin::addresses::Addresses;
use crate::twin::{self, Twin, every_wire, openai_chat};

every_wire! {
    it_is_read_as_its_twin_is,
    it_is_decided_as_its_twin_is,
    a_long_loop_is_decided_as_its_twin_is,
    it_is_read_in_two_goes_as_in_one,
}

fn read<T>(twin: &Twin, request: &Value, look: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(request.to_string()).unwrap();
    look(&twin.format.read(&Request::of(tape.root()), None).unwrap())
}

/// What every wire can say of its texts: whose result each is, of which call, and whether that failed.
fn said(view: &View<'_>) -> Vec<String> {
    let arguments = |call: usize| match view.tool_calls[call].arguments.map(|node| (node.text(), node)) {
        Some((Some(json), _)) => serde_json::from_str(json).unwrap_or_else(|_| json!({})),
        Some((None, node)) => node.to_json(),
        None => json!({}),
    };
    let entries =
        view.entries.iter().filter(|entry| entry.kind != EntryKind::Reasoning && !entry.text().is_empty() && entry.message >= view.system_end);
    let mut said: Vec<String> = entries
        .map(|entry| {
            let call = entry.tool_call.map(|call| (view.tool_calls[call].name, arguments(call)));
            format!("{:?} {:?} {call:?} {} {}", view.messages[entry.message].role, entry.kind, entry.has_failed(), entry.text())
        })
        .collect();
    said.sort(); // further texts of a result may stand behind those of the next
    said
}

/// All that is read, as text.
fn told(view: &View<'_>) -> String {
    let entry = |entry: &warmfold::history::Entry<'_>| {
        let content = match &entry.content {
            Content::Text(text) => text.clone().into_owned(),
            Content::Values(values) => values.iter().map(|value| value.to_json().to_string()).collect(),
        };
        let place = (entry.message, entry.part, entry.kind, entry.tool_call, entry.bytes, entry.failed);
        format!("{place:?} {:?} {:x} {content}\n", entry.required, entry.fingerprint())
    };
    let calls = view.tool_calls.iter().map(|call| format!("{} {} {:x}\n", call.message, call.name, call.print()));
    let messages = view.messages.iter().map(|message| format!("{message:?}\n"));
    let all: String = messages.chain(view.entries.iter().map(entry)).chain(calls).collect();
    format!("{:?} {:?} {}\n{all}", view.host_marks, view.overhead, view.nodes.len())
}

/// A request of any wire whose messages come in two goes.
pub(crate) fn reads_on(twin: &Twin, request: &Value, at: prop::sample::Index) -> Result<(), TestCaseError> {
    let list = list_of(request);
    let messages = request[list].as_array().unwrap();
    let lead = messages.iter().take_while(|message| matches!(message["role"].as_str(), Some("system" | "developer"))).count();
    let at = at.index(messages.len() + 1).max(lead + 1).min(messages.len());
    let mut first = request.clone();
    let rest = json!(first[list].as_array_mut().unwrap().split_off(at));
    let [first, rest] = [first, rest].map(|json| Tape::from_json(json.to_string()).unwrap());
    let mut view = twin.format.read(&Request::of(first.root()), None).unwrap();
    twin.format.append(&mut view, rest.root().children()).unwrap();
    prop_assert_eq!(told(&view), read(twin, request, told));
    Ok(())
}

/// Options under which no size decides, as messages weigh differently: what is written costs what is read, and the window is no limit.
/// Providers differ in the reasoning that they need back.
pub(crate) fn weightless(policy: &Value, by_budget: bool) -> Value {
    let when = if by_budget { json!({ "when": "budget", "budgetTokens": 1 }) } else { json!({ "when": "pays", "budgetTokens": null }) };
    let free = json!({ "cache": { "read": 1, "write": 1, "ttlMs": 300_000 }, "fitToWindow": false, "dropReasoning": false });
    all(&[policy, &free, &when])
}

/// Folds call by call on this wire and on Chat.
fn decides_alike(request: &Value, policy: &Value, by_budget: bool) -> Result<(), TestCaseError> {
    let (here, options) = (twin::current(), weightless(policy, by_budget));
    if here.is_chat() {
        return Ok(()); // it is its own twin
    }
    let (mut carry, mut carry_there) = (Carry::New, Carry::New);
    for length in call_lengths(request["messages"].as_array().unwrap()) {
        let request = at_length(request, length);
        let call = fold(&request, &options, &carry);
        let there = twin::on(&openai_chat::TWIN, || fold(&request, &options, &carry_there));
        let edits = |call: &Call| call.edits().into_iter().map(|edit| Edit { since_there: 0, ..edit }).collect::<Vec<_>>();
        prop_assert_eq!(edits(&call), edits(&there), "at {} messages on {}", length, here.name);
        prop_assert_eq!(call.outcome.folded, there.outcome.folded);
        (carry, carry_there) = (call.next(), there.next());
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    fn it_is_read_as_its_twin_is(request in request(), choice in tool_choice(), turns in 0..5usize) {
        let (twin, chat) = (twin::current(), with_choice(&request.0, choice.as_ref()));
        let converted = (twin.from_chat)(&chat);
        let addresses = Addresses::of(twin, &chat, &converted);
        let of_chat = |view: &View<'_>| {
            let calls = turns::calls(view);
            let recent = Recent::new(view, turns);
            let from: Vec<usize> = calls.iter().map(|length| recent.protect_from(*length)).collect();
            let names: Vec<String> = view.tool_calls.iter().map(|call| call.name.to_owned()).collect();
            (said(view), names, view.forced_tool.map(str::to_owned), calls, from)
        };
        let (said, names, forced, calls, from) = read(&openai_chat::TWIN, &chat, of_chat);
        let there = |lengths: Vec<usize>| lengths.into_iter().map(|length| addresses.length_there(length)).collect::<Vec<_>>();
        prop_assert_eq!(read(twin, &converted.request, of_chat), (said, names, forced, there(calls), there(from)));
    }

    fn it_is_decided_as_its_twin_is(request in request(), policy in policy(), choice in tool_choice(), by_budget in any::<bool>()) {
        decides_alike(&with_choice(&request.0, choice.as_ref()), &policy.0, by_budget)?;
    }

    fn it_is_read_in_two_goes_as_in_one(request in request(), at in any::<prop::sample::Index>()) {
        reads_on(twin::current(), &(twin::current().from_chat)(&request.0).request, at)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    fn a_long_loop_is_decided_as_its_twin_is(request in long_request(), policy in policy(), by_budget in any::<bool>()) {
        decides_alike(&request.0, &policy.0, by_budget)?;
    }
}
