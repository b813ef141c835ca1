//! A history as Chat and as Responses: the same reading, and the same decisions where sizes do not matter.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::history::turns::{self, Recent};
use warmfold::history::{Entry, EntryKind, View};
use warmfold::replay::{Recorded, replay};
use warmfold::tape::Tape;
use warmfold::wire::Request;
use warmfold::{Format, Options};

use super::from_chat::{Converted, from_chat, separated};
use super::{fold, list};
use crate::histories::{long_request, paying, policy, request, tool_choice};
use crate::laws::cases;
use crate::support::{self, Carry, Edit, at_length, call_lengths, merged};

/// A generated Chat request of which no two answers stand in a row.
fn apart(request: &Value, choice: Option<&Value>) -> Value {
    let mut request = merged(request, &json!({ "messages": separated(request["messages"].as_array().unwrap()) }));
    if let Some(choice) = choice {
        request["tool_choice"] = choice.clone();
    }
    request
}

/// What can be said of an entry in any format.
fn told(view: &View<'_>, first: &[usize]) -> Vec<String> {
    let is_told = |entry: &&Entry<'_>| entry.kind != EntryKind::Reasoning && !entry.text().is_empty();
    let at = |message: usize| first.partition_point(|first| *first <= message);
    let call = |call: usize| {
        let call = &view.tool_calls[call];
        (at(call.message), call.name, call.arguments.and_then(|arguments| arguments.text()).unwrap_or(""))
    };
    let tell = |entry: &Entry<'_>| {
        let call = entry.tool_call.map(call);
        format!("{:?}", (at(entry.message), entry.part, entry.kind, entry.text(), call, entry.failed))
    };
    view.entries.iter().filter(is_told).map(tell).collect()
}

/// A Chat edit where its message went.
fn moved(edit: &Edit, first: &[usize]) -> Edit {
    let mut edit = edit.clone();
    (edit.message, edit.since) = (first[edit.message], first[edit.since]);
    edit.target.iter_mut().for_each(|target| target.message = first[target.message]);
    edit
}

/// Where a cached read costs what a new token does, nothing is lost by rewriting, so that sizes decide nothing.
fn sizeless() -> Value {
    json!({ "cache": { "read": 1, "write": 1, "ttlMs": 1000 }, "model": null, "dropReasoning": false })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn they_read_the_same(request in request(), choice in tool_choice(), turns in 0..5usize) {
        let chat = apart(&request.0, choice.as_ref());
        let Converted { request: items, first } = from_chat(&chat);
        let tapes = [&chat, &items].map(|request| Tape::from_json(request.to_string()).unwrap());
        let of = [&tapes[0], &tapes[1]].map(|tape| Request::of(tape.root()));
        prop_assert_eq!(Format::recognise(&of[1]).unwrap(), Format::OpenaiResponses);
        let as_messages = merged(&json!({ "messages": items["input"].clone() }), &json!({}));
        let plain = Tape::from_json(as_messages.to_string()).unwrap();
        prop_assert!(items[list(&items)].as_array().unwrap().is_empty() || Format::recognise(&Request::of(plain.root())).unwrap() == Format::OpenaiResponses);
        let views = [Format::OpenaiChat.read(&of[0], None).unwrap(), Format::OpenaiResponses.read(&of[1], None).unwrap()];
        let own: Vec<usize> = (0..first.len()).collect();
        prop_assert_eq!(told(&views[0], &own), told(&views[1], &first));
        let calls: Vec<usize> = turns::calls(&views[0]).iter().map(|length| first[*length]).collect();
        prop_assert_eq!(&calls, &turns::calls(&views[1]));
        prop_assert_eq!(views[0].forced_tool, views[1].forced_tool);
        let recent = [Recent::new(&views[0], turns), Recent::new(&views[1], turns)];
        for length in turns::calls(&views[0]) {
            prop_assert_eq!(first[recent[0].protect_from(length)], recent[1].protect_from(first[length]));
        }
    }

    #[test]
    fn they_are_folded_alike(request in request(), policy in prop_oneof![policy(), paying()], choice in tool_choice(), by_budget in any::<bool>()) {
        let options = merged(&merged(&policy.0, &sizeless()), &json!({ "budgetTokens": if by_budget { json!(1) } else { Value::Null } }));
        let chat = apart(&request.0, choice.as_ref());
        let Converted { request: items, first } = from_chat(&chat);
        let (mut carry, mut carry_items) = (Carry::New, Carry::New);
        for length in call_lengths(chat["messages"].as_array().unwrap()) {
            let call = support::fold(&at_length(&chat, length), &options, &carry);
            let mut prefix = items.clone();
            prefix["input"].as_array_mut().unwrap().truncate(first[length]);
            let twin = fold(&prefix, &options, &carry_items);
            let expected: Vec<Edit> = call.edits().iter().map(|edit| moved(edit, &first)).collect();
            prop_assert_eq!(expected, twin.edits(), "at {} messages", length);
            prop_assert_eq!(call.outcome.folded, twin.outcome.folded);
            (carry, carry_items) = (call.next(), twin.next());
        }
    }

    /// What an answer quotes is one sum, over however many items it is spread.
    #[test]
    fn they_lose_the_same_quotes(request in long_request(), policy in paying()) {
        let options = Options::from_json(merged(&policy.0, &sizeless())).unwrap();
        let chat = apart(&request.0, None);
        let replayed = [chat.clone(), from_chat(&chat).request].map(|request| {
            let tape = Tape::from_json(request.to_string()).unwrap();
            let report = replay(&Request::of(tape.root()), &options, &Recorded::default()).unwrap();
            (report.quotes, report.by_call.iter().map(|call| (call.folded, call.lost_quotes)).collect::<Vec<_>>())
        });
        prop_assert_eq!(&replayed[0], &replayed[1]);
    }
}
