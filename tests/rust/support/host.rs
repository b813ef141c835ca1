//! What a host does: passes a request in its provider's format, and carries out the patches that come back.

use serde::Deserialize;
use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::planner::Given;
use warmfold::tape::Tape;
use warmfold::wire::{Request, splice};
use warmfold::{Options, Plan};

/// What a host passes for the plan.
#[derive(Clone, Debug)]
pub enum Carry {
    /// Nothing.
    Derive,
    /// `null`.
    New,
    /// What the last call returned.
    Plan(Carried),
}

/// A plan, and its edits as the call that returned it told them; none where a test wrote the plan itself.
#[derive(Clone, Debug)]
pub struct Carried {
    pub plan: Value,
    pub told: Option<Vec<Edit>>,
}

impl Carry {
    /// A plan that came from anywhere.
    pub fn plan(plan: Value) -> Carry {
        Carry::Plan(Carried { plan, told: None })
    }

    pub fn given(&self) -> warmfold::Result<Given> {
        Ok(match self {
            Carry::Derive => Given::Derive,
            Carry::New => Given::New,
            Carry::Plan(carried) => Given::Carried(Plan::from_json(carried.plan.clone())?),
        })
    }
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
    /// The same on the wire, where histories of different lengths may be as long.
    #[serde(skip)]
    pub since_there: usize,
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

pub fn edits(plan: &Value) -> Vec<Edit> {
    Deserialize::deserialize(&plan["edits"]).expect("a plan's edits have their fields")
}

/// One request as a provider's format has it, and what came of it.
#[derive(Debug)]
pub struct Sent {
    pub request: Value,
    pub options: Value,
    pub outcome: Outcome,
    /// The request as it goes out.
    pub body: Value,
    /// Its messages.
    pub output: Value,
    pub plan: Value,
}

/// What a request calls its messages.
pub fn list_of(request: &Value) -> &'static str {
    ["input", "contents"].into_iter().find(|list| request.get(list).is_some()).unwrap_or("messages")
}

impl Sent {
    pub fn list(&self) -> &'static str {
        list_of(&self.request)
    }

    pub fn input(&self) -> &[Value] {
        self.request[self.list()].as_array().map_or(&[], Vec::as_slice)
    }

    pub fn output(&self) -> &[Value] {
        self.output.as_array().map_or(&[], Vec::as_slice)
    }

    /// How many messages were put before the history.
    pub fn shift(&self) -> usize {
        let gone: usize = self.outcome.plan.segments.iter().map(|segment| segment.messages().len() - 1).sum();
        self.output().len() + gone - self.input().len()
    }

    pub fn edits(&self) -> Vec<Edit> {
        edits(&self.plan)
    }

    pub fn says(&self, words: &str) -> bool {
        self.outcome.report.reasons.iter().any(|reason| reason.contains(words))
    }

    /// The text of a message as it is sent, whose content is a string.
    pub fn text(&self, at: usize) -> &str {
        self.output[at]["content"].as_str().expect("its content is a string")
    }

    /// The carried plan of the next request.
    pub fn next(&self) -> Carry {
        Carry::plan(self.plan.clone())
    }
}

/// Sends a request as it stands, whatever it is.
pub fn try_send(request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Sent> {
    let tape = Tape::from_json(request.to_string())?;
    let checked = Options::from_json(options.clone())?;
    let outcome = fold::fold(&Request::of(tape.root()), &checked, carry.given()?)?;
    let list = list_of(request);
    let mut body = request.clone();
    outcome.patches.iter().for_each(|patch| patch.apply_to_request(&mut body, list));
    let plan = serde_json::to_value(&outcome.plan).expect("a plan is plain JSON");
    Ok(Sent { request: request.clone(), options: options.clone(), outcome, output: body[list].clone(), body, plan })
}

pub fn send(request: &Value, options: &Value, carry: &Carry) -> Sent {
    try_send(request, options, carry).expect("a good request folds")
}

/// Sends Chat messages alone.
pub fn send_messages(messages: &[Value], options: &Value, carry: &Carry) -> Sent {
    send(&json!({ "messages": messages }), options, carry)
}

/// What the same request gives as bytes: the outcome, and the body that is sent.
pub fn send_bytes(body: &str, options: &Value, carry: &Carry) -> (Outcome, Vec<splice::Splice>, Value) {
    let tape = Tape::from_json(body).expect("it is JSON");
    let request = Request::of(tape.root());
    let outcome = fold::fold(&request, &Options::from_json(options.clone()).expect("good options"), carry.given().expect("a good plan"));
    let outcome = outcome.expect("a good request folds");
    let messages = request.messages.expect("a request has messages");
    let splices = splice::of_request(tape.root(), messages, &messages.children().collect::<Vec<_>>(), &outcome.patches, body.as_bytes());
    let spliced = splice::spliced(body.as_bytes(), &splices);
    let read = serde_json::from_slice(&spliced).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&spliced)));
    (outcome, splices, read)
}
