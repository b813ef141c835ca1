//! `history::phase`: the state machine, and the exchanges that it is asked of.

use serde_json::{Value, json};
use warmfold::Tape;
use warmfold::history::exchanges::{self, Reading};
use warmfold::history::kinds::ToolKind;
use warmfold::history::phase::{Did, Phase, Phases};
use warmfold::wire::Request;

use crate::support::{asks, assistant, exchange, history, result, user};
use crate::twin::{self, for_each_wire};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

use Phase::{Conclusion, Execution, Exploration, Verification};

/// One exchange a letter: read, write, verify (`V`: it failed), run, memory, other; `.` answers, `|` is a turn of the user.
fn phases(exchanges: &str) -> Vec<Option<Phase>> {
    let mut state = Phases::default();
    let mut found = Vec::new();
    for letter in exchanges.chars() {
        let kind = match letter {
            '|' => {
                state.turn();
                continue;
            }
            '.' => {
                found.push(state.exchange(&[]));
                continue;
            }
            'r' => ToolKind::Read,
            'w' => ToolKind::Write,
            'v' | 'V' => ToolKind::Verify,
            'x' => ToolKind::Run,
            'm' => ToolKind::Memory,
            _ => ToolKind::Other,
        };
        found.push(state.exchange(&[Did { failed: letter == 'V', ..Did::of(kind) }]));
    }
    found
}

#[test]
fn the_machine() {
    let told = |exchanges: &str| -> String {
        let letter = |phase: Option<Phase>| phase.map_or('-', |phase| ['E', 'X', 'V', 'C'][phase as usize]);
        phases(exchanges).into_iter().map(letter).collect()
    };
    for (exchanges, expected) in [
        ("rrwv.", "EEXVC"),
        // Before the first tool call there is no phase, however much is said.
        ("..|.", "---"),
        ("x", "E"),
        ("m", "E"),
        // What leads nowhere stays.
        ("wxmo", "XXXX"),
        ("vxo.o", "VVVCC"),
        // A failed check is looked into; a write leads back.
        ("wVrxrwv.", "XVVVVXVC"),
        ("wVrvr", "XVVVE"),
        ("wVVr", "XVVV"),
        // Another look after all went well is a new one.
        ("wvr", "XVE"),
        ("wrw", "XEX"),
        // A turn begins anew, and forgets what failed.
        ("wV|r", "XVE"),
        ("wv.|x", "XVCE"),
        ("w.|.", "XCC"),
        ("wV.r", "XVCE"),
    ] {
        assert_eq!(told(exchanges), expected, "{exchanges}");
    }
}

#[test]
fn of_several_calls_the_furthest_counts_and_the_hosts_word_goes_first() {
    let did = |kinds: &[ToolKind]| Phases::default().exchange(&kinds.iter().map(|kind| Did::of(*kind)).collect::<Vec<_>>());
    assert_eq!(did(&[ToolKind::Write, ToolKind::Read]), Some(Execution));
    assert_eq!(did(&[ToolKind::Verify, ToolKind::Run, ToolKind::Write]), Some(Verification));
    for (kind, phase) in [(ToolKind::Run, Conclusion), (ToolKind::Write, Exploration), (ToolKind::Other, Verification)] {
        assert_eq!(Phases::default().exchange(&[Did { told: Some(phase), ..Did::of(kind) }]), Some(phase), "{kind:?}");
    }
    let mut failing = Phases::default();
    failing.exchange(&[Did { failed: true, ..Did::of(ToolKind::Verify) }]);
    assert_eq!(failing.exchange(&[Did { told: Some(Exploration), ..Did::of(ToolKind::Read) }]), Some(Exploration));
}

#[test]
fn names_are_those_that_are_written() {
    for (name, phase) in Phase::NAMES {
        assert_eq!(json!(phase), json!(name));
    }
}

fn session() -> Vec<Value> {
    history(&[
        &[user("fix the parser"), assistant("I will look.")],
        &exchange("a", "read_file", json!({ "path": "a.rs" }), "fn a() {}"),
        &[asks(&[("b", "read_file", json!({ "path": "b.rs" })), ("c", "edit_file", json!({ "path": "a.rs", "content": "x" }))])],
        &[result("b", "fn b() {}"), result("c", "edited")],
        &exchange("d", "bash", json!({ "command": "cargo test" }), "test result: FAILED. 3 passed; 1 failed; 0 ignored"),
        &exchange("e", "read_file", json!({ "path": "c.rs" }), "fn c() {}"),
        &[assistant("It is done."), user("thanks"), assistant("You are welcome.")],
    ])
}

/// The phase of each exchange of a history on the wire of this test, in walks that begin anew after so many exchanges.
fn of_session(step: usize) -> Vec<Option<Phase>> {
    let request = (twin::current().from_chat)(&json!({ "messages": session() })).request;
    let tape = Tape::from_json(request.to_string()).unwrap();
    let view = twin::current().format.read(&Request::of(tape.root()), None).unwrap();
    let reading = Reading { action: &|call| view.action(call, None, None), told: &|_| None, reads_runs: false };
    let (mut state, mut from, mut found) = (Phases::default(), 0, Vec::new());
    while from < view.messages.len() {
        let mut to = from;
        for exchange in exchanges::of(&view, from..view.messages.len()).take(step) {
            found.push(exchange.phase(&exchange.facts(&view, &reading, &mut |_| ()), &mut state));
            to = exchange.messages.end;
        }
        from = if to == from { view.messages.len() } else { to };
    }
    found
}

fn exchanges_have_phases_and_are_taken_one_at_a_time() {
    let expected = [None, Some(Exploration), Some(Execution), Some(Verification), Some(Verification), Some(Conclusion), Some(Conclusion)];
    let whole = of_session(usize::MAX);
    if twin::current().is_chat() {
        assert_eq!(whole, expected);
    }
    // Two answers in a row are one on some wires.
    let in_order = |of: &[Option<Phase>]| {
        of.iter().copied().filter(|phase| phase.is_some()).fold(Vec::new(), |mut all, phase| {
            if all.last() != Some(&phase) {
                all.push(phase);
            }
            all
        })
    };
    assert_eq!(in_order(&whole), in_order(&expected));
    for step in 1..4 {
        assert_eq!(of_session(step), whole, "{step} at a time");
    }
}

for_each_wire!(crate::twin::on_each! exchanges_have_phases_and_are_taken_one_at_a_time);
