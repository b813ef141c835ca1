//! Law 10: anything in, a result or an error with a code, a path and a fix out.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::Error;

use super::{all, cases, converted};
use crate::histories::{Json, output, policy, request, signals};
use crate::oracle;
use crate::support::{Carry, list_of, send, try_fold, try_send};
use crate::twin::{self, Twin, every_wire, law};

every_wire! {
    any_messages,
    any_options,
    any_plan,
    damaged_options,
    damaged_requests,
    damaged_plans,
}

/// Any JSON, with the names that we read sprinkled in.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let words = vec!["role", "tool", "assistant", "user", "text", "content", "image_url", "x", "", "\u{0}", "深", "openai-chat", "truncated"];
    let numbers = prop_oneof![
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(-1)),
        Just(json!(1.5)),
        Just(json!(4_294_967_295u64)),
        Just(json!(1e300)),
        Just(json!(u64::MAX))
    ];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), numbers, prop::sample::select(words).prop_map(Value::from),];
    let keys = vec![
        "role",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "id",
        "tool_call_id",
        "type",
        "text",
        "reasoning",
        "function_call",
        "cache_control",
        "x",
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let key = prop::sample::select(keys.clone()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Puts a value in place of one of the nodes of another.
pub(crate) fn damage(root: &mut Value, at: prop::sample::Index, with: Value) {
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields.values().map(count).sum(),
            _ => 0,
        }
    }
    fn replace(value: &mut Value, left: &mut usize, with: &Value) {
        if *left == 0 {
            *value = with.clone();
        }
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| replace(item, left, with)),
            Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, left, with)),
            _ => {}
        }
    }
    let mut left = at.index(count(root));
    replace(root, &mut left, &with);
}

/// Folds; whatever comes back keeps the laws, or is an error that helps.
fn folds_or_explains(request: &Value, options: &Value, carry: &Carry) -> Result<(), TestCaseError> {
    match try_fold(request, options, carry) {
        Ok(call) => super::holds(oracle::one_call(&call)),
        Err(fault) => helps(&fault, &["options", "plan", "json"]),
    }
}

/// The same of a request as the wire has it, whatever it is.
pub(crate) fn sends_or_explains(twin: &Twin, request: &Value, options: &Value, carry: &Carry, starts: &[&str]) -> Result<(), TestCaseError> {
    match try_send(request, options, carry) {
        Ok(sent) => super::holds(law::sent_as_planned(twin, &sent)),
        Err(fault) => helps(&fault, starts),
    }
}

fn helps(fault: &Error, starts: &[&str]) -> Result<(), TestCaseError> {
    prop_assert!(starts.iter().any(|start| fault.path().starts_with(start)), "an error without a path: {fault:?}");
    prop_assert!(fault.message().len() > 10 && !fault.code().as_str().is_empty(), "an error that does not help: {fault:?}");
    Ok(())
}

proptest! {
    #![proptest_config(cases(600))]

    fn any_messages(messages in any_json(), policy in policy(), output in output()) {
        let (mut request, options) = converted(&json!({ "messages": [] }), &all(&[&policy.0, &output.0]));
        let list = list_of(&request);
        request[list] = messages;
        sends_or_explains(twin::current(), &request, &options, &Carry::Derive, &[list, "options"])?;
    }

    fn any_options(request in request(), options in any_json()) {
        folds_or_explains(&request.0, &options, &Carry::New)?;
    }

    fn any_plan(request in request(), policy in policy(), plan in any_json()) {
        folds_or_explains(&request.0, &policy.0, &Carry::plan(plan))?;
    }

    fn damaged_options(request in request(), policy in policy(), output in output(), signals in signals(), at in any::<prop::sample::Index>(), with in any_json()) {
        let mut options = all(&[&policy.0, &output.0, &signals.0]);
        damage(&mut options, at, with);
        folds_or_explains(&request.0, &options, &Carry::Derive)?;
    }

    /// A request of which one value is something else.
    fn damaged_requests(request in request(), policy in policy(), output in output(), at in any::<prop::sample::Index>(), with in any_json()) {
        let (mut request, options) = converted(&request.0, &all(&[&policy.0, &output.0]));
        damage(&mut request, at, with);
        sends_or_explains(twin::current(), &request, &options, &Carry::Derive, &["messages", "input", "contents", "system"])?;
    }
}

proptest! {
    #![proptest_config(cases(600))]

    /// A plan of which one value is something else: refused, or every edit that no longer fits is dropped. What still lies on its text
    /// may say anything, as the plan is the caller's.
    fn damaged_plans(request in request(), policy in policy(), at in any::<prop::sample::Index>(), with in any_json(), number in 0..2000u32) {
        let eager = all(&[&policy.0, &json!({ "budgetTokens": 1, "protectRecentTurns": 0, "when": "pays" })]);
        let (request, eager) = converted(&request.0, &eager);
        let made = send(&request, &eager, &Carry::New);
        let options = all(&[&policy.0, &json!({ "format": eager["format"] })]);
        for with in [with, json!(number)] {
            let mut plan = Json(made.plan.clone());
            damage(&mut plan.0, at, with);
            match try_send(&request, &options, &Carry::plan(plan.0)) {
                Ok(sent) => prop_assert_eq!(sent.output().len(), sent.input().len()),
                Err(fault) => {
                    let helps = fault.message().contains("pass the plan") || fault.path() == "plan";
                    prop_assert!(helps && fault.path().starts_with("plan"), "{fault:?}");
                }
            }
        }
    }
}
