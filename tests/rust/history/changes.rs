//! `history::changes`: which reads a later call has made out of date.

use serde_json::{Value, json};
use warmfold::Format;
use warmfold::history::changes::Changes;
use warmfold::history::{actions::same_file, failures::is_change_in_doubt};
use warmfold::tape::Tape;
use warmfold::wire::Request;

use crate::support::{asks, exchange, history, result, user};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// The message of each result that is out of date, and that of the change.
fn changed(messages: &[Value]) -> Vec<(usize, usize)> {
    let tape = Tape::from_json(json!({ "messages": messages }).to_string()).unwrap();
    let view = Format::OpenaiChat.read(&Request::of(tape.root()), None).unwrap();
    let mut changes = Changes::default();
    let (mut stale, mut of) = (Vec::new(), Vec::new());
    for (entry, found) in view.entries.iter().enumerate() {
        if let Some(call) = found.tool_call {
            stale.extend(changes.add(&view, entry, &view.action(call, None, None)));
        }
    }
    for entry in 0..view.entries.len() {
        of.extend(changes.of(entry).map(|by| (view.entries[entry].message, view.entries[by].message)));
    }
    stale.sort_unstable();
    assert_eq!(stale.iter().map(|entry| view.entries[*entry].message).collect::<Vec<_>>(), of.iter().map(|(read, _)| *read).collect::<Vec<_>>());
    of
}

/// A call of each tool and its result, from message 1 on.
fn run(calls: &[(&str, Value, &str)]) -> Vec<Value> {
    let rounds: Vec<Value> =
        calls.iter().enumerate().flat_map(|(at, (tool, arguments, says))| exchange(&format!("c{at}"), tool, arguments.clone(), says)).collect();
    history(&[&[user("go")], &rounds])
}

fn read(path: &str) -> (&'static str, Value, &'static str) {
    ("read", json!({ "path": path }), "fn main() {}")
}

fn write(path: &str) -> (&'static str, Value, &'static str) {
    ("edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" }), "done")
}

fn shell(command: &str) -> (&'static str, Value, &'static str) {
    ("bash", json!({ "command": command }), "")
}

const CHANGED: [(usize, usize); 1] = [(2, 4)];

#[test]
fn a_write_makes_an_earlier_read_stale() {
    assert_eq!(changed(&run(&[read("src/a.rs"), write("src/a.rs")])), CHANGED);
    assert_eq!(changed(&run(&[read("src/a.rs"), write("src/b.rs")])), []);
    assert_eq!(changed(&run(&[write("src/a.rs"), read("src/a.rs")])), [], "what is read afterwards is up to date");
}

/// One call names a file by its full path, the other from where it stands.
#[test]
fn relative_and_absolute_paths_are_one_file() {
    for (one, other) in
        [("/repo/src/a.rs", "src/a.rs"), ("./src/a.rs", "src//a.rs"), ("/repo/src/x/../a.rs", "/repo/src/a.rs"), ("C:\\r\\a.rs", "a.rs")]
    {
        assert_eq!(changed(&run(&[read(one), write(other)])), CHANGED, "{one} and {other}");
        assert_eq!(changed(&run(&[read(other), write(one)])), CHANGED, "{other} and {one}");
    }
    for (one, other) in [("/repo/src/a.rs", "/other/src/a.rs"), ("lib/a.rs", "src/a.rs"), ("aa.rs", "a.rs"), ("/repo/xsrc/a.rs", "src/a.rs")] {
        assert_eq!(changed(&run(&[read(one), write(other)])), [], "{one} and {other}");
    }
}

/// What failed has changed nothing.
#[test]
fn a_failed_write_changes_nothing() {
    for says in ["Error: old_string not found", "<tool_use_error>no</tool_use_error>", "{\"success\": false}", "permission denied"] {
        let (tool, arguments, _) = write("a.rs");
        assert_eq!(changed(&run(&[read("a.rs"), (tool, arguments, says)])), [], "{says}");
    }
    let mut told = run(&[read("a.rs"), write("a.rs")]);
    told[4]["is_error"] = true.into();
    assert_eq!(changed(&told), [], "the host says so");
}

/// That there was no such file is out of date, too.
#[test]
fn a_failed_read_goes_stale() {
    assert_eq!(changed(&run(&[("read", json!({ "path": "a.rs" }), "Error: no such file"), write("a.rs")])), CHANGED);
}

#[test]
fn a_patch_changes_the_files_that_it_names() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Update File: src/b.rs\n@@\n-a\n+b\n*** End Patch";
    let calls = [
        ("apply_patch", json!({ "input": patch }), "Success"),
        ("apply_patch", json!({ "patch": patch }), "Success"),
        ("shell", json!({ "command": ["apply_patch", patch] }), "Success"),
        ("bash", json!({ "command": format!("apply_patch <<'EOF'\n{patch}\nEOF") }), "Success"),
    ];
    for call in calls {
        assert_eq!(changed(&run(&[read("/repo/src/a.rs"), read("src/b.rs"), read("src/c.rs"), call.clone()])), [(2, 8), (4, 8)], "{call:?}");
    }
}

#[test]
fn a_shell_changes_what_it_writes_to() {
    for command in [
        "echo done > src/a.rs",
        "cd src && cat >> a.rs <<'EOF'\nfn more() {}\nEOF",
        "cargo fmt > /dev/null; printf x | tee src/a.rs",
        "sed -i 's/a/b/' src/a.rs",
        "mv src/b.rs src/a.rs",
        "rm src/a.rs",
    ] {
        assert_eq!(changed(&run(&[read("src/a.rs"), shell(command)])), CHANGED, "{command}");
    }
    for command in ["cat src/a.rs", "grep -n main src/a.rs > /tmp/out", "echo src/a.rs", "sed -n '1,5p' src/a.rs", "cargo test > log 2>&1"] {
        assert_eq!(changed(&run(&[read("src/a.rs"), shell(command)])), [], "{command}");
    }
}

