//! Law 2 over bytes: outside a splice the output is the input, however the input was spelt; and what it says is what the objects' way says.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::fold::{self, Outcome};
use warmfold::planner::Given;
use warmfold::wire::Request;
use warmfold::wire::splice::{self, Splice};
use warmfold::{Options, Plan, Tape};

use super::{all, cases};
use crate::histories::{output, paying, policy, request, signals};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, fold, merged};

pub(crate) fn fold_body(body: &str, options: &Value, carry: &Carry) -> (Outcome, Vec<Splice>) {
    let tape = Tape::from_json(body).unwrap();
    let options = Options::from_json(options.clone()).unwrap();
    let given = match carry {
        Carry::Derive => Given::Derive,
        Carry::New => Given::New,
        Carry::Plan(plan) => Given::Carried(Plan::from_json(plan.clone()).unwrap()),
    };
    let request = Request::of(tape.root());
    let outcome = fold::fold(&request, &options, given).unwrap();
    let splices =
        splice::splices(request.messages.unwrap(), &request.messages.unwrap().children().collect::<Vec<_>>(), &outcome.patches, body.as_bytes());
    (outcome, splices)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn bytes_outside_splices_are_the_inputs(
        request in request(), policy in prop_oneof![policy(), paying()], output in output(), signals in signals(), seed in any::<u64>(),
    ) {
        let options = all(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]);
        let request = merged(&request.0, &json!({ "model": "x", "temperature": 1.0, "seed": 7, "logit_bias": { "深": -1e-7, "": [null, true] } }));
        let body = spell(&request, &mut Choices::of(seed));
        let objects = fold(&request, &options, &Carry::New);
        for carry in [Carry::New, Carry::Derive, objects.next()] {
            let objects = fold(&request, &options, &carry);
            let (outcome, splices) = fold_body(&body, &options, &carry);
            prop_assert_eq!(serde_json::to_value(&outcome.plan).unwrap(), objects.plan.clone());
            prop_assert_eq!(splices.is_empty(), outcome.patches.is_empty());
            let mut end = 0;
            for splice in &splices {
                prop_assert!(end <= splice.range.start && splice.range.end <= body.len(), "{:?} behind {end}", splice.range);
                end = splice.range.end;
            }
            let spliced = splice::spliced(body.as_bytes(), &splices);
            let read: Value = serde_json::from_slice(&spliced).map_err(|error| TestCaseError::fail(format!("{error}: {}", String::from_utf8_lossy(&spliced))))?;
            prop_assert_eq!(floats(&read), floats(&merged(&request, &json!({ "messages": objects.output.clone() }))));
        }
    }
}
