//! Folds on the wire that a test runs on, and builds the small histories that tests speak of.

use serde_json::{Value, json};
use warmfold::fold::Outcome;

pub use host::*;

use crate::oracle::rendered;
use crate::twin::{self, addresses::Addresses, openai_chat};

mod host;

/// One model call in the words of the Chat twin, whatever wire it was made on.
#[derive(Debug)]
pub struct Call {
    pub request: Value,
    pub options: Value,
    pub carry: Carry,
    /// Its indices are those of the history; its patches are the wire's.
    pub outcome: Outcome,
    /// The messages with the edits in them, without context block and marks: those are held against what was sent.
    pub output: Value,
    /// As the wire has it.
    pub plan: Value,
    /// What really went out.
    pub sent: Sent,
    /// In the order of the plan, which need not be that of the twin's addresses.
    told: Vec<Edit>,
    carried: Vec<Edit>,
}

impl Call {
    pub fn input(&self) -> &[Value] {
        self.request["messages"].as_array().expect("a request has messages")
    }

    pub fn output(&self) -> &[Value] {
        self.output.as_array().expect("messages are an array")
    }

    pub fn edits(&self) -> Vec<Edit> {
        let mut edits = self.told.clone();
        edits.sort_by_key(|edit| (edit.message, edit.part));
        edits
    }

    /// The edits that were carried into this call.
    pub fn carried(&self) -> Vec<Edit> {
        self.carried.clone()
    }

    /// The edits that were not carried into this call, at whatever address.
    pub fn new_edits(&self) -> Vec<Edit> {
        let mut carried = self.carried();
        let mut take = |is_same: &dyn Fn(&Edit) -> bool| carried.iter().position(is_same).map(|at| carried.remove(at)).is_none();
        let mut new = self.edits();
        new.retain(|edit| take(&|old| old == edit));
        new.retain(|edit| take(&|old| (&old.fingerprint, &old.pieces, old.since) == (&edit.fingerprint, &edit.pieces, edit.since)));
        new
    }

    pub fn says(&self, words: &str) -> bool {
        self.sent.says(words)
    }

    /// The text of a message whose content is a string, as it is sent.
    pub fn text(&self, at: usize) -> &str {
        self.output[at]["content"].as_str().expect("its content is a string")
    }

    /// The carried plan of the next call.
    pub fn next(&self) -> Carry {
        Carry::Plan(Carried { plan: self.plan.clone(), told: Some(self.told.clone()) })
    }
}

