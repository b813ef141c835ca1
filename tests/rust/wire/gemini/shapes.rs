//! Each shape that contents have, by hand.

use serde_json::{Value, json};
use warmfold::history::{EntryKind, Required, Role};

use super::read;
use crate::support::{Carry, Sent, eager, lines, merged, send};
use crate::twin::gemini::{TWIN, validator::faults};

fn user(parts: Value) -> Value {
    json!({ "role": "user", "parts": parts })
}

fn model(parts: Value) -> Value {
    json!({ "role": "model", "parts": parts })
}

fn says(text: &str) -> Value {
    json!([{ "text": text }])
}

fn call(name: &str, args: Value) -> Value {
    json!({ "functionCall": { "name": name, "args": args }, "thoughtSignature": "c2ln" })
}

fn gives(name: &str, response: Value) -> Value {
    json!({ "functionResponse": { "name": name, "response": response } })
}

fn eagerly(contents: Value) -> Sent {
    let request = json!({ "contents": contents });
    let folded = TWIN.send(&request, &merged(&eager(), &json!({ "dropReasoning": true })), &Carry::New);
    assert_eq!((faults(&request), faults(&folded.body)), (Vec::new(), Vec::new()));
    folded
}

/// One exchange that gave this, long past; what becomes of it.
fn response_of(response: Value) -> Value {
    let contents = json!([
        user(says("go")),
        model(json!([call("run_job", json!({}))])),
        user(json!([gives("run_job", response)])),
        model(says("done")),
        user(says("next"))
    ]);
    eagerly(contents).body["contents"][2]["parts"][0]["functionResponse"]["response"].clone()
}

fn is_cut(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(" elided"))
}

#[test]
fn a_response_stays_the_object_it_was() {
    let output = response_of(json!({ "output": lines("out", 100), "code": 0, "ok": true, "at": null }));
    assert!(is_cut(&output["output"]));
    assert_eq!((&output["code"], &output["ok"], &output["at"]), (&json!(0), &json!(true), &json!(null)));

    // As tools of MCP give it.
    let text = |about: &str| json!({ "type": "text", "text": lines(about, 50) });
    let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
    let output = response_of(json!({ "content": [text("first"), image, text("second")], "isError": false }));
    assert!(is_cut(&output["content"][0]["text"]) && is_cut(&output["content"][2]["text"]), "{output}");
    assert_eq!((&output["content"][1], &output["content"][2]["type"], &output["isError"]), (&image, &json!("text"), &json!(false)));

    let output = response_of(json!({ "result": { "stdout": lines("out", 60), "stderr": lines("err", 60), "exit_code": 1 } }));
    assert!(is_cut(&output["result"]["stdout"]) && is_cut(&output["result"]["stderr"]), "{output}");
    assert_eq!(output["result"]["exit_code"], 1);
}

/// The API takes none of them, and nothing is cut or dropped in them: no text lands on another's place, no call goes with a thought.
#[test]
fn a_part_that_holds_several_things_is_sent_as_it_is() {
    let both = json!({ "text": "", "functionResponse": { "name": "a", "response": { "x": "AX", "y": "AY" } } });
    let thought = json!({ "text": lines("hm", 60), "thought": true, "functionCall": { "name": "a", "args": {} } });
    let contents = json!([
        user(says("go")),
        model(json!([thought, call("b", json!({}))])),
        user(json!([both, gives("b", json!({ "x": lines("x", 60), "y": lines("y", 60) }))])),
        model(says("done")),
        user(says("next"))
    ]);
    let sent = TWIN.send(&json!({ "contents": contents }), &merged(&eager(), &json!({ "dropReasoning": true })), &Carry::New).body;
    assert_eq!((&sent["contents"][1], &sent["contents"][2]["parts"][0]), (&contents[1], &both));
    let response = &sent["contents"][2]["parts"][1]["functionResponse"]["response"];
    assert!(is_cut(&response["x"]) && is_cut(&response["y"]), "{response}");
}

/// Rows of short values and what lies too deep are the frame of a response, and are counted with it.
#[test]
fn short_and_deep_texts_are_frame() {
    let rows: Vec<Value> = (0..50).map(|row| json!({ "name": format!("row {row}"), "size": row })).collect();
    let deep = json!({ "b": { "c": { "d": { "e": { "f": { "g": lines("deep", 50) } } } } } });
    let response = json!({ "a": deep, "rows": rows, "status": "ok" });
    let contents = json!([user(says("go")), model(json!([call("job", json!({}))])), user(json!([gives("job", response.clone())]))]);
    read(&json!({ "contents": contents }), |view| {
        let parts: Vec<_> = view.entries[view.messages[2].entries.clone()].iter().map(|entry| (entry.part, entry.text())).collect();
        assert_eq!(parts, [(0, "ok")]);
        assert!(view.messages[2].fixed.bytes > 3000, "{:?}", view.messages[2].fixed);
    });
    assert_eq!(response_of(response.clone()), response);
    let at = json!({ "a": { "b": [{ "c": [{ "d": lines("deep", 50) }] }] } });
    assert!(is_cut(&response_of(at)["a"]["b"][0]["c"][0]["d"]));
}

