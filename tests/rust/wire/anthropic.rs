//! `wire::anthropic`: against its Chat twin, against the provider's rules, and block by block.

use serde_json::Value;
use warmfold::Tape;
use warmfold::history::View;
use warmfold::wire::patch::Patch;
use warmfold::wire::{Request, splice};

use crate::support::{Call, Carry, fold, merged};

mod agrees;
mod blocks;
mod broken;
mod compaction;
mod corpus;
mod from_chat;
mod keeps_laws;
mod marks;
mod places;
mod system;
mod thinking;
pub mod validator;

/// A request folded, and the whole of what is sent.
struct Folded {
    call: Call,
    sent: Value,
}

/// Folds a request as this format, though it might be read as another.
fn folded(request: &Value, options: &Value, carry: &Carry) -> Folded {
    let call = fold(request, &merged(&serde_json::json!({ "format": "anthropic" }), options), carry);
    let mut sent = request.clone();
    call.outcome.patches.iter().for_each(|patch| patch.apply_to_request(&mut sent, "messages"));
    assert_eq!(sent["messages"], call.output, "patches of the request are none of its messages");
    Folded { call, sent }
}

/// What the splices make of the request's bytes.
fn spliced(body: &str, patches: &[Patch]) -> Value {
    let tape = Tape::from_json(body).unwrap();
    let array = tape.root().get("messages").unwrap();
    let splices = splice::of_request(tape.root(), array, &array.children().collect::<Vec<_>>(), patches, body.as_bytes());
    serde_json::from_slice(&splice::spliced(body.as_bytes(), &splices)).expect("what is spliced is JSON")
}

/// Lets a test look at what is read.
fn read<T>(request: &Value, look: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(request.to_string()).unwrap();
    look(&warmfold::Format::Anthropic.read(&Request::of(tape.root()), None).unwrap())
}
