//! The validator itself: it passes what is good and names what is broken.

use serde_json::{Value, json};

use crate::twin::anthropic::validator::faults;

fn good() -> Value {
    json!({
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral", "ttl": "1h" } }],
        "thinking": { "type": "enabled", "budget_tokens": 2000 },
        "messages": [
            { "role": "user", "content": "two files, please" },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Both at once.", "signature": "c2ln" },
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "a", "name": "read", "input": { "path": "a" } },
                { "type": "tool_use", "id": "b", "name": "read", "input": { "path": "b" } }] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a", "content": "one" },
                { "type": "tool_result", "tool_use_id": "b", "content": [{ "type": "text", "text": "two" }], "cache_control": { "type": "ephemeral" } },
                { "type": "text", "text": "and hurry" }] }]
    })
}

#[test]
fn a_good_request_has_no_faults() {
    assert_eq!(faults(&good()), Vec::<String>::new());
}

#[test]
fn each_fault_is_found() {
    let mark = |ttl: &str| json!({ "type": "ephemeral", "ttl": ttl });
    let text = |text: &str| json!({ "type": "text", "text": text });
    type Break = Box<dyn Fn(&mut Value)>;
    let set = |place: &'static str, value: Value| -> Break { Box::new(move |request| *request.pointer_mut(place).expect(place) = value.clone()) };
    let cut = |place: &'static str, at: usize| -> Break {
        Box::new(move |request| drop(request.pointer_mut(place).and_then(Value::as_array_mut).expect(place).remove(at)))
    };
    let cases: Vec<(&str, Break)> = vec![
        ("there are no messages", set("/messages", json!([]))),
        ("the first message is not the user's", cut("/messages", 0)),
        ("no \"tool\" here", set("/messages/2/role", json!("tool"))),
        ("no \"system\" here", set("/messages/0/role", json!("system"))),
        ("an empty content", set("/messages/0/content", json!(""))),
        ("an empty content", set("/messages/1/content", json!([]))),
        ("no content", set("/messages/0/content", Value::Null)),
        ("an empty text", set("/messages/1/content/1/text", json!(" \n"))),
        ("an empty text in a result", set("/messages/2/content/1/content/0/text", json!(""))),
        ("a call without its result in the next turn", cut("/messages/2/content", 0)),
        ("a call without its result in the next turn", cut("/messages", 2)),
        ("a result without its call in the turn before", cut("/messages/1/content", 2)),
        ("two results of one call", set("/messages/2/content/1/tool_use_id", json!("a"))),
        ("the id \"a\" names two calls", set("/messages/1/content/3/id", json!("a"))),
        ("text behind a call", set("/messages/1/content/3", text("more"))),
        ("a call without its result in the next turn", set("/messages/2/content/0", text("first"))),
        ("it ends with thinking", set("/messages/1/content", json!([{ "type": "thinking", "thinking": "hm", "signature": "c2ln" }]))),
        ("thinking without a signature", set("/messages/1/content/0/signature", json!(""))),
        ("the open tool loop has lost its thinking", cut("/messages/1/content", 0)),
        ("\"tool_use\" is not the user's", set("/messages/2/content/2", json!({ "type": "tool_use", "id": "c", "name": "x", "input": {} }))),
        ("no block is a \"tool-call\"", set("/messages/2/content/2/type", json!("tool-call"))),
        (
            "a search result without texts",
            set("/messages/2/content/1/content/0", json!({ "type": "search_result", "source": "s", "title": "t", "content": [] })),
        ),
        ("a mark on \"thinking\"", Box::new(move |request| request["messages"][1]["content"][0]["cache_control"] = mark("5m"))),
        ("an hour behind five minutes", Box::new(move |request| request["messages"][2]["content"][2]["cache_control"] = mark("1h"))),
        ("no mark", set("/system/0/cache_control", mark("1d"))),
        ("5 marks", Box::new(move |request| (0..3).for_each(|at| request["messages"][1]["content"][at + 1]["cache_control"] = mark("5m")))),
        ("system: a text", set("/system/0/text", json!(""))),
    ];
    for (fault, breaks) in cases {
        let mut request = good();
        breaks(&mut request);
        assert!(faults(&request).iter().any(|found| found.contains(fault)), "{fault} was not found in {:?}", faults(&request));
    }
}
