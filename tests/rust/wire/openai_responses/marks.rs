//! Where marks and the context block stand.

use serde_json::{Value, json};
use warmfold::history::{BlockPlace, View};
use warmfold::tape::Tape;
use warmfold::wire::{Changes, Request};
use warmfold::{Format, options::Marks};

use super::{call, fold_items, output, thought};
use crate::support::{Carry, Sent, assistant, eager, lines, merged, send, system, try_send, user};
use crate::twin::law::marks_in;
use crate::twin::openai_responses::validator::faults;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn view_of<'t>(tape: &'t Tape, block: Option<&str>) -> View<'t> {
    Format::OpenaiResponses.read(&Request::of(tape.root()), block).unwrap()
}

/// The parts in which marks stand, by item, when every item that can hold one is asked for one.
fn marked(items: &[Value]) -> (Value, Vec<u32>) {
    let mut input = json!({ "input": items });
    let tape = Tape::from_json(input.to_string()).unwrap();
    let view = view_of(&tape, None);
    let marks: Vec<usize> = (0..items.len()).filter(|at| view.messages[*at].markable).collect();
    let changes =
        Changes { edits: &[], segments: &[], block: None, marks: &marks, mark_block: false, mark_system: true, dialect: Marks::Openai, hour: false };
    let (patches, parts) = Format::OpenaiResponses.apply(&view, &changes).unwrap();
    assert_eq!(parts.len(), marks.len());
    patches.iter().for_each(|patch| patch.apply_to(&mut input["input"]));
    (input["input"].take(), parts)
}

#[test]
fn marks_stand_in_what_the_model_is_given() {
    let mark = json!({ "mode": "explicit" });
    let part = |text: &str| json!([{ "type": "input_text", "text": text, "prompt_cache_breakpoint": mark }]);
    let image = json!({ "type": "input_image", "image_url": "u" });
    let items = [
        system("rules"),
        user("hi"),
        json!({ "role": "user", "content": [{ "type": "input_text", "text": "look" }, image, { "type": "input_text", "text": " " }] }),
        thought("1"),
        assistant("so"),
        call("a", "f", json!({})),
        output("a", "done"),
        json!({ "type": "shell_call_output", "call_id": "b", "output": [{ "stdout": "x", "stderr": "", "outcome": {} }] }),
        json!({ "type": "local_shell_call_output", "id": "c", "output": "x" }),
        user(""),
        json!({ "type": "custom_tool_call_output", "call_id": "d", "output": [{ "type": "input_text", "text": "done" }] }),
    ];
    let (sent, parts) = marked(&items);
    assert_eq!(parts, [0, 0, 1, 0, 0]);
    assert_eq!(
        (&sent[0]["content"], &sent[1]["content"], &sent[6]["output"], &sent[10]["output"]),
        (&part("rules"), &part("hi"), &part("done"), &part("done"))
    );
    assert_eq!(sent[2]["content"][1]["prompt_cache_breakpoint"], mark);
    for unmarked in [3, 4, 5, 7, 8, 9] {
        assert_eq!(sent[unmarked], items[unmarked]);
    }
}

/// The tail's is the provider's own; the others are ours, at most three, and can be removed again.
#[test]
fn marks_can_be_removed_again() {
    let step = |id: usize| {
        let id = id.to_string();
        [thought(&id), call(&id, "run", json!({ "n": id })), output(&id, lines(&id, 40))]
    };
    let items: Vec<Value> = [system("rules"), user("go")].into_iter().chain((0..12).flat_map(step)).collect();
    let options = merged(&eager(), &json!({ "milestoneTokens": 100 }));
    let plain = fold_items(&items, &options);
    for dialect in ["openai", "anthropic"] {
        let folded = fold_items(&items, &merged(&options, &json!({ "marks": dialect })));
        assert!(!marks_in(&plain.body, &folded.body).unwrap().is_empty(), "they differ in marks alone");
        assert_eq!(folded.plan, plain.plan);
    }
    let folded = fold_items(&items, &merged(&options, &json!({ "marks": "openai" })));
    assert_eq!(folded.body.to_string().matches("prompt_cache_breakpoint").count(), 3);
    assert_eq!(faults(&folded.body), vec![]);
}

