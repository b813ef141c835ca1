//! A conversation that goes on gives at every call what one begun anew would give: what was remembered changes nothing.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::Options;
use warmfold::fold::{Conversation, Outcome};
use warmfold::options::Said;
use warmfold::planner::Given;
use warmfold::tape::Tape;
use warmfold::wire::Request;

use super::{all, cases, converted, with_choice};
use crate::histories::{output, policy, policy_with_budget, request, tool_choice};
use crate::support::{Carry, list_of, send};
use crate::twin::every_wire;

every_wire! {
    whatever_is_passed,
    plans_carried_by_budget,
    plans_derived,
}

/// What a host passes for the plan.
#[derive(Clone, Copy, Debug)]
enum Passed {
    Nothing,
    Null,
    /// The plan of the last call.
    Last,
    /// The plan of the call before that.
    Older,
}

fn passed() -> impl Strategy<Value = Passed> {
    prop_oneof![6 => Just(Passed::Last), 6 => Just(Passed::Nothing), 1 => Just(Passed::Null), 1 => Just(Passed::Older)]
}

fn told(outcome: &Outcome) -> Value {
    serde_json::to_value(outcome).unwrap()
}

/// Calls at these lengths: the first begins a conversation, and the others go on with it.
fn goes_on(request: &Value, options: &Value, steps: &[(usize, Passed, Value)]) -> Result<(), TestCaseError> {
    let (request, options) = &converted(request, options);
    let messages = request[list_of(request)].as_array().unwrap();
    let list = list_of(request);
    let at_length = |length: usize| {
        let mut request = request.clone();
        request[list].as_array_mut().unwrap().truncate(length);
        request
    };
    let lead = messages.iter().take_while(|message| message["role"] == "system" || message["role"] == "developer").count();
    let mut length = lead;
    let lengths: Vec<usize> = steps
        .iter()
        .map(|(further, ..)| {
            length = (length + further).min(messages.len());
            length.max((lead + 1).min(messages.len()))
        })
        .collect();
    let mut tapes = vec![Tape::from_json(at_length(lengths[0]).to_string()).unwrap()];
    tapes.extend(lengths.windows(2).map(|two| Tape::from_json(json!(messages[two[0]..two[1]]).to_string()).unwrap()));
    let mut conversation: Option<Conversation<'_>> = None;
    let mut plans: Vec<Value> = Vec::new();
    for (number, (_, passed, signals)) in steps.iter().enumerate() {
        let passed = if plans.is_empty() && !matches!(passed, Passed::Nothing) { Passed::Null } else { *passed };
        let carry = match passed {
            Passed::Nothing => Carry::Derive,
            Passed::Null => Carry::New,
            Passed::Last => Carry::plan(plans[plans.len() - 1].clone()),
            Passed::Older => Carry::plan(plans[plans.len().saturating_sub(2)].clone()),
        };
        let given = match (&carry, passed) {
            (Carry::Plan(_), Passed::Last) => Given::Kept,
            _ => carry.given().unwrap(),
        };
        let options = all(&[options, signals]);
        let checked = Options::from_json(options.clone()).unwrap();
        let mut outcome = match &mut conversation {
            None => {
                let (begun, outcome) = Conversation::start(&Request::of(tapes[0].root()), checked.into(), given).unwrap();
                conversation = Some(begun);
                outcome
            }
            Some(begun) => begun
                .next(
                    tapes[number].root().children(),
                    Said { cold: checked.cold, usage: checked.usage, calibration: checked.calibration.clone() },
                    given,
                )
                .unwrap(),
        };
        conversation.as_ref().unwrap().apply(&mut outcome).unwrap();
        let anew = send(&at_length(lengths[number]), &options, &carry);
        prop_assert_eq!(told(&outcome), told(&anew.outcome), "call {} at {} messages, {:?}", number, lengths[number], passed);
        plans.push(anew.plan);
    }
    Ok(())
}

fn steps(passed: impl Strategy<Value = Passed>) -> impl Strategy<Value = Vec<(usize, Passed, Value)>> {
    let usage = (200..40_000u32, 1..20usize).prop_map(|(tokens, up_to)| json!({ "usage": { "inputTokens": tokens, "upTo": up_to } }));
    let signals = prop_oneof![6 => Just(json!({})), 2 => usage, 1 => Just(json!({ "cold": true })), 1 => Just(json!({ "cold": { "idleMs": 1e9 } }))];
    prop::collection::vec((0..5usize, passed, signals), 1..14)
}

proptest! {
    #![proptest_config(cases(600))]

    fn whatever_is_passed(request in request(), policy in policy(), output in output(), choice in tool_choice(), steps in steps(passed())) {
        goes_on(&with_choice(&request.0, choice.as_ref()), &all(&[&policy.0, &output.0]), &steps)?;
    }

    fn plans_carried_by_budget(request in request(), policy in policy_with_budget(), output in output(), steps in steps(Just(Passed::Last))) {
        goes_on(&request.0, &all(&[&policy.0, &output.0]), &steps)?;
    }

    fn plans_derived(request in request(), policy in policy(), output in output(), steps in steps(Just(Passed::Nothing))) {
        goes_on(&request.0, &all(&[&policy.0, &output.0]), &steps)?;
    }
}
