//! `render::digest`: the specification's narrative, the form of every line, and its size.

use serde_json::{Value, json};
use warmfold::Tape;
use warmfold::history::exchanges::Reading;
use warmfold::history::findings::Findings;
use warmfold::history::kinds::ToolKind;
use warmfold::history::phase::{Phase, Phases};
use warmfold::render::digest::{Call, Condensed, Digest, gather};
use warmfold::wire::Request;

use crate::support::{assistant, exchange, history, user};
use crate::twin::{self, for_each_wire};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const ROOM: usize = 4096;

fn call(tool: &str, kind: ToolKind, about: &str) -> Call {
    Call { subjects: vec![about.to_owned()], ..Call::of(tool, kind) }
}

fn condensed(phase: Phase, calls: Vec<Call>) -> Condensed {
    Condensed { phase: Some(phase), calls, ..Condensed::default() }
}

/// The lines behind the first.
fn narrative(exchanges: &[Condensed]) -> String {
    let text = Digest::of("warmfold", 2, exchanges, ROOM).text;
    text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap()
}

#[test]
fn the_narrative_of_the_specification() {
    let edit = || condensed(Phase::Execution, vec![call("edit", ToolKind::Write, "src/parser.rs")]);
    let check = Call { findings: Findings { errors: 1, ..Findings::default() }, ..Call::of("cargo_check", ToolKind::Verify) };
    let exchanges = [
        condensed(Phase::Exploration, vec![call("read", ToolKind::Read, "main.rs")]),
        condensed(Phase::Exploration, vec![call("read", ToolKind::Read, "lib.rs")]),
        edit(),
        edit(),
        condensed(Phase::Verification, vec![check]),
        edit(),
        condensed(Phase::Verification, vec![Call::of("cargo_test", ToolKind::Verify)]),
    ];
    assert_eq!(
        narrative(&exchanges),
        "[**Exploration:** Read main.rs, lib.rs (2 reads).]\n\
         [**Execution:** Edited src/parser.rs (3 edits).]\n\
         [**Verification:** cargo_check, cargo_test. Found: 1 error, 0 warnings.]\n"
    );
}

#[test]
fn the_sentences() {
    let run = |failed| Call { failed, ..call("bash", ToolKind::Run, "make clean") };
    let tests = |passed_tests, failed_tests| Call {
        findings: Findings { passed_tests, failed_tests, ..Findings::default() },
        ..call("bash", ToolKind::Verify, "cargo test")
    };
    for (exchange, expected) in [
        (
            condensed(Phase::Exploration, vec![call("ls", ToolKind::List, "src"), call("grep", ToolKind::Search, "fn main")]),
            "[**Exploration:** Listed src (1 listing). Searched fn main (1 search).]\n",
        ),
        (
            condensed(Phase::Exploration, vec![call("get", ToolKind::Fetch, "https://example.com")]),
            "[**Exploration:** Fetched https://example.com (1 fetch).]\n",
        ),
        (condensed(Phase::Execution, vec![run(false), run(true)]), "[**Execution:** Ran make clean (2 commands, 1 failed).]\n"),
        (condensed(Phase::Execution, vec![Call::of("todo_write", ToolKind::Memory)]), "[**Execution:** Called todo_write (1 call).]\n"),
        (
            condensed(Phase::Verification, vec![tests(12, 3), tests(15, 0)]),
            "[**Verification:** cargo test (2 runs). Found: 0 errors, 0 warnings, 3 of 30 tests failed.]\n",
        ),
        (
            Condensed { answer: Some("All is well [now].".to_owned()), ..condensed(Phase::Conclusion, vec![]) },
            "[**Conclusion:** Answered: All is well ?now?. (1 answer).]\n",
        ),
        (
            Condensed { answer: Some("\u{6df1}\u{5733}".to_owned()), ..condensed(Phase::Conclusion, vec![]) },
            "[**Conclusion:** Answered (1 answer).]\n",
        ),
        (Condensed::default(), "[**Before:** Answered (1 answer).]\n"),
        (
            Condensed {
                errors: vec!["error[E1]: bad".to_owned(), "error[E1]: bad".to_owned(), "x".repeat(500)],
                ..condensed(Phase::Verification, vec![Call::of("check", ToolKind::Verify)])
            },
            &*format!("[**Verification:** check. Found: 0 errors, 0 warnings.]\n[Errors: error(E1): bad; {}]\n", "x".repeat(120)),
        ),
    ] {
        assert_eq!(narrative(&[exchange]), expected);
    }
}

fn many(count: usize) -> Vec<Condensed> {
    (0..count).map(|file| condensed(Phase::Exploration, vec![call("read", ToolKind::Read, &format!("src/file{file}.rs"))])).collect()
}

