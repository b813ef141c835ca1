//! `history::actions`: what a call does, over a table of calls written for it, and what must hold for any input.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;
use warmfold::history::actions::{Action, same_file};
use warmfold::history::kinds::ToolKind;
use warmfold::history::paths::{file_name, normalised};
use warmfold::history::resources::Span;

const TABLE: &str = include_str!("../../fixtures/calls.tsv");

struct Row<'a> {
    tool: &'a str,
    arguments: String,
    /// The command, where it is one.
    command: Option<String>,
    expected: Vec<&'a str>,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 7, "{line}");
        let command = cells[1].strip_prefix("$ ").map(|command| command.replace('⏎', "\n"));
        let arguments = match &command {
            Some(command) => json!({ "command": command }).to_string(),
            None => cells[1].replace('⏎', "\n"),
        };
        Row { tool: cells[0], arguments, command, expected: cells[2..].to_vec() }
    })
}

fn span_of(text: &str) -> Span {
    let number = |text: &str| text.parse().unwrap_or(u64::MAX);
    text.split_once('-').map_or(Span::WHOLE, |(first, last)| Span::lines(number(first), number(last)))
}

fn kind_name(kind: ToolKind) -> &'static str {
    ToolKind::NAMES.iter().find(|(_, named)| *named == kind).expect("every kind has a name").0
}

#[test]
fn calls_are_what_the_table_says() {
    let (mut count, mut wrong) = (0, Vec::new());
    for Row { tool, arguments, command, expected } in rows() {
        count += 1;
        let action = Action::of(tool, &arguments, None, None);
        let shown = command.or_else(|| Some(serde_json::from_str::<serde_json::Value>(&arguments).ok()?.get("command")?.as_str()?.to_owned()));
        let label = action.resource.as_ref().map_or("-", |resource| &resource.label);
        let expected_label = if expected[1] == "=" { shown.as_deref().unwrap_or("") } else { expected[1] };
        let span = action.resource.as_ref().map_or(Span::WHOLE, |resource| resource.span);
        let found = (kind_name(action.kind), label, span, action.reads.join(","), action.writes.join(","));
        let wanted = (expected[0], expected_label, span_of(expected[2]), expected[3].to_owned(), expected[4].to_owned());
        // The offset of a read tool starts where the tool says; only shell lines are counted from 1 for sure.
        if found != wanted {
            wrong.push(format!("{tool} {arguments}\n   found {found:?}\n  wanted {wanted:?}"));
        }
    }
    println!("{} of {count} calls as the table says", count - wrong.len());
    assert!(count >= 150 && wrong.is_empty(), "{}", wrong.join("\n"));
}

fn of(tool: &str, arguments: &str) -> Action {
    Action::of(tool, arguments, None, None)
}

fn shell(command: &str) -> Action {
    of("bash", &json!({ "command": command }).to_string())
}

