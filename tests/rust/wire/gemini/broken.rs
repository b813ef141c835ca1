//! The validator itself: it passes what is good and names what is broken.

use serde_json::{Value, json};

use crate::twin::gemini::validator::faults;

fn good() -> Value {
    json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "contents": [
            { "role": "user", "parts": [{ "text": "two files, please" }] },
            { "role": "model", "parts": [
                { "text": "Both at once.", "thought": true },
                { "functionCall": { "name": "read", "args": { "path": "a" } }, "thoughtSignature": "c2ln" },
                { "functionCall": { "name": "list", "args": {} } }] },
            { "role": "user", "parts": [
                { "functionResponse": { "name": "read", "response": { "output": "one" } } },
                { "functionResponse": { "name": "list", "response": { "output": "two" } } }] },
            { "role": "model", "parts": [{ "text": "", "thoughtSignature": "c2ln" }] },
            { "role": "user", "parts": [{ "text": "thanks" }] }]
    })
}

#[test]
fn a_good_request_has_no_faults() {
    assert_eq!(faults(&good()), Vec::<String>::new());
}

#[test]
fn each_fault_is_found() {
    type Break = Box<dyn Fn(&mut Value)>;
    let set = |place: &'static str, value: Value| -> Break { Box::new(move |request| *request.pointer_mut(place).expect(place) = value.clone()) };
    let cut = |place: &'static str, at: usize| -> Break {
        Box::new(move |request| drop(request.pointer_mut(place).and_then(Value::as_array_mut).expect(place).remove(at)))
    };
    let lose = |place: &'static str, key: &'static str| -> Break {
        Box::new(move |request| drop(request.pointer_mut(place).and_then(Value::as_object_mut).expect(place).remove(key)))
    };
    let cases: Vec<(&str, Break)> = vec![
        ("contents are not specified", set("/contents", json!([]))),
        ("no role is \"assistant\"", set("/contents/1/role", json!("assistant"))),
        ("it must include at least one part", set("/contents/0/parts", json!([]))),
        ("a part has exactly one kind of data", set("/contents/0/parts/0", json!({ "thought": true }))),
        ("an empty text", set("/contents/0/parts/0/text", json!(""))),
        ("an empty text", lose("/contents/3/parts/0", "thoughtSignature")),
        ("a call of the user's", set("/contents/1/role", json!("user"))),
        ("a response of the model's", set("/contents/2/role", json!("model"))),
        ("a response without a name", set("/contents/2/parts/0/functionResponse/name", json!(""))),
        ("a response is an object", set("/contents/2/parts/0/functionResponse/response", json!("one"))),
        ("arguments are an object", set("/contents/1/parts/1/functionCall/args", json!("{}"))),
        ("1 responses to 2 calls", cut("/contents/2/parts", 0)),
        ("0 responses to 2 calls", cut("/contents", 2)),
        ("2 responses to 1 calls", cut("/contents/1/parts", 2)),
        ("responses to other calls", set("/contents/2/parts/0/functionResponse/name", json!("write"))),
        ("a response behind no call", cut("/contents", 1)),
        ("a call before the user has said anything", cut("/contents", 0)),
        (
            "a call has lost its signature",
            Box::new(|request| {
                request["contents"].as_array_mut().unwrap().truncate(3);
                drop(request["contents"][1]["parts"][1].as_object_mut().unwrap().remove("thoughtSignature"));
            }),
        ),
        ("a cached content beside", Box::new(|request| request["cachedContent"] = json!("cachedContents/1"))),
    ];
    for (fault, breaks) in cases {
        let mut request = good();
        breaks(&mut request);
        assert!(faults(&request).iter().any(|found| found.contains(fault)), "{fault} was not found in {:?}", faults(&request));
    }
}
