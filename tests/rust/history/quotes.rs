//! `history::quotes`: what the model has written down of what it was shown.

use serde_json::{Value, json};
use warmfold::Format;
use warmfold::history::EntryKind;
use warmfold::history::quotes::Quotes;
use warmfold::tape::Tape;
use warmfold::wire::Request;

use crate::support::{asks, assistant, exchange, history, lines, result, user};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const LINE: &str = "let answer = the_question.ask(&everyone);";

/// The last messages that quote each entry of a history, by the entry's message.
fn quoted(messages: &[Value]) -> Vec<(usize, usize)> {
    let tape = Tape::from_json(json!({ "messages": messages }).to_string()).unwrap();
    let view = Format::OpenaiChat.read(&Request::of(tape.root()), None).unwrap();
    let mut quotes = Quotes::default();
    for length in 0..=messages.len() {
        quotes.walk(&view, length); // step by step, as the planner does
    }
    let results = (0..view.entries.len()).filter(|entry| view.entries[*entry].kind == EntryKind::Result);
    results.filter_map(|entry| Some((view.entries[entry].message, quotes.last(&view, entry)?))).collect()
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
    for numbered in ["7\t", "    7\t", "   7→", "7: ", "007|", "7) ", "  12  ", "+", "- ", "12 + "] {
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

/// Indentation, line ends, quotes and escapes are no part of a line, and many spaces are one.
#[test]
fn what_surrounds_a_line_does_not_matter() {
    let said = "println!(\"{}: {}\", what_is_said, 'and by whom');";
    for shown in [format!("\t\t{said}  \r\n"), format!("{said}\r\n"), said.replace(' ', "   "), said.replace('"', "\\\"")] {
        assert_eq!(quoted(&shown_then(&shown, edit(said))), [(2, 3)], "{shown:?}");
    }
    assert_eq!(quoted(&shown_then(said, edit(&format!("x\r\n{said}\r\n")))), [(2, 3)], "CRLF in the quote");
}

/// A line end inside a JSON envelope of some length ends a line, in what was shown and in what is said.
#[test]
fn an_envelope_has_lines() {
    let envelope = json!({ "output": format!("fn main() {{\n{LINE}\n}}\n{}", lines("more", 20)), "exit_code": 0 }).to_string();
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
    assert_eq!(quoted(&shown_then(LINE, call(format!("{{\"old\": \"{LINE}")))), [], "a text that was cut off is not read");
    let behind_half = format!("{{\"sign\": \"half \\ud83d a pair\", \"old\": \"{LINE}\"}}");
    assert_eq!(quoted(&shown_then(LINE, call(behind_half))).len(), 1, "what stands behind a lone surrogate is read");
    let ascii = call(r#"{"old": "the caf\u00e9 of the \ud83d\ude80 astronaut", "new": ""}"#.to_owned());
    assert_eq!(quoted(&shown_then("the café of the 🚀 astronaut\n", ascii)), [(2, 3)], "as hosts write that keep to ASCII");
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
    for (short, counts) in [("}", false), ("return None;", false), ("a".repeat(23).as_str(), false), ("a".repeat(24).as_str(), true)] {
        let messages = shown_then(&format!("{short}\nmore\n"), assistant(short));
        assert_eq!(!quoted(&messages).is_empty(), counts, "{short}");
    }
    let punctuation = "=".repeat(80);
    assert_eq!(quoted(&shown_then(&punctuation, assistant(&punctuation))), []);
}

/// Letters outside ASCII are letters, each of them one.
#[test]
fn letters_of_all_scripts_count() {
    let line = "深い海の底で七番目の魚が眠っている。とても静かだった。";
    assert_eq!(quoted(&shown_then(&format!("{line}\n"), assistant(&format!("「\n{line}\n」")))), [(2, 3)]);
    let short: String = line.chars().take(23).collect();
    assert_eq!(quoted(&shown_then(&short, assistant(&short))), [], "23 characters");
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
