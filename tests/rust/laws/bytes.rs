//! Law 2 over bytes: outside a splice the output is the input, however the input was spelt; and what it says is what the objects' way says.

use proptest::prelude::*;
use serde_json::json;

use super::{all, cases, converted};
use crate::histories::{output, paying, policy, request, signals};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, merged, send, send_bytes};
use crate::twin::every_wire;

every_wire! {
    bytes_outside_splices_are_the_inputs covers 9,
}

proptest! {
    #![proptest_config(cases(400))]

    fn bytes_outside_splices_are_the_inputs(
        request in request(), policy in prop_oneof![policy(), paying()], output in output(), signals in signals(), seed in any::<u64>(),
    ) {
        let options = all(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]);
        let (request, options) = converted(&request.0, &options);
        let request = merged(&request, &json!({ "user": "x", "temperature": 1.0, "seed": 7, "logit_bias": { "深": -1e-7, "": [null, true] } }));
        let body = spell(&request, &mut Choices::of(seed));
        let objects = send(&request, &options, &Carry::New);
        for carry in [Carry::New, Carry::Derive, objects.next()] {
            let objects = send(&request, &options, &carry);
            let (outcome, splices, read) = send_bytes(&body, &options, &carry);
            prop_assert_eq!(serde_json::to_value(&outcome.plan).unwrap(), objects.plan.clone());
            prop_assert_eq!(splices.is_empty(), outcome.patches.is_empty());
            let mut end = 0;
            for splice in &splices {
                prop_assert!(end <= splice.range.start && splice.range.end <= body.len(), "{:?} behind {end}", splice.range);
                end = splice.range.end;
            }
            prop_assert_eq!(floats(&read), floats(&objects.body));
        }
    }
}
