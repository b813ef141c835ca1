//! `history::quotes`: what the model has written down of what it was shown.

use serde_json::{Value, json};
use warmfold::Format;
use warmfold::history::quotes::Quotes;
use warmfold::tape::Tape;
use warmfold::wire::Request;

use crate::support::{asks, assistant, exchange, history, result, user};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LINE: &str = "let answer = the_question.ask(&everyone);";

/// The last messages that quote each entry of a history, by the entry's message.
fn quoted(messages: &[Value]) -> Vec<(usize, usize)> {
    quoted_where(messages, |_| true)
}

fn quoted_where(messages: &[Value], counts: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let tape = Tape::from_json(&json!({ "messages": messages }).to_string()).unwrap();
    let view = Format::OpenaiChat.read(&Request::of(tape.root(), None)).unwrap();
    let mut quotes = Quotes::default();
    for length in 0..=messages.len() {
        quotes.walk(&view, length, &counts); // step by step, as the planner does
    }
    (0..view.entries.len()).filter_map(|entry| Some((view.entries[entry].message, quotes.last(entry)?))).collect()
}

/// A read that shows `text`, then an answer.
fn shown_then(text: &str, answer: Value) -> Vec<Value> {
    history(&[&[user("go")], &exchange("a", "read", json!({ "path": "a.rs" }), text), &[answer]])
}

fn edit(old: &str) -> Value {
    asks(&[("b", "edit", json!({ "path": "a.rs", "old_string": old, "new_string": "" }))])
}

#[test]
fn a_line_in_an_answer_is_a_quote() {
    assert_eq!(quoted(&shown_then(&format!("fn main() {{\n    {LINE}\n}}\n"), assistant(&format!("Look:\n{LINE}\nThere.")))), [(2, 3)]);
}

#[test]
fn a_line_in_a_call_is_a_quote() {
    assert_eq!(quoted(&shown_then(&format!("fn main() {{\n    {LINE}\n}}\n"), edit(&format!("{{\n{LINE}\n")))), [(2, 3)]);
}

/// Tools number lines, and models leave the numbers out.
#[test]
fn line_numbers_do_not_count() {
    for numbered in ["7\t", "    7\t", "   7→", "7: ", "007|", "[7] ", "  12  "] {
        assert_eq!(quoted(&shown_then(&format!("{numbered}{LINE}\n"), edit(LINE))), [(2, 3)], "{numbered:?}");
        assert_eq!(quoted(&shown_then(&format!("{LINE}\n"), edit(&format!("{numbered}{LINE}")))), [(2, 3)], "{numbered:?} in the quote");
    }
}

/// A number that belongs to the line is no line number.
#[test]
fn a_number_inside_a_word_counts() {
    assert_eq!(quoted(&shown_then("3rd_party_licenses_are_listed_here\n", assistant("5rd_party_licenses_are_listed_here"))), []);
    assert_eq!(quoted(&shown_then("3rd_party_licenses_are_listed_here\n", assistant("3rd_party_licenses_are_listed_here"))), [(2, 3)]);
}

/// Quotes, backslashes, indentation and line ends are not letters.
#[test]
fn escapes_and_spaces_do_not_matter() {
    let said = "println!(\"{}: {}\", what_is_said, 'and by whom');";
    for shown in [format!("\t\t{said}  \r\n"), format!("{said}\r\n"), said.replace(' ', "   "), said.replace('"', "\\\"")] {
        assert_eq!(quoted(&shown_then(&shown, edit(said))), [(2, 3)], "{shown:?}");
    }
    assert_eq!(quoted(&shown_then(said, edit(&format!("x\r\n{said}\r\n")))), [(2, 3)], "CRLF in the quote");
}

/// A line end inside a JSON envelope ends a line, in what was shown and in what is said.
#[test]
fn an_envelope_has_lines() {
    let envelope = json!({ "output": format!("fn main() {{\n{LINE}\n}}\n"), "exit_code": 0 }).to_string();
    assert_eq!(quoted(&shown_then(&envelope, edit(LINE))), [(2, 3)]);
    assert_eq!(quoted(&shown_then(LINE, assistant(&envelope))), [(2, 3)]);
    assert_eq!(quoted(&shown_then(&envelope, edit("fn main() {\n"))), [], "the line beside it was not quoted");
}