#[test]
fn marks_of_the_callers_count() {
    let own = json!({ "role": "user", "content": [{ "type": "input_text", "text": "mine", "prompt_cache_breakpoint": { "mode": "explicit" } }] });
    let items: Vec<Value> = [system("rules"), own].into_iter().chain((0..6).flat_map(|_| [assistant("so"), user(&lines("words", 100))])).collect();
    let folded = fold_items(&items, &json!({ "marks": "openai", "milestoneTokens": 500 }));
    assert_eq!(folded.body.to_string().matches("prompt_cache_breakpoint").count(), 3);
    assert_eq!(folded.output[1], items[1]);
}

fn with_block(request: Value) -> Sent {
    send(&request, &json!({ "contextBlock": "notes" }), &Carry::New)
}

#[test]
fn the_block_goes_behind_what_is_said_first() {
    let folded = with_block(json!({ "instructions": "Be brief.", "input": [user("hi")] }));
    assert_eq!(folded.body, json!({ "instructions": "Be brief.\n\nnotes", "input": [user("hi")] }));
    let folded = with_block(json!({ "instructions": "Be brief.", "input": "hi" }));
    assert_eq!(folded.body, json!({ "instructions": "Be brief.\n\nnotes", "input": "hi" }));
    let folded = with_block(json!({ "input": "hi" }));
    assert_eq!(folded.body, json!({ "instructions": "notes", "input": "hi" }));
    let folded = with_block(json!({ "instructions": "Be brief.", "input": [system("rules"), user("hi")] }));
    assert_eq!((&folded.body["instructions"], &folded.output[0]), (&json!("Be brief."), &system("rules\n\nnotes")));
    let folded = with_block(json!({ "input": [user("hi")] }));
    assert_eq!((&folded.output[0], &folded.output[1]), (&system("notes"), &user("hi")));
    let tools = json!({ "type": "additional_tools", "role": "developer", "tools": [] });
    let folded = with_block(json!({ "input": [system("rules"), tools, user("hi")] }));
    assert_eq!((&folded.output[0], &folded.output[1]), (&system("rules\n\nnotes"), &tools));
}

#[test]
fn the_block_becomes_a_part_among_parts() {
    let rules = json!({ "role": "developer", "content": [{ "type": "input_text", "text": "rules" }] });
    let folded = send(&json!({ "input": [rules, user("hi")] }), &json!({ "contextBlock": "notes", "marks": "anthropic" }), &Carry::New);
    let mark = json!({ "type": "ephemeral" });
    let expected = json!([{ "type": "input_text", "text": "rules" }, { "type": "input_text", "text": "notes", "cache_control": mark }]);
    assert_eq!(folded.output[0]["content"], expected);
}

#[test]
fn a_block_that_is_there_is_recognised() {
    for request in [json!({ "instructions": "Be brief.", "input": [user("hi")] }), json!({ "input": "hi" }), json!({ "input": [user("hi")] })] {
        let again = with_block(with_block(request).body);
        assert!(again.outcome.patches.is_empty(), "{}", again.body);
    }
}

/// Its size is what the prompt with the block in it is read as.
#[test]
fn the_block_counts() {
    for request in [
        json!({ "instructions": "Be brief.", "input": [user("hi")] }),
        json!({ "input": "hi" }),
        json!({ "input": [user("hi")] }),
        json!({ "input": [system("rules")] }),
    ] {
        let folded = with_block(request.clone());
        let (told, read) = (folded.outcome.report.tokens_before, with_block(folded.body).outcome.report.tokens_before);
        assert!(told.abs_diff(read) <= 4, "{told} and {read}: {request}"); // a field that was not there has a name
    }
}

/// `fold` is handed the items alone: it cannot return instructions.
#[test]
fn a_block_beside_instructions_that_are_not_returned_is_refused() {
    let request = json!({ "messages": [thought("1"), user("hi")], "system": "Be brief." });
    let fault = try_send(&request, &json!({ "contextBlock": "notes" }), &Carry::New).err().unwrap();
    assert_eq!((fault.code().as_str(), fault.path()), ("invalid_option", "options.contextBlock"));
    assert!(fault.message().contains("foldRequest"));
    let tape = Tape::from_json(json!({ "instructions": "Be brief.\n\nnotes", "input": [] }).to_string()).unwrap();
    assert_eq!(view_of(&tape, Some("notes")).block, BlockPlace::Nowhere);
}
