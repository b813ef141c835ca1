//! What is particular to this wire, over generated histories: instructions beside the items, and items of every kind.

use proptest::prelude::*;
use serde_json::json;

use super::items::every_item;
use crate::histories::{output, paying, policy, request, signals};
use crate::laws::alike::reads_on;
use crate::laws::cases;
use crate::laws::total::{any_json, damage, sends_or_explains};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, merged, send_bytes};
use crate::twin::openai_responses::{TWIN, from_chat::from_chat};

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn instructions_may_stand_apart(
        request in request(), policy in prop_oneof![policy(), paying()], output in output(), signals in signals(), empty in any::<bool>(), seed in any::<u64>(),
    ) {
        let request = merged(&from_chat(&request.0).request, &json!({ "instructions": if empty { "" } else { "Be brief." } }));
        let options = merged(&merged(&policy.0, &output.0), &merged(&signals.0, &json!({ "usage": null })));
        let body = spell(&request, &mut Choices::of(seed));
        for carry in [Carry::New, Carry::Derive] {
            let sent = TWIN.send(&request, &options, &carry);
            let (_, _, read) = send_bytes(&body, &sent.options, &carry);
            prop_assert_eq!(floats(&read), floats(&sent.body));
        }
    }

    /// Law 10, over items of every kind.
    #[test]
    fn damaged_items_fold_or_explain(damages in prop::collection::vec((any::<prop::sample::Index>(), any_json()), 1..4), policy in policy(), marks in any::<bool>()) {
        let mut input = json!(every_item());
        damages.into_iter().for_each(|(at, with)| damage(&mut input, at, with));
        let options = merged(&policy.0, &json!({ "marks": if marks { "openai" } else { "none" } }));
        sends_or_explains(&TWIN, &json!({ "input": input }), &options, &Carry::Derive, &["input"])?;
    }

    #[test]
    fn items_are_read_in_two_goes(at in any::<prop::sample::Index>()) {
        reads_on(&TWIN, &json!({ "input": every_item() }), at)?;
    }
}
