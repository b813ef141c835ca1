//! `wire::anthropic`, what is particular to it, block by block. Laws and cases run on it through its [`twin`](crate::twin::anthropic).

use serde_json::Value;
use warmfold::Tape;
use warmfold::history::View;
use warmfold::wire::patch::Patch;
use warmfold::wire::{Request, splice};

use crate::support::{Carry, Sent};
use crate::twin::anthropic::TWIN;

mod blocks;
mod broken;
mod compaction;
mod corpus;
mod keeps_laws;
mod marks;
mod system;
mod thinking;

/// Folds a request as this format, though it might be read as another.
fn folded(request: &Value, options: &Value, carry: &Carry) -> Sent {
    TWIN.send(request, options, carry)
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
