//! Law 5 for histories that did not only grow: rewritten, shifted, forked, rewound. Edits that still match stay, all others go.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::tape;

use super::{all, cases, holds};
use crate::histories::{History, history, policy};
use crate::oracle::{self, text_at, tools_of};
use crate::support::{Carry, Edit, fold_messages, user};
use crate::twin::addresses::Addresses;
use crate::twin::{self, every_wire};

every_wire! {
    nothing_lands_on_the_wrong_text covers 29,
    what_still_matches_stays,
    a_shifted_history_keeps_its_edits covers 29,
    fresh_ids_change_nothing covers 30,
    a_rewind_drops_only_what_is_gone covers 29,
}

/// What a host did to a history between two calls.
#[derive(Clone, Debug)]
enum Change {
    Rewind,
    Delete,
    Insert,
    Rewrite,
    Swap,
    Repeat,
    FreshIds,
    AnotherSystem,
    AnotherTool,
}

fn change() -> impl Strategy<Value = (Change, prop::sample::Index, prop::sample::Index)> {
    use Change::*;
    let change = prop::sample::select(vec![Rewind, Delete, Insert, Rewrite, Swap, Repeat, FreshIds, AnotherSystem, AnotherTool]);
    (change, any::<prop::sample::Index>(), any::<prop::sample::Index>())
}

fn make(messages: &mut Vec<Value>, (change, at, other): &(Change, prop::sample::Index, prop::sample::Index)) {
    if messages.is_empty() {
        return;
    }
    let (at, other) = (at.index(messages.len()), other.index(messages.len()));
    match change {
        Change::Rewind => messages.truncate(at),
        Change::Delete => drop(messages.remove(at)),
        Change::Insert => messages.insert(at, user("by the way")),
        Change::Rewrite if messages[at]["content"].is_string() => messages[at]["content"] = json!("said otherwise\n".repeat(at * 10)),
        Change::Rewrite => {}
        Change::Swap => messages.swap(at, other),
        Change::Repeat => messages.push(messages[at].clone()),
        Change::FreshIds => messages.iter_mut().for_each(renamed),
        Change::AnotherTool => {
            if let Some(name) = messages[at].pointer_mut("/tool_calls/0/function/name") {
                *name = "grep".into();
            }
        }
        Change::AnotherSystem => messages.insert(0, json!({ "role": "system", "content": "new rules" })),
    }
}

/// The same history, encoded anew by a host that makes ids up each time; they cost the same.
fn renamed(message: &mut Value) {
    let fresh = |id: &mut Value| {
        if let Some(text) = id.as_str() {
            *id = format!("z{}", &text[1..]).into();
        }
    };
    if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
        calls.iter_mut().for_each(|call| fresh(&mut call["id"]));
    }
    if let Some(id) = message.get_mut("tool_call_id") {
        fresh(id);
    }
}

fn lies_on(messages: &[Value], tools: &[Option<String>], edit: &Edit, message: usize, part: usize) -> bool {
    let text = messages.get(message).and_then(|message| text_at(message, part));
    tools.get(message) == Some(&edit.tool) && text.is_some_and(|text| tape::hex(tape::fingerprint(text)) == edit.fingerprint)
}

/// Whether the text of an edit stands elsewhere in the history too.
fn has_copies(messages: &[Value], edit: &Edit) -> bool {
    let tools = tools_of(messages);
    edit.rule != "reasoning" && (0..messages.len()).filter(|at| lies_on(messages, &tools, edit, *at, edit.part)).count() > 1
}

