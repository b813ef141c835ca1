//! `wire`: OpenAI Responses. `from_chat` writes a generated Chat history as items, so that the two can be held against each other.

use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::planner::Given;
use warmfold::tape::Tape;
use warmfold::wire::{Request, patch::Step};
use warmfold::{Options, Plan};

use crate::oracle::rendered;
use crate::support::{Carry, Edit, edits};

mod cases;
mod items;
mod marks;
pub mod validator;

// These have property tests.
#[cfg(not(target_arch = "wasm32"))]
mod from_chat;
#[cfg(not(target_arch = "wasm32"))]
mod laws;
#[cfg(not(target_arch = "wasm32"))]
mod twins;

/// One model call.
pub struct Folded {
    pub request: Value,
    pub outcome: Outcome,
    /// The request as it is sent.
    pub output: Value,
    pub plan: Value,
}

impl Folded {
    pub fn edits(&self) -> Vec<Edit> {
        edits(&self.plan)
    }

    pub fn next(&self) -> Carry {
        Carry::Plan(self.plan.clone())
    }

    /// An item as it is sent.
    pub fn item(&self, at: usize) -> &Value {
        &self.output[list(&self.output)][at]
    }
}

/// What the request calls its items.
pub fn list(request: &Value) -> &'static str {
    if request.get("input").is_some() { "input" } else { "messages" }
}

pub fn given(carry: &Carry) -> Given {
    match carry {
        Carry::Derive => Given::Derive,
        Carry::New => Given::New,
        Carry::Plan(plan) => Given::Carried(Plan::from_json(plan.clone()).expect("a plan that was returned")),
    }
}

pub fn try_fold(request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Folded> {
    let tape = Tape::from_json(request.to_string())?;
    let outcome = fold::fold(&Request::of(tape.root()), &Options::from_json(options.clone())?, given(carry))?;
    let mut output = request.clone();
    for patch in &outcome.patches {
        match patch.path.first() {
            Some(Step::Index(_)) => patch.apply_to(&mut output[list(request)]),
            _ => patch.apply_to(&mut output),
        }
    }
    let plan = serde_json::to_value(&outcome.plan).expect("a plan is plain JSON");
    Ok(Folded { request: request.clone(), outcome, output, plan })
}

pub fn fold(request: &Value, options: &Value, carry: &Carry) -> Folded {
    try_fold(request, options, carry).expect("a good request folds")
}

/// Items alone, as a new conversation.
pub fn fold_items(items: &[Value], options: &Value) -> Folded {
    fold(&json!({ "input": items }), options, &Carry::New)
}

pub fn call(id: &str, tool: &str, arguments: Value) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": tool, "arguments": arguments.to_string() })
}

pub fn output(id: &str, text: impl Into<Value>) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": text.into() })
}

pub fn thought(id: &str) -> Value {
    json!({ "type": "reasoning", "id": format!("rs_{id}"), "summary": [{ "type": "summary_text", "text": "Let me look." }], "encrypted_content": "Z2VoZWlt" })
}

/// The text of a part of an item: `stdout` and `stderr` of a shell's output are two.
pub fn text_at(item: &mut Value, part: usize) -> Option<&mut Value> {
    let shell = item["type"] == "shell_call_output";
    let key = if item.get("output").is_some() { "output" } else { "content" };
    if item[key].is_string() {
        return item.get_mut(key).filter(|_| part == 0);
    }
    let parts = item[key].as_array_mut()?;
    if shell {
        return parts.get_mut(part / 2)?.get_mut(["stdout", "stderr"][part % 2]);
    }
    let part = parts.get_mut(part)?;
    if part.is_string() { Some(part) } else { part.get_mut("text") }
}

/// The request with the plan's edits in it, and nothing else.
pub fn with_edits(folded: &Folded) -> Result<Value, String> {
    let mut request = folded.request.clone();
    let list = list(&request);
    for edit in folded.edits() {
        let text = text_at(&mut request[list][edit.message], edit.part).ok_or_else(|| format!("an edit of no text: {edit:?}"))?;
        *text = rendered(text.as_str().ok_or("an edit of no text")?, &edit.pieces).into();
    }
    Ok(request)
}

/// What is sent without our marks. A part of a string that was made for one becomes the string again.
pub fn unmarked(folded: &Folded) -> Value {
    let mut output = folded.output.clone();
    let list = list(&output);
    let shift = output[list].as_array().map_or(0, Vec::len) - folded.request[list].as_array().map_or(0, Vec::len);
    for mark in &folded.outcome.marks {
        let Some(part) = mark.part else { continue };
        let Some(at) = mark.at.message() else { continue };
        let original = at.checked_sub(shift).map(|at| &folded.request[list][at]);
        let was_list = original.is_some_and(|item| item["content"].is_array() || item["output"].is_array());
        let item = &mut output[list][at];
        let key = if item.get("output").is_some() { "output" } else { "content" };
        if was_list {
            let part = item[key][part as usize].as_object_mut().expect("a mark stands in an object");
            part.remove("prompt_cache_breakpoint");
            part.remove("cache_control");
        } else {
            item[key] = item[key][0]["text"].take();
        }
    }
    output
}
