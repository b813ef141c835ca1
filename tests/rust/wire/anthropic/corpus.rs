//! Recorded conversations in this format, and the same ones as their Chat twins have them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use warmfold::history::EntryKind;
use warmfold::tape::{Tape, hex};
use warmfold::wire::Request;
use warmfold::{Format, history::View};

use super::{folded, read, spliced};
use crate::support::{Carry, Edit, at_length, call_lengths, fold};
use crate::twin::anthropic::is_thinking;
use crate::twin::anthropic::validator::faults;

/// The conversations by name, each with its twin; `None`, and a line that says so, where there are none.
fn conversations() -> Option<Vec<(String, Value, Value)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let Ok(files) = fs::read_dir(folder.join("anthropic")) else {
        println!("skipped: there is no ../shared/corpus/anthropic");
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| -> Value {
        let text = fs::read_to_string(&path).expect("a conversation can be read");
        let mut file: Value = serde_json::from_str(&text).expect("a conversation is JSON");
        file.as_object_mut().expect("it is an object").remove("source");
        file
    };
    let both = |path: PathBuf| {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let twin = folder.join("openai").join(path.file_name().expect("it has a name"));
        (name, read(path), read(twin))
    };
    Some(paths.into_iter().map(both).collect())
}

/// At most so many calls of a conversation.
fn spread(calls: usize, most: usize) -> Vec<usize> {
    let mut spread: Vec<usize> = (0..calls).rev().step_by(calls.div_ceil(most).max(1)).collect();
    spread.reverse();
    spread
}

#[test]
fn recorded_conversations_keep_the_laws_and_the_rules() {
    let Some(conversations) = conversations() else { return };
    let settings = [
        json!({ "preset": "spec", "budgetTokens": 8000, "marks": "anthropic" }),
        json!({ "preset": "thrifty", "dropReasoning": true, "marks": "anthropic", "cache": "anthropic-1h" }),
        json!({ "budgetTokens": 3000, "maxToolResultBytes": 600, "keepHeadBytes": 200, "keepTailBytes": 100, "protectRecentTurns": 1, "dropReasoning": true }),
    ];
    let (mut calls, mut edits, mut known_faults, mut thoughts) = (0, 0, 0, 0);
    for (name, request, _) in &conversations {
        assert_eq!(recognised(request), Format::Anthropic, "{name}");
        known_faults += faults(request).len();
        let lengths = call_lengths(request["messages"].as_array().unwrap());
        for options in &settings {
            let mut carry = Carry::New;
            for call in spread(lengths.len(), 12) {
                let folded = folded(&at_length(request, lengths[call]), options, &carry);
                assert_eq!(spliced(&folded.request.to_string(), &folded.outcome.patches), folded.body, "{name} in bytes");
                carry = folded.next();
                calls += 1;
                if call + 1 == lengths.len() {
                    edits += folded.edits().len();
                    thoughts += folded.edits().iter().filter(|edit| edit.rule == "reasoning").count();
                }
            }
        }
    }
    println!(
        "{} conversations, {calls} calls, {edits} edits in the last, {thoughts} of them of thinking; {known_faults} faults before folding",
        conversations.len()
    );
    assert!(calls > 300 && edits > 300, "a test that looks at nothing: {calls} calls, {edits} edits");
}

fn recognised(request: &Value) -> Format {
    let tape = Tape::from_json(request.to_string()).unwrap();
    Format::recognise(&Request::of(tape.root())).unwrap()
}

fn results(view: &View<'_>) -> BTreeSet<String> {
    view.entries.iter().filter(|entry| entry.kind == EntryKind::Result).map(|entry| hex(entry.fingerprint())).collect()
}

/// What an edit does, without the address, which differs.
fn told(edit: &Edit) -> (String, String, String) {
    (edit.fingerprint.clone(), edit.rule.clone(), format!("{:?}", edit.pieces))
}

/// Twins do not have what only one of the two formats can say: which results failed, and answers of thinking alone.
fn levelled(request: &Value, twin: &Value) -> (Value, Value) {
    let (mut request, mut twin) = (request.clone(), twin.clone());
    let messages = request["messages"].as_array_mut().expect("it has messages");
    messages.retain(|message| message["role"] != "assistant" || !message["content"].as_array().is_some_and(|blocks| blocks.iter().all(is_thinking)));
    let results = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let failed: BTreeSet<&str> = results.filter(|block| block["is_error"] == true).filter_map(|block| block["tool_use_id"].as_str()).collect();
    for message in twin["messages"].as_array_mut().expect("it has messages") {
        if message["tool_call_id"].as_str().is_some_and(|id| failed.contains(id)) {
            message["is_error"] = true.into();
        }
    }
    (request, twin)
}

#[test]
fn recorded_conversations_are_decided_as_their_twins_are() {
    let Some(conversations) = conversations() else { return };
    let free = json!({ "cache": { "read": 1, "write": 1, "ttlMs": 300_000 }, "when": "pays" });
    for (policy, options, least) in
        [("no size decides", free, 1.0), ("as it ships", json!({}), 0.0), ("thrifty", json!({ "preset": "thrifty" }), 0.0)]
    {
        let (mut alike, mut all) = (0, 0);
        for (name, request, twin) in &conversations {
            let (request, twin) = &levelled(request, twin);
            let (ours, theirs) = (call_lengths(request["messages"].as_array().unwrap()), call_lengths(twin["messages"].as_array().unwrap()));
            assert_eq!(ours.len(), theirs.len(), "{name}");
            let tape = Tape::from_json(twin.to_string()).unwrap();
            let of_twin = results(&Format::OpenaiChat.read(&Request::of(tape.root()), None).unwrap());
            let common: BTreeSet<String> = read(request, results).intersection(&of_twin).cloned().collect();
            let (mut our_plan, mut their_plan) = (Carry::New, Carry::New);
            let (mut alike_here, mut all_here) = (0, 0);
            for call in spread(ours.len(), 24) {
                let one = folded(&at_length(request, ours[call]), &options, &our_plan);
                let other = fold(&at_length(twin, theirs[call]), &options, &their_plan);
                let edits = |edits: Vec<Edit>| edits.iter().filter(|edit| common.contains(&edit.fingerprint)).map(told).collect::<BTreeSet<_>>();
                let (one_edits, other_edits) = (edits(one.edits()), edits(other.edits()));
                alike_here += one_edits.intersection(&other_edits).count();
                all_here += one_edits.union(&other_edits).count();
                (our_plan, their_plan) = (one.next(), other.next());
            }
            if alike_here < all_here {
                println!("{policy}: {name} {alike_here} of {all_here}, {} texts in common", common.len());
            }
            (alike, all) = (alike + alike_here, all + all_here);
        }
        let share = alike as f64 / f64::from(u32::max(all as u32, 1));
        println!("{policy}: {alike} of {all} edits alike, call by call ({:.1}%)", share * 100.0);
        assert!(share >= least && all > 0, "{policy}: {alike} of {all}");
    }
}