proptest! {
    #![proptest_config(cases(600))]

    /// Whatever was done to the history: no edit lies on a text that is not its own, carried ones keep their pieces, and counts agree.
    fn nothing_lands_on_the_wrong_text(History(messages) in history(), first in policy(), then in policy(), changes in prop::collection::vec(change(), 1..4)) {
        let folded = fold_messages(&messages, &all(&[&first.0, &json!({ "when": "pays" })]), &Carry::New);
        let mut changed = messages.clone();
        changes.iter().for_each(|change| make(&mut changed, change));
        let changed = (twin::current().sayable)(&changed);
        let call = fold_messages(&changed, &then.0, &folded.next());
        holds(oracle::one_call(&call))?;
        let report = &call.outcome.report;
        prop_assert_eq!(report.edits_carried + report.edits_lowered + report.edits_dropped, folded.edits().len());
        prop_assert_eq!(call.outcome.folded, report.edits_added + report.edits_lowered + report.edits_dropped > 0);
        let kept = call.edits().len() - call.new_edits().len();
        // One that was dropped with its target and made again for another looks as if it had been carried.
        prop_assert!(report.edits_carried <= kept, "a carried edit keeps its pieces");
    }

    /// An edit whose address, tool and fingerprint still hold stays, whatever became of the others.
    fn what_still_matches_stays(History(messages) in history(), first in policy(), changes in prop::collection::vec(change(), 1..3)) {
        let options = all(&[&first.0, &json!({ "when": "pays", "collapseDuplicateResults": false, "elideSupersededReads": false, "elideStaleReads": false, "dropReasoning": false })]);
        let folded = fold_messages(&messages, &options, &Carry::New);
        let mut changed = messages.clone();
        changes.iter().for_each(|change| make(&mut changed, change));
        let changed = (twin::current().sayable)(&changed);
        let tools = tools_of(&changed);
        let call = fold_messages(&changed, &all(&[&options, &json!({ "when": "never" })]), &folded.next());
        if call.says("cache cold") {
            return Ok(()); // a changed system run lets go of what protection covers by now
        }
        let (request, twin) = (json!({ "messages": changed }), twin::current());
        let converted = (twin.from_chat)(&request);
        let addresses = Addresses::of(twin, &request, &converted);
        for edit in folded.sent.edits() {
            let now = addresses.edit(edit.clone());
            let holds = now.is_some_and(|now| lies_on(&changed, &tools, &edit, now.message, now.part));
            prop_assert!(!holds || call.sent.edits().contains(&edit), "it still matches, and went: {edit:?}");
        }
    }

    /// Rows of a history inserted before it shift its edits; they move with their text.
    fn a_shifted_history_keeps_its_edits(History(messages) in history(), policy in policy(), by in 1..4usize) {
        let policy = all(&[&policy.0, &json!({ "when": "pays", "elideSupersededReads": false, "elideStaleReads": false })]);
        let folded = fold_messages(&messages, &policy, &Carry::New);
        if folded.edits().iter().any(|edit| has_copies(&messages, edit)) {
            return Ok(()); // an edit fits any of them
        }
        let shifted = [vec![user("before all"); by], messages].concat();
        let call = fold_messages(&shifted, &all(&[&policy, &json!({ "when": "never" })]), &folded.next());
        let expected: Vec<_> = folded.edits().iter().map(|edit| (edit.message + by, edit.part, edit.pieces.clone())).collect();
        let moved: Vec<_> = call.edits().iter().map(|edit| (edit.message, edit.part, edit.pieces.clone())).collect();
        prop_assert_eq!(moved, expected);
    }

    /// Ids are no part of an edit: a host that makes them up each time keeps every one.
    fn fresh_ids_change_nothing(History(messages) in history(), policy in policy()) {
        let policy = all(&[&policy.0, &json!({ "when": "pays" })]);
        let folded = fold_messages(&messages, &policy, &Carry::New);
        let mut renamed_messages = messages.clone();
        renamed_messages.iter_mut().for_each(renamed);
        let call = fold_messages(&renamed_messages, &policy, &folded.next());
        prop_assert_eq!(&call.plan, &folded.plan);
        prop_assert!(!call.outcome.folded);
    }

    /// After a rewind, edits of what is gone go, and the rest stay. (Reasoning may be needed again: its loop of calls may be open again.)
    fn a_rewind_drops_only_what_is_gone(History(messages) in history(), policy in policy(), at in any::<prop::sample::Index>()) {
        let policy = all(&[&policy.0, &json!({ "when": "pays", "elideSupersededReads": false, "elideStaleReads": false, "dropReasoning": false })]);
        let folded = fold_messages(&messages, &policy, &Carry::New);
        let length = at.index(messages.len());
        if folded.edits().iter().any(|edit| edit.message >= length && has_copies(&messages, edit)) {
            return Ok(()); // it may move to the copy that is still there
        }
        let call = fold_messages(&messages[..length], &all(&[&policy, &json!({ "when": "never" })]), &folded.next());
        let expected: Vec<Edit> = folded.edits().into_iter().filter(|edit| edit.message < length).collect();
        prop_assert_eq!(call.edits(), expected);
    }
}
