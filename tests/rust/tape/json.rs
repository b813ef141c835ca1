//! The reader of JSON, held against serde_json.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use warmfold::error::Code;
use warmfold::tape::{Kind, Node, Tape};

use crate::spelled::{Choices, floats, spell, spellings};

/// What reads as itself: JSON, and the value.
const READ: &[(&str, &str)] = &[
    ("  null ", "null"),
    ("\u{feff}[1]", "[1]"),
    ("[-0, 1.0, 1e2, 25E-1, 123456789012345678901234567890]", "[-0.0, 1, 100, 2.5, 1.2345678901234568e29]"),
    (
        "[9007199254740993, 18446744073709551616, 0.1, 2.2250738585072011e-308]",
        "[9007199254740992, 18446744073709552000, 0.1, 2.225073858507201e-308]",
    ),
    (r#"{"r\u006fle": "\u0000\ud83d\ude80\/"}"#, "{\"role\": \"\\u0000🚀/\"}"),
    (
        r#"["\ud83d", "\ude80\ud83d", "\ud83dx", "\ud83d\n", "\ud83d\ud83d\ude80"]"#,
        "[\"\u{fffd}\", \"\u{fffd}\u{fffd}\", \"\u{fffd}x\", \"\u{fffd}\\n\", \"\u{fffd}🚀\"]",
    ),
    ("[[], {}, [ ], { }, \"\"]", "[[], {}, [], {}, \"\"]"),
    (r#"{"a": 1, "a": 2}"#, r#"{"a": 2}"#),
];

/// What is refused, and where.
const REFUSED: &[(&[u8], &str)] = &[
    (b"", "ends early at byte 0"),
    (b"  ", "ends early at byte 2"),
    (b"[1, 2", "ends early at byte 5"),
    (b"[1, 2,", "ends early at byte 6"),
    (b"[1, 2,]", "expected a value at byte 6"),
    (b"[1 2]", "expected `,` or the end of the array or object at byte 3"),
    (b"[1}", "expected `,` or the end of the array or object at byte 2"),
    (b"[1] []", "more behind the value at byte 4"),
    (b"{\"a\" 1}", "expected `:` at byte 5"),
    (b"{\"a\"", "ends early at byte 4"),
    (b"{a: 1}", "expected a key in quotes at byte 1"),
    (b"{\"a\": 1,}", "expected a key in quotes at byte 8"),
    (b"nul", "ends early at byte 3"),
    (b"nulL", "expected a value at byte 3"),
    (b"[01]", "a number that begins with 0 at byte 1"),
    (b"[-]", "expected a digit at byte 2"),
    (b"[1.]", "expected a digit at byte 3"),
    (b"[1e", "ends early at byte 3"),
    (b"[+1]", "expected a value at byte 1"),
    (b"[NaN]", "expected a value at byte 1"),
    (b"\"a\nb\"", "a control character in a string at byte 2"),
    (b"\"a\\xb\"", "an escape that JSON does not have at byte 2"),
    (b"\"a\\u12", "expected four hexadecimal digits at byte 2"),
    (b"\"a\\u12g4\"", "expected four hexadecimal digits at byte 2"),
    (b"\"a\\", "ends early at byte 3"),
    (b"\"abc", "ends early at byte 4"),
    (b"\"abc\xff\"", "not UTF-8 at byte 4"),
    (b"\xff[]", "expected a value at byte 0"),
    // Either half is no text, both together would be.
    (b"[\"\xe6\xb7\", \"\xb1\"]", "not UTF-8 at byte 2"),
];

#[test]
fn what_json_allows_is_read() {
    for (json, value) in READ {
        let read = Tape::from_json(json).map(|tape| tape.root().to_json());
        let expected = Tape::from_json(value).unwrap().root().to_json();
        assert_eq!(read.as_ref().map(floats), Ok(floats(&expected)), "{json}");
    }
}

#[test]
fn what_json_does_not_allow_is_refused_with_its_place() {
    for (json, message) in REFUSED {
        let error = Tape::from_json(json).expect_err(&String::from_utf8_lossy(json));
        assert_eq!(
            (error.code(), error.message()),
            (Code::InvalidJson, format!("{message}: pass one whole JSON value").as_str()),
            "{}",
            String::from_utf8_lossy(json)
        );
    }
}

#[test]
fn numbers_too_large_are_infinite_and_pass() {
    let tape = Tape::from_json("[1e400, -1e400]").unwrap();
    assert_eq!(tape.root().children().map(|node| node.number()).collect::<Vec<_>>(), [Some(f64::INFINITY), Some(f64::NEG_INFINITY)]);
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(Tape::from_json(nested(512)).is_ok());
    assert_eq!(Tape::from_json(nested(513)).unwrap_err().code(), Code::TooDeep);
    assert_eq!(Tape::from_json("[{\"a\":".repeat(1_000_000)).unwrap_err().code(), Code::TooDeep);
}

#[test]
fn many_keys_are_many_keys() {
    let fields: Vec<String> = (0..5000).map(|number| format!("\"key {number}\": {number}, \"again\": 0")).collect();
    let tape = Tape::from_json(format!("{{{}}}", fields.join(","))).unwrap();
    for number in [0, 77, 4999] {
        assert_eq!(tape.root().get(&format!("key {number}")).and_then(Node::number), Some(f64::from(number)));
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![any::<i64>().prop_map(Value::from), any::<f64>().prop_map(Value::from), (0..100).prop_map(Value::from)];
    let text = prop_oneof![any::<String>(), "[ -~]{0,60}", "(line of code\n){0,9}"];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, text.prop_map(Value::from)];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Every node stands where it says: its source, read alone, is the same value.
fn places_are_right(json: &str, node: Node<'_>) {
    let source = &json[node.source()];
    let alone = Tape::from_json(source).unwrap_or_else(|error| panic!("{error}: {source}"));
    assert_eq!(alone.root().fingerprint(), node.fingerprint(), "{source}");
    assert_eq!(source.trim(), source);
    if matches!(node.kind(), Kind::Array | Kind::Object) {
        node.children().for_each(|child| places_are_right(json, child));
    }
}

proptest! {
    #![proptest_config(crate::laws::cases(256))]

    #[test]
    fn every_spelling_reads_as_its_value((value, json) in spellings(any_value())) {
        let tape = Tape::from_json(&json).unwrap();
        prop_assert_eq!(floats(&tape.root().to_json()), floats(&value));
        prop_assert_eq!(Tape::from_json(value.to_string()).unwrap().root().fingerprint(), tape.root().fingerprint());
        places_are_right(&json, tape.root());
    }

    /// Of fields with one key the last counts, and nothing of the others does.
    #[test]
    fn fields_that_are_there_twice_count_once(fields in prop::collection::vec(("[ab]{0,3}", any_value(), any::<u64>()), 0..40)) {
        let spelled: Vec<String> = fields.iter().map(|(key, value, seed)| format!("{}: {}", spell(&json!(key), &mut Choices::of(*seed)), value)).collect();
        let json = format!("[{{{}}}, 1]", spelled.join(","));
        let read: Value = serde_json::from_str(&json).unwrap();
        let tape = Tape::from_json(&json).unwrap();
        prop_assert_eq!(floats(&tape.root().to_json()), floats(&read));
        let object = tape.root().children().next().unwrap();
        prop_assert_eq!(object.len(), read[0].as_object().unwrap().len());
        let once: Vec<String> = object.children().map(|field| format!("{}: {}", json!(field.key()), &json[field.source()])).collect();
        let alone = Tape::from_json(format!("{{{}}}", once.join(","))).unwrap();
        prop_assert_eq!(alone.root().fingerprint(), object.fingerprint());
        prop_assert_eq!(alone.root().subtree().count(), object.subtree().count());
    }

    #[test]
    fn damaged_json_is_refused_as_serde_json_refuses_it(
        (_, json) in spellings(any_value()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\u09-.eE \ntfn".to_vec())], 0..3usize), 1..4),
    ) {
        let mut bytes = json.into_bytes();
        for (at, byte, how) in damage {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        let ours = Tape::from_json(&bytes);
        // It reads what it ignores in full, but for the range of numbers and the pairing of surrogates.
        let theirs = std::str::from_utf8(&bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
        prop_assert_eq!(ours.is_ok(), theirs, "{:?}: {}", ours.map(|_| ()), String::from_utf8_lossy(&bytes));
    }
}
