//! The laws call by call over recorded conversations of real agents, where the corpus is there.
//!
//! Calls grow dearer with the length of a history, so an oracle that reads all of it looks at every call of a short conversation
//! and at every few of a long one; what holds between two calls is asked of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use warmfold::history::kinds::ToolKind;

use crate::oracle;
use crate::support::{Carry, at_length, call_lengths, carry_through, fold};

/// The conversations by name; `None`, and a line that says so, where there are none.
fn conversations() -> Option<Vec<(String, Value)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/openai");
    let Ok(files) = fs::read_dir(folder) else {
        println!("skipped: there is no ../shared/corpus/openai");
        return None;
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    assert!(!paths.is_empty(), "a corpus holds conversations");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a conversation can be read");
        let file: Value = serde_json::from_str(&text).expect("a conversation is JSON");
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        (name, json!({ "messages": file["messages"], "tools": file["tools"] }))
    };
    Some(paths.into_iter().map(read).collect())
}

/// The tool names of the conversations, labelled by hand.
const TOOLS: &[(ToolKind, &str)] = &[
    (ToolKind::Read, "read Read read_files open get_reservation_details get_user_details task-master-ai__get_task"),
    (
        ToolKind::Search,
        "Grep search find_file web_search WebSearch ToolSearch search_tool_bm25 search_direct_flight search_onestop_flight context7__resolve-library-id",
    ),
    (ToolKind::List, "Glob mcp__claude-in-chrome__tabs_context_mcp"),
    (
        ToolKind::Fetch,
        "WebFetch web_fetch web_browser_go gitmcp__fetch_generic_url_content context7__get-library-docs mcp__claude-in-chrome__navigate mcp__plugin_playwright_playwright__browser_take_screenshot",
    ),
    (
        ToolKind::Write,
        "edit Edit edit_file editor str_replace_editor write Write create insert submit KillShell web_browser_click update_reservation_flights book_reservation cancel_reservation task-master-ai__add_task task-master-ai__set_task_status",
    ),
    (ToolKind::Run, "bash Bash shell shell_command execute_bash run_commands python browser mcp__claude-in-chrome__computer"),
    (
        ToolKind::Memory,
        "TodoWrite think update_plan ExitPlanMode AskUserQuestion mcp__tools__AskQuestions Skill memory__add_observations memory__create_entities memory__delete_entities",
    ),
    (ToolKind::Other, "Task task TaskOutput subagent mcp__tools__Agents calculate task-master-ai__next_task"),
];

#[test]
fn recorded_tool_names_have_their_kinds() {
    let Some(conversations) = conversations() else { return };
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for (_, request) in &conversations {
        let messages = request["messages"].as_array().unwrap().iter();
        for call in messages.filter_map(|message| message["tool_calls"].as_array()).flatten() {
            *calls.entry(call["function"]["name"].as_str().unwrap_or("").to_owned()).or_default() += 1;
        }
    }
    let labelled = |name: &str| TOOLS.iter().find(|(_, names)| names.split(' ').any(|known| known == name)).map(|(kind, _)| *kind);
    let wrong: Vec<&String> = calls.keys().filter(|name| labelled(name) != Some(ToolKind::of_name(name))).collect();
    let wrong_calls: usize = wrong.iter().map(|name| calls[*name]).sum();
    let all: usize = calls.values().sum();
    println!("{} of {} names, {} of {all} calls as labelled", calls.len() - wrong.len(), calls.len(), all - wrong_calls);
    assert!(wrong.is_empty(), "not as labelled: {wrong:?}");
}

/// What hosts ask for: the specification as it ships, and settings that fold early and often.
fn settings() -> [Value; 3] {
    [
        json!({ "preset": "spec" }),
        json!({ "budgetTokens": 12_000, "floorRatio": 0.75, "protectRecentTurns": 2, "marks": "anthropic", "contextBlock": "The project is a demo." }),
        json!({ "budgetTokens": 3000, "floorRatio": 1, "maxToolResultBytes": 600, "keepHeadBytes": 200, "keepTailBytes": 100, "protectRecentTurns": 1 }),
    ]
}

/// At most this many calls of a conversation are looked at in full.
const LOOKED_AT: usize = 24;

#[test]
fn recorded_conversations_keep_the_laws() {
    let Some(conversations) = conversations() else { return };
    let (mut calls_seen, mut edits_seen) = (0, 0);
    for (name, request) in &conversations {
        let lengths = spread(&call_lengths(request["messages"].as_array().unwrap()));
        for options in settings() {
            let calls = carry_through(request, &lengths, |_| options.clone());
            for (call, length) in calls.iter().zip(&lengths) {
                oracle::one_call(call).unwrap_or_else(|fault| panic!("{name} at {length} messages: {fault}"));
            }
            for (two, length) in calls.windows(2).zip(&lengths[1..]) {
                oracle::next_call(&two[0], &two[1]).unwrap_or_else(|fault| panic!("{name} at {length} messages: {fault}"));
            }
            calls_seen += calls.len();
            edits_seen += calls.last().map_or(0, |call| call.edits().len());
        }
    }
    assert!(calls_seen > 1000 && edits_seen > 500, "a test that looks at nothing: {calls_seen} calls, {edits_seen} edits");
}

/// Evenly spread over all calls, the last one included.
fn spread(lengths: &[usize]) -> Vec<usize> {
    let every = lengths.len().div_ceil(LOOKED_AT);
    let mut spread: Vec<usize> = lengths.iter().rev().step_by(every).copied().collect();
    spread.reverse();
    spread
}

#[test]
fn recorded_conversations_settle() {
    let Some(conversations) = conversations() else { return };
    for (name, request) in &conversations {
        for options in settings() {
            let once = fold(request, &options, &Carry::Derive);
            let twice = fold(request, &options, &once.next());
            assert!(!twice.outcome.folded, "{name} with {options}: deciding again added {:?}", twice.new_edits());
            assert_eq!(twice.plan, once.plan, "{name} with {options}");
            assert!(twice.output == once.output, "{name} with {options}: deciding again changed messages");
        }
    }
}

#[test]
fn recorded_conversations_are_derived_as_they_are_carried() {
    let Some(conversations) = conversations() else { return };
    for (name, request) in &conversations {
        let lengths = call_lengths(request["messages"].as_array().unwrap());
        if lengths.len() > 80 {
            continue; // carrying takes every call, each as long as its history
        }
        for options in settings() {
            let carried = carry_through(request, &lengths, |_| options.clone());
            for (call, length) in carried.iter().zip(&lengths).rev().step_by(7) {
                let derived = fold(&at_length(request, *length), &options, &Carry::Derive);
                assert_eq!(derived.plan, call.plan, "{name} at {length} messages");
                assert_eq!(derived.sent.body, call.sent.body, "{name} at {length} messages");
            }
        }
    }
}