#[test]
fn parallel_calls_are_paired_by_name_and_order() {
    let contents = json!([
        user(says("go")),
        model(json!([
            call("read_file", json!({ "path": "a" })),
            { "functionCall": { "name": "read_file", "args": { "path": "b" } } },
            { "functionCall": { "name": "grep", "args": {} } }])),
        user(json!([
            gives("grep", json!({ "output": "found" })),
            gives("read_file", json!({ "output": "a's" })),
            gives("read_file", json!({ "output": "b's", "size": "3" }))
        ])),
    ]);
    read(&json!({ "contents": contents }), |view| {
        assert_eq!((view.messages[2].role, view.messages[2].authored), (Role::Tool, false));
        let results = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result);
        let results: Vec<_> = results.map(|entry| (entry.part, entry.tool_call, entry.text())).collect();
        assert_eq!(results, [(0, Some(2), "found"), (1, Some(0), "a's"), (2, Some(1), "b's"), (3, Some(1), "3")]);
    });
}

#[test]
fn an_id_goes_before_a_name() {
    let with = |name: &str, id: &str, mut part: Value| {
        part[name]["id"] = id.into();
        part
    };
    let asked = |ids: [&str; 2]| model(json!(ids.map(|id| with("functionCall", id, call("read", json!({}))))));
    let given = |ids: [&str; 2]| user(json!(ids.map(|id| with("functionResponse", id, gives("read", json!({ "output": id }))))));
    let pairs = |contents: Value| {
        read(&json!({ "contents": contents }), |view| {
            view.entries.iter().filter(|entry| entry.kind == EntryKind::Result).map(|entry| entry.tool_call).collect::<Vec<_>>()
        })
    };
    let go = user(says("go"));
    assert_eq!(pairs(json!([go, asked(["x", "y"]), given(["y", "x"])])), [Some(1), Some(0)]);
    // An id is given twice, or one side has none.
    assert_eq!(pairs(json!([go, asked(["x", "x"]), given(["x", "x"]), asked(["x", "y"]), given(["y", "x"])])), [0, 1, 3, 2].map(Some));
    assert_eq!(pairs(json!([go, asked(["", ""]), given(["y", "x"])])), [Some(0), Some(1)]);
    assert_eq!(pairs(json!([go, asked(["x", "y"]), given(["", ""])])), [Some(0), Some(1)]);
    // What an id has paired is no longer there for a name.
    assert_eq!(pairs(json!([go, asked(["x", "y"]), given(["x", ""])])), [Some(0), Some(1)]);
}

/// Each response in a content of its own, or in the role that older versions had; and the user's words beside them.
#[test]
fn responses_stand_where_hosts_put_them() {
    let ask = model(json!([call("a", json!({})), { "functionCall": { "name": "b", "args": {} } }]));
    let [one, two] = ["a", "b"].map(|name| gives(name, json!({ "result": lines(name, 40) })));
    for [one, two] in [
        [user(json!([one])), user(json!([two]))],
        [json!({ "role": "function", "parts": [one] }), json!({ "role": "function", "parts": [two] })],
        [user(json!([one])), user(json!([two, { "text": "and hurry" }]))],
    ] {
        let says_more = two["parts"].as_array().unwrap().len() > 1;
        let folded =
            eagerly(json!([user(says("go")), ask, one, two, model(says("done")), user(says("next")), model(says("ok")), user(says("more"))]));
        let tools: Vec<_> = folded.edits().into_iter().map(|edit| (edit.message, edit.tool.unwrap())).collect();
        assert_eq!(tools, [(2, "a".to_owned()), (3, "b".to_owned())]);
        read(&json!({ "contents": [user(says("go")), ask, one, two] }), |view| {
            assert_eq!((view.messages[3].role, view.messages[3].authored), (if says_more { Role::User } else { Role::Tool }, says_more));
        });
    }
}

#[test]
fn a_response_may_say_that_it_failed() {
    let failed =
        |response: Value| read(&json!({ "contents": [user(json!([gives("x", response)]))] }), |view| view.entries.iter().any(|entry| entry.failed));
    for response in [json!({ "error": "no" }), json!({ "error": { "message": "no" } }), json!({ "content": [], "text": "x", "isError": true })] {
        let response = merged(&response, &json!({ "says": "it" }));
        assert!(failed(response.clone()), "{response}");
    }
    for response in [json!({ "error": null }), json!({ "error": "" }), json!({ "error": {} }), json!({ "error": false }), json!({ "isError": false })]
    {
        let response = merged(&response, &json!({ "says": "it" }));
        assert!(!failed(response.clone()), "{response}");
    }
}