/// Folds a Chat request `{ messages, tools?, tool_choice? }` on the wire of this test.
///
/// # Panics
/// What is sent is not what the plan says, or the provider would refuse it.
pub fn try_fold(request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Call> {
    let twin = twin::current();
    let converted = (twin.from_chat)(request);
    let addresses = Addresses::of(twin, request, &converted);
    let sent = twin.try_send(&converted.request, &addresses.options(options), carry)?;
    let (before, carried) = match carry {
        Carry::Plan(Carried { plan, told: Some(told) }) => (edits(plan), told.clone()),
        Carry::Plan(Carried { plan, told: None }) => (Vec::new(), edits(plan).into_iter().filter_map(|edit| addresses.edit(edit)).collect()),
        Carry::Derive | Carry::New => (Vec::new(), Vec::new()),
    };
    let told = |edit: Edit| {
        let is_same = |old: &&Edit| (&old.fingerprint, &old.pieces, old.since) == (&edit.fingerprint, &edit.pieces, edit.since);
        let known = before.iter().zip(&carried).find(|(old, _)| is_same(old)).map(|(_, told)| told.since);
        let of_now = (edit.since == sent.input().len()).then_some(converted.homes.len());
        let told = addresses.edit(edit.clone()).unwrap_or_else(|| panic!("an edit of no text of the twin's: {edit:?}"));
        Edit { since: known.or(of_now).unwrap_or(told.since), ..told }
    };
    let told: Vec<Edit> = sent.edits().into_iter().map(told).collect();
    let mut output = request["messages"].clone();
    told.iter().for_each(|edit| carry_out(edit, &mut output[edit.message]));
    let outcome = addresses.outcome(sent.outcome.clone(), sent.shift());
    let (request, options, carry, plan) = (request.clone(), options.clone(), carry.clone(), sent.plan.clone());
    Ok(Call { request, options, carry, outcome, output, plan, sent, told, carried })
}

fn carry_out(edit: &Edit, message: &mut Value) {
    if edit.rule == "reasoning" {
        return (openai_chat::TWIN.drop_reasoning)(message);
    }
    let slot = (openai_chat::TWIN.texts)(message).into_iter().find(|slot| slot.part == edit.part).expect("an edit lies on a text");
    *message.pointer_mut(&slot.pointer).expect("it was found there") = rendered(&slot.text, &edit.pieces).into();
}

pub fn fold(request: &Value, options: &Value, carry: &Carry) -> Call {
    try_fold(request, options, carry).unwrap_or_else(|fault| panic!("a good request folds: {fault}"))
}

/// Folds messages alone.
pub fn fold_messages(messages: &[Value], options: &Value, carry: &Carry) -> Call {
    fold(&json!({ "messages": messages }), options, carry)
}

/// The lengths of a history at each model call: before every assistant message but a first one, and now.
pub fn call_lengths(messages: &[Value]) -> Vec<usize> {
    let earlier = (1..messages.len()).filter(|at| messages[*at]["role"] == "assistant");
    earlier.chain([messages.len()]).collect()
}

/// At least this length of a history, so that on the wire of this test no message has only a part of its results: it would be rewritten when
/// the others come.
pub fn whole_length(request: &Value, length: usize) -> usize {
    let homes = (twin::current().from_chat)(request).homes;
    let shares = |at: &usize| *at > 0 && homes[*at].block.is_some() && homes[*at].messages == homes[at - 1].messages;
    (length..homes.len()).find(|at| !shares(at)).unwrap_or(homes.len())
}

/// The request as it was at an earlier length of its history.
pub fn at_length(request: &Value, length: usize) -> Value {
    let mut request = request.clone();
    let messages = request["messages"].as_array_mut().expect("a request has messages");
    messages.truncate(length);
    request
}

/// Folds a request call by call, the plan carried from each to the next; the first is a new conversation.
pub fn carry_through(request: &Value, lengths: &[usize], options_of: impl Fn(usize) -> Value) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::with_capacity(lengths.len());
    for (number, &length) in lengths.iter().enumerate() {
        let carry = calls.last().map_or(Carry::New, Call::next);
        calls.push(fold(&at_length(request, length), &options_of(number), &carry));
    }
    calls
}

/// One object with the fields of both; the second's go first.
pub fn merged(base: &Value, over: &Value) -> Value {
    let mut merged = base.clone();
    if let (Some(fields), Some(more)) = (merged.as_object_mut(), over.as_object()) {
        fields.extend(more.clone());
    }
    merged
}

pub fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub fn system(text: &str) -> Value {
    json!({ "role": "system", "content": text })
}

pub fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// An assistant message that calls tools: id, tool, arguments.
pub fn asks(uses: &[(&str, &str, Value)]) -> Value {
    let call = |(id, tool, arguments): &(&str, &str, Value)| json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": arguments.to_string() } });
    json!({ "role": "assistant", "content": null, "tool_calls": uses.iter().map(call).collect::<Vec<_>>() })
}

pub fn result(id: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": text })
}

/// A call of a tool and its result.
pub fn exchange(id: &str, tool: &str, arguments: Value, text: &str) -> [Value; 2] {
    [asks(&[(id, tool, arguments)]), result(id, text)]
}

/// Numbered lines, so that every one is different.
pub fn lines(about: &str, count: usize) -> String {
    (0..count).map(|number| format!("{about}, line {number}: nothing to see here\n")).collect()
}

/// Concatenates messages and exchanges.
pub fn history(parts: &[&[Value]]) -> Vec<Value> {
    parts.concat()
}

/// Options under which whatever is eligible is shortened at once: no budget, nothing recent, small cuts.
pub fn eager() -> Value {
    json!({
        "preset": "spec", "budgetTokens": 1, "protectRecentTurns": 0, "maxToolResultBytes": 400, "keepHeadBytes": 100, "keepTailBytes": 100, "minSavedBytes": 20,
        "cache": { "read": 1, "write": 1, "ttlMs": 300_000 }
    })
}