#[test]
fn the_hosts_word_goes_first() {
    let arguments = r#"{"command": "cat a.txt", "id": "7"}"#;
    let run = Action::of("bash", arguments, Some(ToolKind::Run), None);
    assert_eq!((run.kind, run.resource, run.reads), (ToolKind::Run, None, Vec::new()));
    let read = Action::of("bash", arguments, Some(ToolKind::Read), None);
    assert_eq!((read.kind, read.reads), (ToolKind::Read, vec!["a.txt".to_owned()]));
    let named = Action::of("deploy", r#"{"city": "Oslo", "unit": "C"}"#, Some(ToolKind::Read), Some(&["city".to_owned()]));
    assert_eq!(named.resource.unwrap().label, "Oslo");
    let named = Action::of("bash", arguments, None, Some(&["id".to_owned()]));
    assert_eq!((named.kind, named.resource.unwrap().label.as_str()), (ToolKind::Run, "7"));
}

/// Equal keys and a span that covers are what makes one call stand in for another.
#[test]
fn a_call_stands_in_for_what_it_surely_shows() {
    let covers = |later: &str, earlier: &str| {
        let (later, earlier) = (shell(later).resource.unwrap(), shell(earlier).resource.unwrap());
        later.key == earlier.key && later.span.covers(earlier.span)
    };
    for (later, earlier) in [
        ("cat a.rs", "sed -n '10,20p' a.rs"),
        ("cat ./a.rs", "head -50 a.rs"),
        ("nl -ba a.rs | sed -n '1,80p'", "sed -n '10,20p' a.rs"),
        ("cd /r && cat b/a.rs", "cat /r/b/a.rs"),
        ("bash -lc 'cat a.rs'", "cat a.rs"),
        ("rg -n x src", " rg -n x src\n"),
    ] {
        assert!(covers(later, earlier), "{later} shows all of {earlier}");
    }
    for (later, earlier) in [
        ("sed -n '10,20p' a.rs", "cat a.rs"),
        ("sed -n '10,20p' a.rs", "sed -n '15,25p' a.rs"),
        ("cat a.rs | grep x", "cat a.rs"),
        ("cat a.rs", "cat a.rs b.rs"),
        ("cat a.rs", "git status; cat a.rs"),
        ("cat b/a.rs", "cat a.rs"),
        ("cat a.rs | cut -c1-80", "cat a.rs"),
        ("tail -5 a.rs", "tail -50 a.rs"),
        ("cat $X", "head -5 $X"),
        ("cd $X && cat a", "cd $Y && cat a"),
    ] {
        assert!(!covers(later, earlier), "{later} does not show all of {earlier}");
    }
}

#[test]
fn paths_are_made_comparable() {
    for (base, path, expected) in [
        ("", "./a//b/./c", "a/b/c"),
        ("", "a/../b", "b"),
        ("", "../a", "../a"),
        ("/r/x", "../a", "/r/a"),
        ("", "/../a", "/a"),
        ("", "file:///r/a", "/r/a"),
        ("", "file:///C:/r/a", "C:/r/a"),
        ("/r", "C:\\x\\y", "C:/x/y"),
        ("/r", "~/x", "~/x"),
        ("sub", "a\\b", "sub/a/b"),
        ("", ".", "."),
        ("", "/", "/"),
        ("/r", ".", "/r"),
        ("", "", ""),
        ("", "a/", "a"),
    ] {
        assert_eq!(normalised(base, path), expected, "{base} {path}");
    }
    for (a, b) in [("a/b.rs", "a/b.rs"), ("/r/a/b.rs", "a/b.rs"), ("b.rs", "/r/a/b.rs")] {
        assert!(same_file(a, b) && same_file(b, a) && file_name(a) == file_name(b), "{a} {b}");
    }
    for (a, b) in [("/r/b.rs", "/s/b.rs"), ("/a/b.rs", "/r/a/b.rs"), ("b.rs", "ab.rs"), ("", ""), ("", "a"), ("a/b", "c/b"), ("x/b.rs", "b.rs")] {
        assert!(!same_file(a, b) && !same_file(b, a), "{a} {b}");
    }
}

/// A file that is written whole is passed over; a patch of any length is read.
#[test]
fn long_arguments_are_cheap_and_patches_are_read() {
    let long = "a line of a long file\n".repeat(20_000);
    let write = of("Write", &json!({ "content": long, "file_path": "/a" }).to_string());
    assert_eq!(write.writes, ["/a"]);
    let search = of("grep", &json!({ "pattern": long, "path": "src" }).to_string()).resource.unwrap();
    assert!(search.key.len() < 100);
    let patch: String = (0..3000).map(|at| format!("*** Update File: f{at}\n@@\n-a\n+b\n")).collect();
    assert_eq!(of("apply_patch", &json!({ "input": patch }).to_string()).writes.len(), 3000);
    assert_eq!(shell(&format!("apply_patch <<'EOF'\n{patch}EOF")).writes.len(), 3000);
}

/// What is not closed, nested deeply or endlessly repeated takes linear time.
#[test]
fn hostile_commands_take_linear_time() {
    let parts = [
        "(",
        "$(",
        "`",
        "$((",
        "${",
        "'",
        "\"",
        "\\",
        "<<E\n",
        "@'\n",
        "a|",
        "a;",
        "a && ",
        "sudo ",
        "A=b ",
        "env ",
        "xargs ",
        "find . -exec ",
        "bash -c ",
        "> a ",
        "cd a;",
        "$'",
        "cat <(",
        "time ",
        "{ ",
        "if ",
        "echo \"$(",
        "nohup timeout 5 ",
        "git ",
        "npx ",
        "cp a b; ",
        "\n",
        "é",
        "<<< ",
        "&> ",
        "((",
        "[[ ",
        "find -x ",
        "eval ",
    ];
    let start = Instant::now();
    for part in parts {
        let command = part.repeat(200_000 / part.len());
        shell(&command);
        of("apply_patch", &json!({ "input": command }).to_string());
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// `cargo test --release --test rust speed_of_actions -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn speed_of_actions() {
    let mut calls: Vec<(String, String)> = rows().map(|row| (row.tool.to_owned(), row.arguments)).collect();
    let file = "let x = \"a line of a file\";\n".repeat(1800);
    calls.extend((0..20).map(|at| ("Write".to_owned(), json!({ "file_path": format!("/a{at}"), "content": file }).to_string())));
    calls.extend((0..20).map(|at| ("bash".to_owned(), json!({ "command": format!("cat > a{at} <<'EOF'\n{file}EOF") }).to_string())));
    let rounds = 50;
    let start = Instant::now();
    for _ in 0..rounds {
        calls.iter().for_each(|(tool, arguments)| _ = std::hint::black_box(of(tool, arguments)));
    }
    println!("{:.2} µs a call", start.elapsed().as_secs_f64() * 1e6 / (rounds * calls.len()) as f64);
}

/// A command that only looks.
fn harmless() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "cat a.txt",
        "ls -la",
        "rg -n foo src",
        "sed -n '1,5p' a",
        "find . -name '*.rs'",
        "git diff",
        "curl -s https://a.example",
        "head -5 a | grep x",
        "echo hi",
        "cat a.txt # note",
        "grep \"a b\" c",
        "wc -l a",
        "git log --oneline",
        "cat <<'EOF'\n> no\nEOF",
        "test -f a",
        "awk 'NR>=1 && NR<=5' a",
        "ls | sort | uniq -c",
        "FOO=1 cat a",
        "cat 'it > is'",
    ])
    .prop_map(str::to_owned)
}