#[test]
fn summaries_of_thoughts_go_and_signatures_stay() {
    let thought = |text: &str| json!({ "text": lines(text, 20), "thought": true });
    let signed = json!({ "text": lines("signed", 20), "thought": true, "thoughtSignature": "c2ln" });
    let ask = model(json!([thought("one"), signed, thought("two"), call("job", json!({}))]));
    let answer = model(json!([thought("three"), { "text": "done" }, { "text": "", "thoughtSignature": "bGFzdA==" }]));
    let result = user(json!([gives("job", json!({ "output": "ok" }))]));
    let folded = eagerly(json!([user(says("go")), ask, result, answer, user(says("next")), answer, user(says("more"))]));
    assert_eq!(folded.body["contents"][1]["parts"], json!([signed, call("job", json!({}))]));
    assert_eq!(folded.body["contents"][3]["parts"], json!([{ "text": "done" }, { "text": "", "thoughtSignature": "bGFzdA==" }]));
    assert_eq!(folded.body["contents"][5], answer, "the latest answer keeps its own");
    read(&json!({ "contents": [ask] }), |view| {
        let reasoning: Vec<_> = view.entries.iter().map(|entry| (entry.part, entry.kind, entry.required)).collect();
        assert_eq!(reasoning, [(0, EntryKind::Reasoning, Required::Never), (1, EntryKind::Reasoning, Required::Always)]);
    });
}

/// A content that says nothing else keeps its thoughts; what is signed but empty says something.
#[test]
fn no_content_is_left_empty() {
    let thought = json!({ "text": lines("hm", 20), "thought": true });
    let kept = |parts: Value| {
        let folded = eagerly(json!([user(says("go")), model(parts.clone()), user(says("on")), model(says("done")), user(says("more"))]));
        folded.body["contents"][1]["parts"] == parts
    };
    assert!(kept(json!([thought])));
    assert!(kept(json!([thought, { "text": "signed", "thought": true, "thoughtSignature": "c2ln" }])));
    assert!(!kept(json!([thought, { "text": "", "thoughtSignature": "c2ln" }])));
    assert!(!kept(json!([thought, { "executableCode": { "language": "PYTHON", "code": "1" } }])));
}

/// A streamed answer that was kept in pieces is one answer, and its calls are made at once.
#[test]
fn contents_of_the_model_in_a_row_are_one_answer() {
    let contents = json!([
        user(says("go")),
        model(says("I look. ")),
        model(json!([call("read", json!({ "path": "a" }))])),
        model(json!([call("read", json!({ "path": "b" }))])),
        user(json!([gives("read", json!({ "output": "a's" })), gives("read", json!({ "output": "b's" }))]))
    ]);
    read(&json!({ "contents": contents }), |view| {
        assert_eq!(view.messages.iter().map(|message| message.continues).collect::<Vec<_>>(), [false, false, true, true, false]);
        let results = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result);
        assert_eq!(results.map(|entry| entry.tool_call).collect::<Vec<_>>(), [Some(0), Some(1)]);
    });
}

/// Media costs neither its base64 nor nothing, and stays where it is; so does what the provider ran.
#[test]
fn media_and_code_are_sent_as_they_are() {
    let data = "aGk=".repeat(5000);
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": data } });
    let pdf = json!({ "fileData": { "mimeType": "application/pdf", "fileUri": "gs://b/a.pdf" } });
    let code = json!([
        { "executableCode": { "language": "PYTHON", "code": "print(1)" } }, { "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": lines("1", 90) } }, { "text": "1" }]);
    let response = json!({ "functionResponse": { "name": "shoot", "response": { "output": lines("taken", 60) }, "parts": [image] } });
    let contents = json!([
        user(json!([{ "text": "look" }, image, pdf])),
        model(code.clone()),
        user(says("go")),
        model(json!([call("shoot", json!({}))])),
        user(json!([response])),
        model(says("done")),
        user(says("next"))
    ]);
    read(&json!({ "contents": contents }), |view| {
        assert_eq!(view.messages[0].fixed.tokens, view.messages[2].fixed.tokens + 765 + 1500);
        assert!((765..900).contains(&view.messages[4].fixed.tokens), "{:?}", view.messages[4]);
        assert_eq!(view.tool_calls.iter().map(|call| call.name).collect::<Vec<_>>(), ["code_execution", "shoot"]);
    });
    let folded = eagerly(contents.clone());
    let part = &folded.body["contents"][4]["parts"][0]["functionResponse"];
    assert!(is_cut(&part["response"]["output"]) && part["parts"] == json!([image]), "{part}");
    assert_eq!((&folded.body["contents"][0], &folded.body["contents"][1]["parts"]), (&contents[0], &code));
}

/// What only one part is, the API takes without its list.
#[test]
fn a_single_part_may_stand_without_a_list() {
    let contents = json!([
        { "role": "user", "parts": { "text": "go" } }, { "role": "model", "parts": call("job", json!({})) }, { "role": "user", "parts": gives("job", json!({ "output": lines("out", 60), "more": lines("more", 60) })) },
        { "parts": { "text": "and" } }, { "role": "model" }, { "role": "user", "parts": { "text": "next" } }]);
    let folded = send(&json!({ "contents": contents }), &eager(), &Carry::New);
    let response = &folded.body["contents"][2]["parts"]["functionResponse"]["response"];
    assert!(is_cut(&response["output"]) && is_cut(&response["more"]), "{response}");
    assert_eq!(folded.edits().iter().map(|edit| edit.part).collect::<Vec<_>>(), [0, 1]);
}
