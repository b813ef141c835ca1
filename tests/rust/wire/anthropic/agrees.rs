//! A converted history is read as its Chat twin is, and decided as it is, call by call.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};
use warmfold::history::{EntryKind, Role, View};
use warmfold::wire::Request;
use warmfold::{Format, Tape};

use super::from_chat::{Converted, from_chat};
use super::{folded, read};
use crate::histories::{long_request, policy, request, tool_choice};
use crate::laws::cases;
use crate::support::{Carry, Edit, at_length, call_lengths, fold, merged};

/// Options under which no size decides: what is written costs what is read, and nothing is over a limit.
fn free(policy: &Value) -> Value {
    let free = json!({ "cache": { "read": 1, "write": 1, "ttlMs": 300_000 }, "budgetTokens": null, "when": "pays", "fitToWindow": false });
    merged(policy, &free)
}

/// The edits of results, as the converted history has them.
fn as_converted(edits: Vec<Edit>, chat: &Value, converted: &Converted) -> Vec<Edit> {
    let place = |message: usize, part: usize| converted.address(chat, message, part);
    let moved = |mut edit: Edit| {
        (edit.message, edit.part) = place(edit.message, edit.part);
        edit.since = converted.length(edit.since);
        if let Some(target) = &mut edit.target {
            (target.message, target.part) = place(target.message, target.part);
        }
        edit
    };
    let mut moved: Vec<Edit> = edits.into_iter().filter(|edit| edit.rule != "reasoning").map(moved).collect();
    moved.sort_by_key(|edit| (edit.message, edit.part));
    moved
}

/// Lets a test look at what is read of the twin.
fn read_twin<T>(chat: &Value, look: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(chat.to_string()).unwrap();
    look(&Format::OpenaiChat.read(&Request::of(tape.root()), None).unwrap())
}

fn agree(chat: &Value, policy: &Value) -> Result<usize, TestCaseError> {
    let converted = from_chat(chat, false);
    let options = free(policy);
    let (mut ours, mut theirs) = (Carry::New, Carry::New);
    let mut edits_seen = 0;
    for length in call_lengths(chat["messages"].as_array().unwrap()) {
        let twin = fold(&at_length(chat, length), &options, &theirs);
        let prefix = at_length(&converted.request, converted.length(length));
        prop_assert_eq!(&from_chat(&at_length(chat, length), false).request, &prefix, "a conversion does not go on as it began");
        let folded = folded(&prefix, &options, &ours);
        let expected = as_converted(twin.edits(), chat, &converted);
        let got: Vec<Edit> = folded.call.edits().into_iter().filter(|edit| edit.rule != "reasoning").collect();
        edits_seen += got.len();
        prop_assert_eq!(got, expected, "at {} messages of the twin's", length);
        (ours, theirs) = (folded.call.next(), twin.next());
    }
    Ok(edits_seen)
}

/// What a view says of results, whatever the message they stand in: tool, arguments, text, failed.
fn results(view: &View<'_>) -> Vec<(Option<String>, String, String, bool)> {
    let told = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result).map(|entry| {
        let arguments = entry.tool_call.and_then(|call| view.tool_calls[call].arguments).map(|arguments| match arguments.text() {
            Some(json) => serde_json::from_str::<Value>(json).unwrap_or_default().to_string(),
            None => arguments.to_json().to_string(),
        });
        (view.tool_of(entry).map(str::to_owned), arguments.unwrap_or_default(), entry.text().to_owned(), entry.has_failed())
    });
    let mut told: Vec<_> = told.collect();
    told.sort();
    told
}

/// Roles with each run of results as one, since here they are one message.
fn roles(view: &View<'_>) -> Vec<(Role, bool)> {
    let mut roles: Vec<(Role, bool)> = view.messages[view.system_end..].iter().map(|message| (message.role, message.authored)).collect();
    roles.dedup_by(|two, one| one.0 == Role::Tool && two.0 == Role::Tool);
    roles
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_is_read(request in request()) {
        let converted = from_chat(&request.0, false).request;
        read(&converted, |view| {
            let (their_roles, their_results) = read_twin(&request.0, |twin| (roles(twin), results(twin)));
            prop_assert_eq!(roles(view), their_roles);
            prop_assert_eq!(results(view), their_results);
            let names = |view: &View<'_>| view.tool_calls.iter().map(|call| call.name.to_owned()).collect::<Vec<_>>();
            prop_assert_eq!(names(view), read_twin(&request.0, names));
            let addresses: Vec<_> = view.entries.iter().map(|entry| (entry.message, entry.part)).collect();
            prop_assert!(addresses.is_sorted_by(|one, two| one < two), "{addresses:?}");
            Ok(())
        })?;
    }

    #[test]
    fn what_is_decided(request in request(), policy in policy(), choice in tool_choice()) {
        let chat = merged(&request.0, &json!({ "tool_choice": choice }));
        agree(&chat, &policy.0)?;
    }

    #[test]
    fn what_is_decided_of_long_loops(request in long_request(), policy in policy()) {
        agree(&request.0, &policy.0)?;
    }
}

/// The properties look at something.
#[test]
fn twins_are_edited() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let histories = (0..40).map(|_| long_request().new_tree(&mut runner).unwrap().current().0);
    let edits: usize = histories.map(|chat| agree(&chat, &json!({ "preset": "thrifty" })).unwrap()).sum();
    assert!(edits > 400, "a test that looks at nothing: {edits} edits");
}