/// A harmless command that writes after all.
fn redirected() -> impl Strategy<Value = String> {
    let target = prop::sample::select(vec!["out.txt", "/tmp/x", "\"a b\"", "'q'", "$F", "a\\ b", "../c"]);
    let operator = prop::sample::select(vec![">", ">>", "> ", "1>", "2> ", "&>", ">|", "&>> ", ">&"]);
    let around = prop::sample::select(vec![
        "@",
        "cd x && @",
        "(@)",
        "{ @; }",
        "bash -lc \"@\"",
        "@ | tail -5",
        "ls; @; ls",
        "if true; then @; fi",
        "echo $(@)",
        "echo \"`@`\"",
        "for f in 1 2; do @; done",
        "ls &&\\\n@",
        "true || @",
        "ls &\n@",
        "# x > y\n@",
        "timeout 5 bash -c '@'",
        "cat <<E\nx\nE\n@",
    ]);
    (harmless(), operator, target, around).prop_filter_map("quotes within quotes", |(command, operator, target, around)| {
        let command = if command.contains(['#', '\n']) { format!("cat a {operator}{target}") } else { format!("{command} {operator}{target}") };
        let quotes = ['"', '\'', '`'].into_iter().filter(|quote| around.contains(*quote));
        (!quotes.into_iter().any(|quote| command.contains(quote) || command.contains('\\'))).then(|| around.replace('@', &command))
    })
}

proptest! {
    #![proptest_config(crate::laws::cases(600))]

    #[test]
    fn any_call_is_an_action(tool in "[a-zA-Z_]{0,12}|bash|shell|Edit|apply_patch|computer", arguments in any::<String>()) {
        prop_assert_eq!(of(&tool, &arguments), of(&tool, &arguments));
    }

    #[test]
    fn any_command_is_an_action(command in "([ -~]|[\n\t'\"$`(){}<>|&;\\\\é@]){0,60}|(cat |ls |rm |sed -n |git |<<E\n|\nE\n|\\$\\(|\\)|'|\"|; | > |a ){0,20}") {
        let action = shell(&command);
        prop_assert_eq!(action.resource.is_some(), action.kind.has_source());
        prop_assert_eq!(of("shell", &json!({ "command": ["bash", "-lc", command.clone()] }).to_string()).kind, action.kind);
        prop_assert_eq!(action, shell(&command));
    }

    #[test]
    fn any_json_is_an_action(pairs in prop::collection::btree_map("path|command|edits|files|input|query|[a-z]{1,5}", "[ -~]{0,30}", 0..5)) {
        for tool in ["read", "edit", "bash", "grep", "frobnicate", "str_replace_editor", "apply_patch"] {
            let arguments = json!(pairs).to_string();
            prop_assert_eq!(of(tool, &arguments), of(tool, &arguments));
        }
    }

    #[test]
    fn a_redirection_to_a_file_is_no_read(command in redirected()) {
        let kind = shell(&command).kind;
        prop_assert!(matches!(kind, ToolKind::Write | ToolKind::Run), "{:?}: {}", kind, command);
    }

    #[test]
    fn looking_is_harmless(commands in prop::collection::vec(harmless(), 1..4)) {
        let command = commands.join("\n");
        let kind = shell(&command).kind;
        prop_assert!(kind.has_source() || kind == ToolKind::Run, "{:?}: {}", kind, command);
    }
}