/// Arguments come as JSON text, pretty or not, with escapes of any kind.
#[test]
fn arguments_are_read_as_json() {
    let call = |arguments: String| {
        let mut ask = asks(&[("b", "edit", json!({}))]);
        ask["tool_calls"][0]["function"]["arguments"] = arguments.into();
        ask
    };
    let pretty = serde_json::to_string_pretty(&json!({ "path": "a.rs", "edits": [{ "old": format!("{LINE}\nand more") }] })).unwrap();
    assert_eq!(quoted(&shown_then(LINE, call(pretty))), [(2, 3)]);
    assert_eq!(quoted(&shown_then(LINE, call(format!("{{\"old\": \"\\t{}\\u0020\"}}", LINE)))), [(2, 3)]);
    assert_eq!(quoted(&shown_then(LINE, call(format!("{{\"old\": \"{LINE}")))), [(2, 3)], "arguments that were cut off");
    assert_eq!(quoted(&shown_then(LINE, call(String::new()))), []);
}

/// What the model had said before it was shown is no quote: it wrote the file itself.
#[test]
fn what_was_said_before_does_not_count() {
    let wrote = exchange("w", "write", json!({ "path": "a.rs", "content": LINE }), "done");
    let read = exchange("r", "read", json!({ "path": "a.rs" }), LINE);
    let other = exchange("o", "read", json!({ "path": "b.rs" }), "a line of its own, and long enough\n");
    let messages = history(&[&[user("go")], &wrote, &read, &other, &[edit(LINE)]]);
    assert_eq!(quoted(&messages), []);
    let quotes_both = edit(&format!("{LINE}\na line of its own, and long enough"));
    assert_eq!(quoted(&history(&[&[user("go")], &wrote, &read, &other, &[quotes_both]])), [(6, 7)]);
}

/// What the user says is no quote, and neither is what another result says.
#[test]
fn only_the_model_quotes() {
    assert_eq!(quoted(&shown_then(LINE, user(LINE))), []);
    let again = history(&[&shown_then(LINE, assistant("I see")), &exchange("b", "grep", json!({ "pattern": "x" }), LINE)]);
    assert_eq!(quoted(&again), []);
    let both = history(&[&again, &[assistant(LINE)]]);
    assert_eq!(quoted(&both), [(2, 6), (5, 6)], "whoever showed the line is quoted");
}

/// Short lines stand everywhere.
#[test]
fn short_lines_do_not_count() {
    for (short, counts) in [("}", false), ("return None;", false), ("a".repeat(19).as_str(), false), ("a".repeat(20).as_str(), true)] {
        let messages = shown_then(&format!("{short}\nmore\n"), assistant(short));
        assert_eq!(!quoted(&messages).is_empty(), counts, "{short}");
    }
    let punctuation = "=".repeat(80);
    assert_eq!(quoted(&shown_then(&punctuation, assistant(&punctuation))), []);
    let digits = "1".repeat(40);
    assert_eq!(quoted(&shown_then(&format!("{digits} \n"), assistant(&digits))), [], "a number alone");
}

/// Letters outside ASCII are letters, each of them one.
#[test]
fn letters_of_all_scripts_count() {
    let line = "深い海の底で七番目の魚が眠っている。とても静かだ";
    assert_eq!(quoted(&shown_then(&format!("{line}\n"), assistant(&format!("「\n{line}\n」")))), [(2, 3)]);
    let short: String = line.chars().take(12).collect();
    assert_eq!(quoted(&shown_then(&short, assistant(&short))), [], "12 letters, if 36 bytes");
}

/// The last quote counts, and each entry has its own.
#[test]
fn the_last_quote_is_the_one() {
    let batch = [
        asks(&[("a", "read", json!({ "path": "a" })), ("b", "read", json!({ "path": "b" }))]),
        result("a", "the first file has this line in it\n"),
        result("b", "the second file has this line in it\n"),
    ];
    let answers = [
        assistant("the first file has this line in it"),
        assistant("the second file has this line in it"),
        assistant("the first file has this line in it"),
        assistant("so be it"),
    ];
    assert_eq!(quoted(&history(&[&[user("go")], &batch, &answers])), [(2, 6), (3, 5)]);
}

/// A result that is not looked at is not quoted.
#[test]
fn what_does_not_count_is_not_looked_at() {
    assert_eq!(quoted_where(&shown_then(LINE, assistant(LINE)), |_| false), []);
}