/// A shell that shows a file reads it.
#[test]
fn what_a_shell_shows_goes_stale_too() {
    for command in ["cat src/a.rs", "cd src && sed -n '1,80p' a.rs", "head -50 src/a.rs", "nl -ba src/a.rs | sed -n 1,9p"] {
        let (tool, arguments, _) = shell(command);
        assert_eq!(changed(&run(&[(tool, arguments, "fn main() {}"), write("src/a.rs")])), CHANGED, "{command}");
    }
    assert_eq!(
        changed(&run(&[("grep", json!({ "pattern": "main", "path": "src/a.rs" }), "1:fn main"), write("src/a.rs")])),
        [],
        "a search is no read"
    );
}

/// The first change counts: from then on it was out of date.
#[test]
fn the_first_change_counts() {
    assert_eq!(changed(&run(&[read("a.rs"), write("a.rs"), write("a.rs")])), CHANGED);
    assert_eq!(changed(&run(&[read("a.rs"), write("a.rs"), read("a.rs"), write("a.rs")])), [(2, 4), (6, 8)]);
}

/// Of calls made at once nobody knows which came first: neither the order in which they were asked for tells, nor that of their results.
#[test]
fn a_read_beside_a_write() {
    let ask = |ids: [&str; 2]| {
        let argument = |id: &str| if id == "read" { json!({ "path": "a.rs" }) } else { json!({ "path": "a.rs", "content": "b" }) };
        asks(&ids.map(|id| (id, id, argument(id))))
    };
    for asked in [["read", "write"], ["write", "read"]] {
        for came in [asked, [asked[1], asked[0]]] {
            let batch = history(&[&[user("go"), ask(asked)], &came.map(|id| result(id, "one"))]);
            assert_eq!(changed(&batch), [], "{asked:?}, {came:?}");
            // It is no less up to date for that: the next change makes it stale.
            let [call, done] = exchange("c", "write", json!({ "path": "a.rs", "content": "c" }), "done");
            let read = 2 + came.iter().position(|id| *id == "read").unwrap();
            assert_eq!(changed(&history(&[&batch, &[call, done]])), [(read, 5)], "{asked:?}, {came:?}");
        }
    }
}

/// A call whose result takes its time was made before what came in between.
#[test]
fn a_change_that_was_asked_for_before_the_read_came() {
    let [write, written] = exchange("w", "write", json!({ "path": "a.rs", "content": "b" }), "done");
    let [read, shown] = exchange("r", "read", json!({ "path": "a.rs" }), "fn main() {}");
    let orders = [
        ([&write, &read, &shown, &written], vec![]),
        ([&read, &write, &written, &shown], vec![]),
        ([&read, &write, &shown, &written], vec![]),
        ([&read, &shown, &write, &written], vec![(2, 4)]),
    ];
    for (order, expected) in orders {
        assert_eq!(changed(&history(&[&[user("go")], &order.map(Clone::clone)])), expected, "{order:?}");
    }
}

/// What may not have happened makes nothing stale.
#[test]
fn a_change_in_doubt_is_none() {
    let doubtful = [
        "No replacement was performed, old_str `x` did not appear verbatim in /a.ts.",
        "apply_patch verification failed: Failed to find expected lines in /a.ts",
        "Exit code: 1\nWall time: 0.1 seconds",
        "{\"output\":\"\",\"metadata\":{\"exit_code\":1}}",
        "<returncode>2</returncode>",
        "User rejected this edit.",
        "old_string matched 3 times, must be unique",
        "No changes made.",
        "{\"ok\":false}",
        "File has been modified since read. Read it again",
        "0 of 3 hunks applied: error in hunk 2",
        "Unsuccessful: the match must be unique",
    ];
    for text in doubtful {
        assert!(is_change_in_doubt(text), "{text}");
    }
    let made = [
        "The file a.ts has been updated successfully.",
        "done",
        "",
        "Exit code: 0\nSuccess. Updated a.ts",
        "Wrote 120 bytes to a.ts",
        "Edited. 0 errors",
        "The file a.ts has been edited. Lines with error handling: 3",
        "The file /a.ts has been updated. Here is a snippet:\n  3\tthrow new Error('expected a unique name')",
    ];
    for text in made {
        assert!(!is_change_in_doubt(text), "{text}");
    }
}

/// Where both paths are relative nothing says that one continues the other.
#[test]
fn another_file_of_the_same_name_is_another_file() {
    assert!(!same_file("package.json", "packages/foo/package.json"));
    assert!(same_file("src/index.ts", "/repo/src/index.ts") && same_file("src/index.ts", "src/index.ts"));
}

/// What the host says that a call is about is told apart by the argument, unless that names files everywhere.
#[test]
fn what_the_host_says_a_call_is_about_can_be_changed() {
    use warmfold::history::{actions::Action, kinds::ToolKind};
    let own = |name: &str| vec![name.to_owned()];
    let read = Action::of("get_ticket", r#"{"ticket": "a.ts", "path": "b"}"#, Some(ToolKind::Read), Some(&own("ticket")));
    let written = Action::of("close_ticket", r#"{"ticket": "a.ts"}"#, Some(ToolKind::Write), Some(&own("ticket")));
    assert_eq!((&read.reads, &written.writes), (&vec!["ticket:a.ts".to_owned()], &read.reads));
    let file = Action::of("peek", r#"{"path": "./a.ts"}"#, Some(ToolKind::Read), Some(&own("path")));
    assert_eq!(file.reads, ["a.ts"]);
}
