//! Folds as a host does, through plain JSON, and builds the small histories that tests speak of.

use serde::Deserialize;
use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::planner::Given;
use warmfold::tape::Tape;
use warmfold::wire::Request;
use warmfold::{Options, Plan};

/// What a host passes for the plan.
#[derive(Clone, Debug)]
pub enum Carry {
    /// Nothing.
    Derive,
    /// `null`.
    New,
    /// What the last call returned.
    Plan(Value),
}

/// One model call: what went in and what came out.
#[derive(Debug)]
pub struct Call {
    pub request: Value,
    pub options: Value,
    pub carry: Carry,
    pub outcome: Outcome,
    /// The returned messages.
    pub output: Value,
    /// The returned plan.
    pub plan: Value,
}

/// An edit as a plan's JSON has it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Edit {
    pub message: usize,
    pub part: usize,
    pub tool: Option<String>,
    pub fingerprint: String,
    pub rule: String,
    pub since: usize,
    pub pieces: Vec<Piece>,
    pub target: Option<Target>,
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Piece {
    Span(usize, usize),
    Text(String),
}

#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Target {
    pub message: usize,
    pub part: usize,
    pub fingerprint: String,
}

impl Call {
    pub fn input(&self) -> &[Value] {
        self.request["messages"].as_array().expect("a request has messages")
    }

    pub fn output(&self) -> &[Value] {
        self.output.as_array().expect("messages are an array")
    }

    pub fn edits(&self) -> Vec<Edit> {
        edits(&self.plan)
    }

    /// The edits that were carried into this call.
    pub fn carried(&self) -> Vec<Edit> {
        match &self.carry {
            Carry::Plan(plan) => edits(plan),
            Carry::Derive | Carry::New => Vec::new(),
        }
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

    /// How many messages were put before the history.
    pub fn shift(&self) -> usize {
        self.output().len() - self.input().len()
    }

    pub fn says(&self, words: &str) -> bool {
        self.outcome.report.reasons.iter().any(|reason| reason.contains(words))
    }

    /// The text of a returned message whose content is a string.
    pub fn text(&self, at: usize) -> &str {
        self.output[at]["content"].as_str().expect("its content is a string")
    }

    /// The carried plan of the next call.
    pub fn next(&self) -> Carry {
        Carry::Plan(self.plan.clone())
    }
}

pub fn edits(plan: &Value) -> Vec<Edit> {
    Deserialize::deserialize(&plan["edits"]).expect("a plan's edits have their fields")
}

/// Folds a request `{ messages, tools?, tool_choice?, system? }`.
pub fn try_fold(request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Call> {
    let tape = Tape::from_json(request.to_string())?;
    let checked = Options::from_json(options.clone())?;
    let given = match carry {
        Carry::Derive => Given::Derive,
        Carry::New => Given::New,
        Carry::Plan(plan) => Given::Carried(Plan::from_json(plan.clone())?),
    };
    let outcome = fold::fold(&Request::of(tape.root()), &checked, given)?;
    let mut output = request["messages"].clone();
    outcome.patches.iter().for_each(|patch| patch.apply_to(&mut output));
    Ok(Call {
        request: request.clone(),
        options: options.clone(),
        carry: carry.clone(),
        plan: serde_json::to_value(&outcome.plan).expect("a plan is plain JSON"),
        outcome,
        output,
    })
}

pub fn fold(request: &Value, options: &Value, carry: &Carry) -> Call {
    try_fold(request, options, carry).expect("a good request folds")
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
