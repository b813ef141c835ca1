//! Law 2: whatever the bytes, a folded body differs from them in the splices only, and says what the patched values say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use warmfold::planner::Given;
use warmfold::wire::{Request, splice};
use warmfold::{Options, Tape, fold};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, body)) = bytes.split_first() else { return };
    let marks = ["none", "anthropic", "openai"][usize::from(choice % 3)];
    let options = json!({
        "preset": "spec", "budgetTokens": 1, "protectRecentTurns": 0, "maxToolResultBytes": 1, "keepHeadBytes": 1, "keepTailBytes": 1,
        "minSavedBytes": 1, "marks": marks, "contextBlock": if choice & 8 == 0 { "" } else { "block" },
    });
    let options = Options::from_json(options).unwrap();
    let Ok(tape) = Tape::from_json(body) else { return };
    let request = Request::of(tape.root());
    let Ok(outcome) = fold::fold(&request, &options, Given::New) else { return };
    let messages = request.messages.unwrap();
    let splices = splice::of_request(tape.root(), messages, &messages.children().collect::<Vec<_>>(), &outcome.patches, body);
    let mut end = 0;
    for splice in &splices {
        assert!(end <= splice.range.start && splice.range.end <= body.len());
        end = splice.range.end;
    }
    let folded = splice::spliced(body, &splices);
    let folded = Tape::from_json(&folded).expect("a folded body is JSON");
    let mut expected = tape.root().to_json();
    outcome.patches.iter().for_each(|patch| patch.apply_to_request(&mut expected, "messages"));
    assert_eq!(folded.root().to_json(), expected);
});
