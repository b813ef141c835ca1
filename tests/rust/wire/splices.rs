//! Splices of bytes, held against the same patches of values.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use warmfold::fold::fold;
use warmfold::planner::Given;
use warmfold::wire::patch::{Change, Patch, Step, Value};
use warmfold::wire::{Request, splice};
use warmfold::{Options, Tape};

use crate::spelled::{Choices, floats, spell};

const KEYS: [&str; 5] = ["content", "text", "reasoning", "reasoning_content", "cache_control"];

fn spliced(messages: &str, patches: &[Patch]) -> String {
    let tape = Tape::from_json(messages).unwrap();
    let splices = splice::splices(tape.root(), &tape.root().children().collect::<Vec<_>>(), patches, messages.as_bytes());
    String::from_utf8(splice::spliced(messages.as_bytes(), &splices)).unwrap()
}

fn at(path: &[Step], change: Change) -> Patch {
    Patch { path: path.to_vec(), change }
}

#[test]
fn fields_go_with_their_commas() {
    use Step::{Index, Key};
    let remove = |keys: &[&'static str]| keys.iter().map(|key| at(&[Index(0), Key(key)], Change::Remove)).collect::<Vec<_>>();
    let removed = |json: &str, keys: &[&'static str]| spliced(json, &remove(keys));
    assert_eq!(removed(r#"[{"text": 1, "role": 2, "content": 3}]"#, &["text"]), r#"[{"role": 2, "content": 3}]"#);
    assert_eq!(removed(r#"[{"text": 1, "role": 2, "content": 3}]"#, &["content"]), r#"[{"text": 1, "role": 2}]"#);
    assert_eq!(removed(r#"[{"role": 0, "text": 1 , "reasoning": 2, "content": 3 }]"#, &["content", "reasoning", "text"]), r#"[{"role": 0 }]"#);
    assert_eq!(removed(r#"[{ "text": 1, "content": 3 }]"#, &["text", "content"]), "[{  }]");
    assert_eq!(removed(r#"[{"text": 1, "role": 2, "t\u0065xt": 3}]"#, &["text"]), r#"[{"role": 2}]"#, "every field of that name");
}

#[test]
fn of_fields_with_one_name_the_last_counts() {
    let set = at(&[Step::Index(0), Step::Key("content")], Change::Set(Value::Text("x".into())));
    assert_eq!(spliced(r#"[{"content": "a", "c\u006fntent": "b"}]"#, &[set]), r#"[{"content": "a", "c\u006fntent": "x"}]"#);
}

#[test]
fn items_go_with_their_commas() {
    use Step::{Index, Key};
    let removed = |json: &str, items: &[usize]| {
        let remove = |item: &usize| at(&[Index(0), Key("content"), Index(*item)], Change::Remove);
        spliced(json, &items.iter().rev().map(remove).collect::<Vec<_>>())
    };
    let array = r#"[{"content": [ {"text": 1} , "a,b",[2 ],3 ]}]"#;
    assert_eq!(removed(array, &[0]), r#"[{"content": [ "a,b",[2 ],3 ]}]"#);
    assert_eq!(removed(array, &[1, 2]), r#"[{"content": [ {"text": 1} , 3 ]}]"#);
    assert_eq!(removed(array, &[0, 3]), r#"[{"content": [ "a,b",[2 ] ]}]"#);
    assert_eq!(removed(array, &[0, 1, 2, 3]), r#"[{"content": [  ]}]"#);
    assert_eq!(removed(array, &[7]), array);
}

/// A patch that begins with a key begins at the request.
#[test]
fn patches_may_lead_out_of_the_messages() {
    let body = r#"{"system": "a", "messages": [{"content": "b"}], "tools": [{}]}"#;
    let text = |text: &str| Change::Set(Value::Text(text.into()));
    let patches = [
        at(&[Step::Key("system")], text("x")),
        at(&[Step::Key("tools"), Step::Index(0), Step::Key("cache_control")], text("z")),
        at(&[Step::Index(0), Step::Key("content")], text("y")),
    ];
    let tape = Tape::from_json(body).unwrap();
    let array = tape.root().get("messages").unwrap();
    let splices = splice::of_request(tape.root(), array, &array.children().collect::<Vec<_>>(), &patches, body.as_bytes());
    let expected = r#"{"system": "x", "messages": [{"content": "y"}], "tools": [{"cache_control":"z"}]}"#;
    assert_eq!(String::from_utf8(splice::spliced(body.as_bytes(), &splices)).unwrap(), expected);
    let mut request: Json = serde_json::from_str(body).unwrap();
    patches.iter().for_each(|patch| patch.apply_to_request(&mut request, "messages"));
    assert_eq!(request, serde_json::from_str::<Json>(expected).unwrap());
}

/// A body that goes on with one that was read: what stands behind the messages has moved.
#[test]
fn patches_of_a_request_move_with_what_they_change() {
    let first = r#"{"system": "a", "messages": [{"content": "b"}], "tools": [{}] , "x": 1}"#;
    let now = r#"{"system": "a", "messages": [{"content": "b"}, {"content": "more"}], "tools": [{}] , "x": 1}"#;
    let mark = || Change::Set(Value::Json(json!({ "type": "ephemeral" })));
    let patches = [
        at(&[Step::Key("system")], Change::Set(Value::List(vec![Value::Original]))),
        at(&[Step::Key("tools"), Step::Index(0), Step::Key("cache_control")], mark()),
        at(&[Step::Key("text")], Change::Set(Value::Text("new".into()))),
        at(&[Step::Index(1), Step::Key("content")], Change::Set(Value::Text("y".into()))),
    ];
    let (then, tape) = (Tape::from_json(first).unwrap(), Tape::from_json(now).unwrap());
    let messages: Vec<_> = tape.root().get("messages").unwrap().children().collect();
    let splices = splice::of_request(then.root(), then.root().get("messages").unwrap(), &messages, &patches, now.as_bytes());
    let expected = r#"{"system": ["a"], "messages": [{"content": "b"}, {"content": "y"}], "tools": [{"cache_control":{"type":"ephemeral"}}] , "x": 1,"text":"new"}"#;
    assert_eq!(String::from_utf8(splice::spliced(now.as_bytes(), &splices)).unwrap(), expected);
}

/// A kept body has the splices of the call before where only more messages have come.
#[test]
fn splices_of_messages_that_went_hold_when_others_follow() {
    let (first, now) = (r#"[{"a": 1} , {"b": 2} ,{"c": 3}, {"d": 4} ]"#, r#"[{"a": 1} , {"b": 2} ,{"c": 3}, {"d": 4} , {"e": 5}]"#);
    let patches = [
        at(&[Step::Index(1)], Change::Set(Value::Text("x".into()))),
        at(&[Step::Index(3)], Change::Remove),
        at(&[Step::Index(2)], Change::Remove),
        at(&[Step::Index(0)], Change::Insert(Value::Text("y".into()))),
    ];
    let tape = Tape::from_json(first).unwrap();
    let splices = splice::splices(tape.root(), &tape.root().children().collect::<Vec<_>>(), &patches, first.as_bytes());
    let of = |body: &str| String::from_utf8(splice::spliced(body.as_bytes(), &splices)).unwrap();
    assert_eq!(of(first), r#"["y",{"a": 1} , "x" ]"#);
    assert_eq!(of(now), r#"["y",{"a": 1} , "x" , {"e": 5}]"#);
    assert_eq!(of(now).parse::<Json>().unwrap(), spliced(now, &patches).parse::<Json>().unwrap());
}

#[test]
fn an_original_keeps_its_spelling() {
    let listed = Value::List(vec![Value::Record(vec![("type", Value::Text("text".into())), ("text", Value::Original)])]);
    let set = at(&[Step::Index(0), Step::Key("content")], Change::Set(listed));
    assert_eq!(spliced("[{\"content\":\t\"\\u0061\\ud800\"}]", &[set]), "[{\"content\":\t[{\"type\":\"text\",\"text\":\"\\u0061\\ud800\"}]}]");
}

#[test]
fn a_path_that_is_not_there_changes_nothing() {
    let set = |path: &[Step]| at(path, Change::Set(Value::Text("x".into())));
    let json = r#"[{"content": [1]}]"#;
    for path in [&[Step::Index(1)][..], &[Step::Index(1), Step::Key("text")], &[Step::Index(0), Step::Key("content"), Step::Index(4)], &[]] {
        assert_eq!(spliced(json, &[set(path)]), json, "{path:?}");
    }
}

/// An array of messages: objects with some of the keys, one of which may hold an array of such objects.
fn messages() -> impl Strategy<Value = Json> {
    let leaf = || prop_oneof![Just(json!(null)), "[a-z\"\n深]{0,9}".prop_map(Json::from), any::<u8>().prop_map(Json::from)];
    let object = |field: BoxedStrategy<Json>| {
        prop::collection::btree_map(prop::sample::select(KEYS.to_vec()).prop_map(str::to_owned), field, 0..5)
            .prop_map(|fields| Json::Object(fields.into_iter().collect()))
    };
    let part = object(leaf().boxed());
    let message = object(prop_oneof![2 => leaf(), 1 => prop::collection::vec(part, 0..4).prop_map(Json::from)].boxed());
    prop::collection::vec(message, 0..6).prop_map(Json::from)
}

/// Patches as wires make them: of each place at most one, in the order of the messages; then the removal of messages, and insertions last.
fn patches(messages: &Json, choices: &[u8]) -> Vec<Patch> {
    let mut choices = choices.iter().copied().cycle();
    let mut next = |end: u8| choices.next().unwrap_or(0) % end;
    let mut made = Vec::new();
    let value = |choice: u8| match choice {
        0 => Value::Text("new \"text\"\n".into()),
        1 => Value::Json(json!({ "type": "ephemeral" })),
        _ => Value::List(vec![Value::Original]),
    };
    for (index, message) in messages.as_array().unwrap().iter().enumerate() {
        for key in KEYS {
            let path = vec![Step::Index(index), Step::Key(key)];
            match (next(4), message.get(key).map(Json::as_array)) {
                (0, Some(_)) => made.push(Patch { path, change: Change::Remove }),
                (0, None) => made.push(Patch { path, change: Change::Set(value(next(2))) }),
                (1, Some(None)) => made.push(Patch { path, change: Change::Set(value(next(3))) }),
                (1, Some(Some(_))) => {
                    let item = Value::Record(vec![("text", value(next(2)))]);
                    made.push(Patch { path, change: Change::Set(Value::Appended(Box::new(item))) });
                }
                (2, Some(Some(parts))) => {
                    for (part, inner) in parts.iter().enumerate() {
                        for key in KEYS {
                            let path = [path.clone(), vec![Step::Index(part), Step::Key(key)]].concat();
                            match next(4) {
                                0 if inner.get(key).is_some() => made.push(Patch { path, change: Change::Remove }),
                                1 => made.push(Patch { path, change: Change::Set(value(next(2))) }),
                                _ => {}
                            }
                        }
                    }
                    let gone = (0..parts.len()).rev().filter(|_| next(3) == 0).collect::<Vec<_>>();
                    made.retain(|patch| !gone.iter().any(|part| patch.path.starts_with(&[path.clone(), vec![Step::Index(*part)]].concat())));
                    made.extend(gone.iter().map(|part| Patch { path: [path.clone(), vec![Step::Index(*part)]].concat(), change: Change::Remove }));
                }
                _ => {}
            }
        }
    }
    let (length, mut gone) = (messages.as_array().unwrap().len(), Vec::new());
    for start in 0..length {
        if next(4) == 0 && gone.last().is_none_or(|last| *last < start) {
            let end = (start + 1 + usize::from(next(3))).min(length);
            made.retain(|patch| !(start..end).any(|at| patch.path[0] == Step::Index(at)));
            made.push(at(&[Step::Index(start)], Change::Set(Value::Record(vec![("content", value(next(2)))]))));
            gone.extend(start + 1..end);
        }
    }
    made.extend(gone.iter().rev().map(|message| at(&[Step::Index(*message)], Change::Remove)));
    if next(3) == 0 {
        made.push(Patch { path: vec![Step::Index(0)], change: Change::Insert(Value::Json(json!({ "role": "system" }))) });
    }
    made
}

proptest! {
    #![proptest_config(crate::laws::cases(256))]

    #[test]
    fn splices_say_what_patches_say(messages in messages(), choices in prop::collection::vec(any::<u8>(), 1..80), seed in any::<u64>()) {
        let patches = patches(&messages, &choices);
        let json = spell(&messages, &mut Choices::of(seed));
        let mut expected = messages;
        patches.iter().for_each(|patch| patch.apply_to(&mut expected));
        let got = spliced(&json, &patches);
        let read: Result<Json, _> = serde_json::from_str(&got);
        prop_assert_eq!(read.ok().map(|read| floats(&read)), Some(floats(&expected)), "{} became {}", json, got);
    }
}

/// What stands behind an `input` that is a text, or `contents` that are one, has not moved.
#[test]
fn a_request_of_one_text_is_spliced_in_place() {
    for (body, expected) in [
        (r#"{"input": "Hi",  "instructions": "Be brief."}"#, r#"{"input": "Hi",  "instructions": "Be brief.\n\nnotes"}"#),
        (r#"{"input": "Hi"}"#, r#"{"input": "Hi","instructions":"notes"}"#),
        (
            r#"{"contents": {"parts": [{"text": "Hi"}] }}"#,
            r#"{"contents": {"parts": [{"text": "Hi"}] },"systemInstruction":{"parts":[{"text":"notes"}]}}"#,
        ),
    ] {
        let tape = Tape::from_json(body).unwrap();
        let request = Request::of(tape.root());
        let options = Options::from_json(json!({ "contextBlock": "notes" })).unwrap();
        let patches = fold(&request, &options, Given::New).unwrap().patches;
        let messages = [request.messages.unwrap()];
        let splices = splice::of_request(tape.root(), messages[0], &messages, &patches, body.as_bytes());
        assert_eq!(String::from_utf8(splice::spliced(body.as_bytes(), &splices)).unwrap(), expected);
    }
}
