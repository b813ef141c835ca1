//! `wire::gemini`, what is particular to it: its spellings, requests and shapes. Laws and cases run on it through its
//! [`twin`](crate::twin::gemini).

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::history::View;
use warmfold::wire::patch::Patch;
use warmfold::wire::{Request, splice};
use warmfold::{Format, Tape};

use crate::histories::{long_request, output, policy, request, signals};
use crate::laws::alike::weightless;
use crate::laws::total::{any_json, damage};
use crate::laws::{all, cases};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, Edit, at_length, call_lengths, merged, send_bytes, try_send};
use crate::twin::gemini::TWIN;
use crate::twin::gemini::from_chat::{Ways, from_chat};

mod broken;
mod requests;
mod shapes;

/// What the splices make of the request's bytes.
fn spliced(body: &str, patches: &[Patch]) -> Value {
    let tape = Tape::from_json(body).unwrap();
    let request = Request::of(tape.root());
    let list = request.messages.unwrap();
    let view = Format::Gemini.read(&request, None).unwrap();
    let splices = splice::of_request(tape.root(), list, &view.nodes, patches, body.as_bytes());
    serde_json::from_slice(&splice::spliced(body.as_bytes(), &splices)).expect("what is spliced is JSON")
}

/// Lets a test look at what is read.
fn read<T>(request: &Value, look: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(request.to_string()).unwrap();
    look(&Format::Gemini.read(&Request::of(tape.root()), None).unwrap())
}

/// A Chat request in one of the spellings.
fn written(chat: &Value, ways: Ways) -> Value {
    let messages = (TWIN.sayable)(chat["messages"].as_array().unwrap());
    from_chat(&merged(chat, &json!({ "messages": messages })), ways).request
}

fn ways() -> impl Strategy<Value = Ways> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(ids, sdk, snake)| Ways { ids, sdk, snake })
}

proptest! {
    #![proptest_config(cases(200))]

    /// As a REST body or as the SDK's parameters, in camel or in snake case.
    #[test]
    fn however_it_is_written(request in request(), policy in policy(), output in output(), signals in signals(), ways in ways(), seed in any::<u64>()) {
        let (request, options) = (written(&request.0, ways), all(&[&policy.0, &output.0, &signals.0, &json!({ "usage": null })]));
        let sent = TWIN.send(&request, &options, &Carry::New);
        let (_, _, read) = send_bytes(&spell(&request, &mut Choices::of(seed)), &sent.options, &Carry::New);
        prop_assert_eq!(floats(&read), floats(&sent.body));
    }

    /// Where calls have no ids, names and order pair them.
    #[test]
    fn names_do_for_ids(request in long_request(), policy in policy(), by_budget in any::<bool>()) {
        let options = weightless(&policy.0, by_budget);
        let mut carry = [Carry::New, Carry::New];
        for length in call_lengths(request.0["messages"].as_array().unwrap()) {
            let request = at_length(&request.0, length);
            let sent = [0, 1].map(|way| TWIN.send(&written(&request, Ways { ids: way == 1, sdk: false, snake: false }), &options, &carry[way]));
            let [without, with]: [Vec<Edit>; 2] = [sent[0].edits(), sent[1].edits()];
            prop_assert_eq!(without, with);
            carry = [sent[0].next(), sent[1].next()];
        }
    }

    /// Law 10: with one value something else it is folded as it then is, or refused with the path to the fault.
    #[test]
    fn damaged(request in request(), ways in ways(), policy in policy(), output in output(), at in any::<prop::sample::Index>(), with in any_json()) {
        let mut request = written(&request.0, ways);
        damage(&mut request, at, with);
        if let Ok(sent) = try_send(&request, &all(&[&policy.0, &output.0, &json!({ "dropReasoning": true })]), &Carry::Derive)
            && request.get("contents").is_some_and(|contents| !contents.is_null())
        {
            prop_assert_eq!(spliced(&request.to_string(), &sent.outcome.patches), sent.body);
        }
    }
}
