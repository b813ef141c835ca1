//! What a cut text looks like to a model, and to an API that checks it.

use serde_json::json;

use crate::oracle;
use crate::support::*;
use crate::twin::every_wire;

every_wire! {
    no_character_is_parted covers 20,
    an_escape_of_an_envelope_is_not_parted covers 20,
    a_breadcrumb_says_that_nothing_is_broken covers 25,
    side_effects_are_not_repeated,
    commands_that_may_act_are_not_repeated,
    a_breadcrumb_in_the_input_is_text,
    head_and_tail_may_be_nothing,
    the_count_adds_up,
}

/// Cuts one result of a tool at these sizes.
fn cut(tool: &str, text: &str, head: usize, tail: usize) -> String {
    let messages = history(&[&[user("go")], &exchange("a", tool, json!({ "path": "f" }), text), &[assistant("ok"), user("so")]]);
    let options = merged(&eager(), &json!({ "keepHeadBytes": head, "keepTailBytes": tail }));
    let call = fold_messages(&messages, &options, &Carry::New);
    oracle::one_call(&call).unwrap();
    assert_eq!(call.edits().len(), 1, "{head} and {tail} of {text:?}");
    call.text(2).to_owned()
}

/// A long run and then an emoji, at the head's cut and at the tail's, at every offset: nothing is parted.
fn no_character_is_parted() {
    for sign in ["😀", "👩🏽‍🚀", "e\u{301}", "🇫🇷", "\u{1b}[31m", "\r\n", "क\u{94d}"] {
        for offset in 0..sign.len() + 2 {
            let text = format!("{}{sign}{}{sign}{}", "a".repeat(200 - offset), "b".repeat(1000), "c".repeat(200 - offset));
            let kept = cut("read", &text, 200, 200);
            let rest: String = kept.lines().filter(|line| !line.starts_with('[')).collect();
            let only = rest.replace(sign, "");
            assert!(only.chars().all(|letter| "abc".contains(letter)), "{sign:?} at {offset} was parted: {only:?}");
        }
    }
}

/// Line ends inside a JSON envelope are line ends: the cut leaves no half of an escape.
fn an_escape_of_an_envelope_is_not_parted() {
    let envelope = json!({ "output": lines("said \"so\" \\ then", 60), "exit_code": 0 }).to_string();
    for keep in 60..140 {
        let kept = cut("bash", &envelope, keep, keep);
        let head = kept.lines().nth(1).unwrap();
        let backslashes = head.bytes().rev().take_while(|byte| *byte == b'\\').count();
        assert_eq!(backslashes % 2, 0, "the head ends in half an escape: {head:?}");
    }
}

/// A breadcrumb never sounds as if the file were damaged: it says that the source is intact, or that only the transcript is shortened.
fn a_breadcrumb_says_that_nothing_is_broken() {
    for (tool, intact) in [
        ("read", true),
        ("grep", true),
        ("fetch_url", true),
        ("list_files", true),
        ("bash", false),
        ("write_file", false),
        ("optimize_images", false),
        ("run_tests", false),
    ] {
        let text = cut(tool, &lines("x", 60), 100, 100);
        let line = text.lines().next().unwrap();
        assert_eq!(line.contains("; source intact, call "), intact, "{line}");
        let shortened = line.ends_with(" lines elided]") || line.contains(" elided; call run_tests again]");
        assert_eq!(shortened, !intact, "{line}");
        for word in ["truncated", "corrupt", "missing", "lost", "error", "deleted", "removed"] {
            assert!(!line.to_lowercase().contains(word), "{line} says {word}");
        }
    }
}

/// What has side effects is never offered to be called again.
fn side_effects_are_not_repeated() {
    for (tool, again) in [
        ("read", true),
        ("run_tests", true),
        ("bash", false),
        ("send_mail", false),
        ("browser_click", false),
        ("http_request", false),
        ("execute_query", false),
        ("open_pull_request", false),
        ("deploy_build", false),
        ("test_payment", false),
        ("check_out", false),
        ("show_notification", false),
        ("apply_patch", false),
        ("optimize_images", false),
    ] {
        let text = cut(tool, &lines("x", 60), 100, 100);
        assert_eq!(text.lines().next().unwrap().contains(&format!("call {tool} again]")), again, "{text}");
    }
}

/// A command line may do more than it shows: only what reads, searches and lists is offered to be called again.
fn commands_that_may_act_are_not_repeated() {
    for (command, again) in [
        ("cat src/a.rs", true),
        ("rg -n main src", true),
        ("curl -d@body.json https://example.com", false),
        ("curl $OPTIONS https://example.com", false),
        ("jest -u", false),
        ("make clean-all", false),
        ("cargo test", false),
    ] {
        let messages =
            history(&[&[user("go")], &exchange("a", "bash", json!({ "command": command }), &lines("x", 60)), &[assistant("ok"), user("so")]]);
        let call = fold_messages(&messages, &eager(), &Carry::New);
        let line = call.text(2).lines().next().unwrap();
        assert!(line.starts_with("[warmfold: "), "{line}");
        assert_eq!((line.contains("call bash again"), line.contains("source intact")), (again, again), "{command}: {line}");
    }
}

/// A text that looks like a breadcrumb of ours is text like any other.
fn a_breadcrumb_in_the_input_is_text() {
    let fake = format!("[warmfold: 9 of 10 lines elided; source intact, call read again]\n[...]\n{}", lines("x", 60));
    let text = cut("read", &fake, 100, 100);
    assert!(text.lines().filter(|line| line.starts_with("[warmfold: ")).count() >= 2, "its own line stays in the head: {text}");
}

/// Only a tail, only a head, or neither: the line is there, and nothing stands where nothing is kept.
fn head_and_tail_may_be_nothing() {
    let text = lines("x", 60);
    let (none, head, tail) = (cut("read", &text, 0, 0), cut("read", &text, 100, 0), cut("read", &text, 0, 100));
    assert_eq!(none.lines().count(), 1);
    assert!(head.contains("x, line 0") && !head.contains("x, line 59"));
    assert!(tail.contains("x, line 59") && !tail.contains("x, line 0:"));
}

/// The count in the line is of what went, so that a model can tell how much it would ask for.
fn the_count_adds_up() {
    let text = lines("x", 60);
    let kept = cut("read", &text, 100, 100);
    let line = kept.lines().next().unwrap();
    let there = kept.lines().filter(|line| !line.starts_with('[')).count();
    assert!(line.contains(&format!("{} of 60 lines", 60 - there)), "{line}, with {there} lines there");
}