#[test]
fn long_lists_are_counted_and_the_text_keeps_to_its_room() {
    let text = narrative(&many(38));
    assert!(text.contains("src/file0.rs, ") && text.ends_with("src/file23.rs and 14 more (38 reads).]\n"), "{text}");
    let exchanges = [many(38), vec![condensed(Phase::Verification, vec![call("bash", ToolKind::Verify, "make test")])]].concat();
    let first = Digest::of("warmfold", 80, &exchanges, 0).text;
    assert_eq!(first, "[warmfold: 80 messages condensed by the host's context manager to save context; nothing failed by that]\n");
    let (mut before, mut lengths) = (first.len(), 0);
    for room in 0..2000 {
        let text = Digest::of("warmfold", 80, &exchanges, room).text;
        assert!(text.len() <= room.max(first.len()) && text.len() >= before && text.starts_with(&first), "{room}: {text}");
        lengths += usize::from(text.len() > before);
        before = text.len();
    }
    assert!(lengths >= 6, "room is used as there is some: {lengths}");
}

#[cfg(not(target_arch = "wasm32"))]
proptest::proptest! {
    #[test]
    fn every_line_is_one_of_ascii_in_brackets(tool in ".{0,300}", about in "\\PC{0,40}\n?\\PC{0,200}", error in "\\PC{0,20}\n\\PC{0,20}", answer in ".{0,200}", room in 0usize..3000) {
        let calls = vec![Call { subjects: vec![about.clone()], ..Call::of(&tool, ToolKind::Run) }, Call::of(&tool, ToolKind::Read)];
        let exchange = Condensed { errors: vec![error], answer: Some(answer), ..condensed(Phase::Execution, calls) };
        let digest = Digest::of("warmfold", 3, &[exchange.clone(), Condensed { calls: vec![], ..exchange.clone() }], room);
        for line in digest.text.lines() {
            proptest::prop_assert!(line.is_ascii() && line.starts_with('[') && line.ends_with(']') && !line[1..line.len() - 1].contains(['[', ']']), "{}", line);
        }
        proptest::prop_assert!(digest.text.ends_with("]\n") && !digest.text.contains('\r'));
        proptest::prop_assert_eq!(&digest, &Digest::of("warmfold", 3, &[exchange.clone(), Condensed { calls: vec![], ..exchange }], room));
    }
}

fn session() -> Vec<Value> {
    history(&[
        &[user("fix the parser")],
        &exchange("a", "read_file", json!({ "path": "src/a.rs" }), "fn a() {}"),
        &exchange("b", "grep", json!({ "pattern": "parse" }), "src/a.rs:1: parse"),
        &exchange("c", "edit_file", json!({ "path": "src/a.rs", "content": "x" }), "edited src/a.rs"),
        &exchange(
            "d",
            "bash",
            json!({ "command": "cargo test  --lib" }),
            "error[E0308]: mismatched types\nerror: could not compile `a` (lib) due to 1 previous error\n",
        ),
        &exchange("e", "edit_file", json!({ "path": "src/b.rs", "content": "x" }), "Error: no such file: src/b.rs"),
        &[assistant("Done.\nAll of it."), user("thanks")],
    ])
}

fn a_history_is_told() {
    let request = (twin::current().from_chat)(&json!({ "messages": session() })).request;
    let tape = Tape::from_json(request.to_string()).unwrap();
    let view = twin::current().format.read(&Request::of(tape.root()), None).unwrap();
    let reading = Reading { action: &|call| view.action(call, None, None), told: &|_| None, reads_runs: true };
    let exchanges = gather(&view, 0..view.messages.len(), &mut Phases::default(), &reading);
    let digest = Digest::of("warmfold", 11, &exchanges, ROOM);
    assert_eq!(
        digest.text,
        "[warmfold: 11 messages condensed by the host's context manager to save context; nothing failed by that]\n\
         [**Exploration:** Read src/a.rs (1 read). Searched parse (1 search).]\n\
         [**Execution:** Edited src/a.rs, src/b.rs (2 edits, 1 failed).]\n\
         [**Verification:** cargo test --lib. Found: 1 error, 0 warnings.]\n\
         [**Conclusion:** Answered: Done. (1 answer).]\n\
         [Errors: error(E0308): mismatched types; Error: no such file: src/b.rs]\n"
    );
    assert_eq!(
        json!(digest.summary),
        json!({
            "messages": 11,
            "calls": [
                { "tool": "read_file", "calls": 1, "failed": 0 }, { "tool": "grep", "calls": 1, "failed": 0 },
                { "tool": "edit_file", "calls": 2, "failed": 1 }, { "tool": "bash", "calls": 1, "failed": 1 }
            ],
            "findings": { "errors": 1, "warnings": 0, "failedTests": 0, "passedTests": 0 },
            "phases": [
                { "phase": "exploration", "exchanges": 2 }, { "phase": "execution", "exchanges": 2 },
                { "phase": "verification", "exchanges": 1 }, { "phase": "conclusion", "exchanges": 1 }
            ],
            "filesRead": ["src/a.rs"], "filesEdited": ["src/a.rs", "src/b.rs"],
            "errors": ["error[E0308]: mismatched types", "Error: no such file: src/b.rs"]
        })
    );
}

for_each_wire!(crate::twin::on_each! a_history_is_told);
