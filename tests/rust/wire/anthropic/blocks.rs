//! Every kind of block, by hand, and the cases that have a shape of their own here.

use serde_json::{Value, json};
use warmfold::history::{EntryKind, Role, turns};
use warmfold::wire::Request;
use warmfold::{Format, Tape};

use super::{folded, read, spliced};
use crate::support::{Carry, Sent, eager, lines, merged, user};
use crate::twin::anthropic::validator::faults;

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn answers(blocks: &[Value]) -> Value {
    json!({ "role": "assistant", "content": blocks })
}

fn says(blocks: &[Value]) -> Value {
    json!({ "role": "user", "content": blocks })
}

fn calls(id: &str, path: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": path } })
}

fn result(id: &str, content: Value) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": content })
}

fn image() -> Value {
    json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=".repeat(4000) } })
}

/// A read of one file that is old by now.
fn of_one(content: Value) -> Value {
    json!([user("go"), answers(&[calls("a", "a")]), says(&[result("a", content)]), answers(&[text("ok")]), user("so")])
}

/// Folds with whatever is old let go of; the bytes' way must agree, and the provider with what is sent.
fn shortened(messages: Value, more: Value) -> Sent {
    let request = json!({ "system": "Be brief.", "messages": messages });
    let folded = folded(&request, &merged(&eager(), &more), &Carry::New);
    assert_eq!(spliced(&request.to_string(), &folded.outcome.patches), folded.body);
    assert_eq!(faults(&folded.body), faults(&request));
    folded
}

fn edited(folded: &Sent) -> Vec<(usize, usize)> {
    folded.edits().iter().map(|edit| (edit.message, edit.part)).collect()
}

fn tokens(block: Value) -> u32 {
    read(&json!({ "messages": [says(&[block])] }), |view| view.size().tokens)
}

fn recognised(message: &Value) -> Result<Format, String> {
    let tape = Tape::from_json(json!({ "messages": [message] }).to_string()).unwrap();
    Format::recognise(&Request::of(tape.root())).map_err(|fault| fault.message().to_owned())
}

#[test]
fn a_result_is_a_text_or_blocks() {
    let whole = lines("a", 40);
    let string = shortened(of_one(json!(whole)), json!({}));
    let short = string.body["messages"][2]["content"][0]["content"].as_str().unwrap().to_owned();
    assert!(short.starts_with("[warmfold: ") && short.len() < 400, "{short}");
    let list = shortened(of_one(json!([image(), text(&whole), image()])), json!({}));
    assert_eq!(list.body["messages"][2]["content"][0]["content"], json!([image(), text(&short), image()]), "the text alone changes");
}

#[test]
fn an_edit_changes_nothing_else() {
    let block = json!({ "type": "text", "text": lines("a", 40), "citations": null, "x": 1.5 });
    let with = |text: &Value| json!({ "type": "tool_result", "is_error": false, "tool_use_id": "a", "content": [text], "x": { "y": [null] } });
    let messages = json!([user("go"), answers(&[calls("a", "a")]), says(&[with(&block)]), answers(&[text("ok")]), user("so")]);
    let folded = shortened(messages.clone(), json!({}));
    let mut expected = block.clone();
    expected["text"] = folded.body["messages"][2]["content"][0]["content"][0]["text"].clone();
    assert_eq!(folded.body["messages"][2], says(&[with(&expected)]));
    assert!(expected != block && folded.body["messages"][1] == messages[1]);
}

/// Each text of a result is an entry; those after the first stand behind all blocks, so that a part is a block wherever it can be.
#[test]
fn texts_of_a_result_have_parts_of_their_own() {
    let two = |about: &str| json!([text(&lines(about, 20)), image(), text(&lines(&format!("{about} again"), 20))]);
    let messages = json!([
        user("go"),
        answers(&[calls("a", "a"), calls("b", "b")]),
        says(&[result("a", two("a")), result("b", two("b")), text("and hurry")]),
        answers(&[text("ok")]),
        user("so")
    ]);
    let parts = read(&json!({ "messages": messages }), |view| {
        view.entries.iter().filter(|entry| entry.message == 2).map(|entry| (entry.part, entry.kind, entry.text().to_owned())).collect::<Vec<_>>()
    });
    let starts = parts.iter().map(|(part, kind, text)| (*part, *kind, text.split(',').next().unwrap())).collect::<Vec<_>>();
    use EntryKind::{Result, Text};
    assert_eq!(starts, [(0, Result, "a"), (1, Result, "b"), (2, Text, "and hurry"), (3, Result, "a again"), (4, Result, "b again")]);
    let folded = shortened(messages.clone(), json!({ "pins": [{ "message": 2, "part": 3 }] }));
    assert_eq!(edited(&folded), [(2, 0), (2, 1), (2, 4)], "the pinned text stays");
    assert_eq!(folded.body["messages"][2]["content"][0]["content"][2], messages[2]["content"][0]["content"][2]);
}

#[test]
fn search_results_are_shortened_text_by_text() {
    let found =
        |texts: &[Value]| json!({ "type": "search_result", "source": "https://a", "title": "A", "content": texts, "citations": { "enabled": true } });
    let long = [text(&lines("a", 30)), text("short"), text(&lines("b", 30))];
    let folded = shortened(of_one(json!([found(&long), found(&long[..2])])), json!({}));
    assert_eq!(edited(&folded), [(2, 0), (2, 2), (2, 3)]);
    let content = &folded.body["messages"][2]["content"][0]["content"];
    let stripped = |content: &Value| {
        let mut content = content.clone();
        content.as_array_mut().unwrap().iter_mut().for_each(|item| item["content"] = item["content"].as_array().unwrap().len().into());
        content
    };
    assert_eq!(stripped(content), stripped(&json!([found(&long), found(&long[..2])])), "titles, sources and how many texts there are stay");
}

#[test]
fn a_plain_document_is_text_unless_it_is_cited() {
    let document = |cited: Value| json!({ "type": "document", "title": "t", "source": { "type": "text", "media_type": "text/plain", "data": lines("a", 40) }, "citations": cited });
    let folded = shortened(of_one(json!([document(json!({ "enabled": false }))])), json!({}));
    assert!(folded.body["messages"][2]["content"][0]["content"][0]["source"]["data"].as_str().unwrap().starts_with("[warmfold"));
    for whole in [
        document(json!({ "enabled": true })),
        json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "JVBE".repeat(900) } }),
    ] {
        assert!(shortened(of_one(json!([whole])), json!({})).edits().is_empty());
    }
}

#[test]
fn what_failed_says_so_still() {
    let messages = |failed: bool| {
        json!([
            user("go"),
            answers(&[calls("a", "a")]),
            says(&[json!({ "type": "tool_result", "tool_use_id": "a", "content": lines("a", 20), "is_error": failed })]),
            answers(&[calls("b", "a")]),
            says(&[result("b", json!(lines("a", 20)))]),
            answers(&[text("ok")]),
            user("so")
        ])
    };
    let rules = |failed: bool| shortened(messages(failed), json!({})).edits().iter().map(|edit| edit.rule.clone()).collect::<Vec<_>>();
    assert_ne!(rules(true), rules(false));
    assert!(read(&json!({ "messages": messages(true) }), |view| view.entries.iter().any(|entry| entry.failed)));
}

/// What the provider ran itself must come back as it was.
#[test]
fn server_tools_stay_as_they_are() {
    let encrypted = "ZW5jcnlwdGVk".repeat(300);
    let blocks = [
        json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "news" } }),
        json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [{ "type": "web_search_result", "url": "u", "title": "t", "encrypted_content": encrypted }] }),
        json!({ "type": "server_tool_use", "id": "s2", "name": "code_execution", "input": { "code": "print(1)" } }),
        json!({ "type": "code_execution_tool_result", "tool_use_id": "s2", "content": { "type": "code_execution_result", "stdout": lines("out", 60), "stderr": "", "return_code": 0, "content": [] } }),
        json!({ "type": "mcp_tool_use", "id": "s3", "name": "read", "server_name": "files", "input": { "path": "a" } }),
        json!({ "type": "mcp_tool_result", "tool_use_id": "s3", "is_error": false, "content": [text(&lines("mcp", 60))] }),
        json!({ "type": "compaction", "content": lines("before", 60) }),
        json!({ "type": "text", "text": "So.", "citations": [{ "type": "web_search_result_location", "url": "u", "cited_text": "c", "encrypted_index": encrypted }] }),
    ];
    let messages = json!([user("go"), answers(&blocks), user("and?"), answers(&[text("ok")]), user("so")]);
    assert!(recognised(&messages[1]) == Ok(Format::Anthropic));
    let folded = shortened(messages.clone(), json!({ "dropReasoning": true }));
    assert_eq!(folded.body["messages"], messages);
    let request = json!({ "messages": messages });
    let (entries, calls, size) = read(&request, |view| (view.messages[1].entries.len(), view.tool_calls.len(), view.messages[1].fixed.tokens));
    assert_eq!((entries, calls), (1, 3), "they are no entries, and what was asked counts as written");
    assert!(size > 2000, "they are counted: {size}");
}

/// CASES 1: results of parallel calls and the user's own text beside them; any order of results.
#[test]
fn results_of_parallel_calls_stand_in_one_message() {
    let messages = json!([
        user("go"),
        answers(&[text("Both."), calls("a", "a"), calls("b", "b")]),
        says(&[result("b", json!(lines("b", 40))), result("a", json!(lines("a", 40))), text("mind the second")]),
        answers(&[text("ok")]),
        user("so")
    ]);
    let folded = shortened(messages.clone(), json!({}));
    assert_eq!(edited(&folded), [(2, 0), (2, 1)]);
    assert_eq!(folded.body["messages"][2]["content"][2], messages[2]["content"][2]);
    let paths = read(&json!({ "messages": messages }), |view| {
        let of = |part: u32| {
            view.entries[view.entry_at(2, part).unwrap()].tool_call.map(|call| view.tool_calls[call].arguments.unwrap().to_json()["path"].clone())
        };
        [of(0), of(1)]
    });
    assert_eq!(paths, [Some(json!("b")), Some(json!("a"))]);
}

/// CASES 5 and 6: one id for every call.
#[test]
fn ids_that_repeat_pair_with_the_nearest() {
    let round = |path: &str| {
        [
            answers(&[calls("x", path), calls("x", &format!("{path}2"))]),
            says(&[result("x", json!(lines(path, 40))), result("x", json!(lines(&format!("{path}2"), 40)))]),
        ]
    };
    let messages: Vec<Value> = [vec![user("go")], round("a").to_vec(), round("b").to_vec(), vec![answers(&[text("ok")]), user("so")]].concat();
    let asked = read(&json!({ "messages": messages }), |view| {
        let results = view.entries.iter().filter(|entry| entry.kind == EntryKind::Result);
        results
            .map(|entry| {
                (
                    view.tool_calls[entry.tool_call.unwrap()].arguments.unwrap().to_json()["path"].as_str().unwrap().to_owned(),
                    entry.text().split(',').next().unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    });
    assert!(asked.len() == 4 && asked.iter().all(|(path, about)| path == about), "{asked:?}");
}

/// A message of results alone is a tool's: no turn, and one run with the next such message.
#[test]
fn turns_are_those_of_the_user() {
    let history = |more: &[Value]| [&[user("go"), answers(&[calls("a", "a")])][..], more].concat();
    let roles = |messages: Vec<Value>| {
        read(&json!({ "messages": messages }), |view| view.messages.iter().map(|message| (message.role, message.authored)).collect::<Vec<_>>())
    };
    let last = |blocks: &[Value]| *roles(history(&[says(blocks)])).last().unwrap();
    let one = result("a", json!("x"));
    assert_eq!(last(std::slice::from_ref(&one)), (Role::Tool, false));
    assert_eq!(last(&[one.clone(), text("")]), (Role::Tool, false));
    assert_eq!(last(&[one.clone(), json!({ "type": "mid_conv_system", "content": [text("rule")] })]), (Role::Tool, false));
    for own in [
        text("and"),
        image(),
        json!({ "type": "document", "source": { "type": "url", "url": "u" } }),
        json!({ "type": "search_result", "source": "s", "title": "t", "content": [text("x")] }),
    ] {
        assert_eq!(last(&[one.clone(), own]), (Role::User, true));
    }
    let split = history(&[says(std::slice::from_ref(&one)), says(&[result("b", json!("y"))]), user("so")]);
    read(&json!({ "messages": split }), |view| {
        assert_eq!(turns::calls(view), [1, 5]);
        assert_eq!(turns::Recent::new(view, 1).protect_from(4), 1, "the call is the newest turn");
        assert_eq!(turns::Recent::new(view, 9).protect_from(5), 0);
        assert_eq!(turns::Recent::new(view, 1).protect_from(5), 4);
    });
}

/// CASES 15 and 24, and a forced tool: what is protected stays.
#[test]
fn what_is_protected_stays() {
    let open = json!([user("go"), answers(&[calls("a", "a")]), says(&[result("a", json!(lines("a", 400)))])]);
    assert!(shortened(open, json!({})).edits().is_empty(), "the newest results are the tail");
    let forced = json!({ "messages": of_one(json!(lines("a", 40))), "tool_choice": { "type": "tool", "name": "read" } });
    assert!(folded(&forced, &eager(), &Carry::New).edits().is_empty());
    let any = merged(&forced, &json!({ "tool_choice": { "type": "any" } }));
    assert_eq!(folded(&any, &eager(), &Carry::New).edits().len(), 1);
    let mut memory = of_one(json!(lines("a", 40)));
    memory[1]["content"][0]["name"] = json!("memory");
    assert!(shortened(memory, json!({})).edits().is_empty());
    let mut orphan = of_one(json!(lines("a", 40)));
    orphan[2]["content"][0]["tool_use_id"] = json!("nobody");
    let request = json!({ "messages": orphan });
    assert!(folded(&request, &eager(), &Carry::New).edits().is_empty());
}

/// CASES 26 and 27: an image costs what images cost, a document its pages, never the length of its base64 and never nothing.
#[test]
fn media_are_counted_by_what_they_show() {
    let nothing = tokens(text(""));
    let of = |block: Value| tokens(block) - nothing;
    assert_eq!(of(image()), 765);
    assert_eq!(of(json!({ "type": "image", "source": { "type": "file", "file_id": "f" } })), 765);
    let pdf =
        |bytes: usize| of(json!({ "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": "A".repeat(bytes) } }));
    assert!((1400..1700).contains(&pdf(60_000)) && pdf(4) >= 100);
    for pointed in [json!({ "type": "url", "url": "u" }), json!({ "type": "file", "file_id": "f" })] {
        assert!(of(json!({ "type": "document", "source": pointed })) >= 1000);
    }
    assert!(of(json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "word ".repeat(1000) } })) > 800);
    let inside = |blocks: Value| read(&json!({ "messages": of_one(blocks) }), |view| view.messages[2].fixed.tokens);
    assert_eq!(inside(json!([image(), image()])) - inside(json!([])), 2 * 765);
}

/// CASES 28: what stands before the messages counts.
#[test]
fn system_and_tools_are_counted() {
    let size = |request: Value| read(&request, |view| view.size().tokens);
    let plain = size(json!({ "messages": [user("hi")] }));
    assert!(size(json!({ "messages": [user("hi")], "system": [text(&"rule ".repeat(1000))] })) > plain + 900);
    assert!(
        size(json!({ "messages": [user("hi")], "tools": [{ "name": "t", "description": "word ".repeat(1000), "input_schema": {} }] })) > plain + 900
    );
}

/// Newer models take instructions in the middle of a conversation.
#[test]
fn system_messages_may_stand_among_the_others() {
    let messages = json!([user("go"), answers(&[calls("a", "a")]), says(&[result("a", json!(lines("a", 40)))]), { "role": "system", "content": lines("rule", 40) }, answers(&[text("ok")]), user("so")]);
    let folded = shortened(messages.clone(), json!({}));
    assert_eq!((edited(&folded), &folded.body["messages"][3]), (vec![(2, 0)], &messages[3]));
}

#[test]
fn a_format_is_known_by_what_only_it_has() {
    for block in [
        calls("a", "a"),
        json!({ "type": "thinking", "thinking": "t", "signature": "s" }),
        json!({ "type": "redacted_thinking", "data": "d" }),
        json!({ "type": "server_tool_use", "id": "a", "name": "web_search", "input": {} }),
        json!({ "type": "mcp_tool_result", "tool_use_id": "a", "content": [] }),
        json!({ "type": "compaction", "content": "s" }),
    ] {
        assert_eq!(recognised(&answers(&[block])), Ok(Format::Anthropic));
    }
    assert_eq!(recognised(&says(&[result("a", json!("x"))])), Ok(Format::Anthropic));
    assert_eq!(recognised(&user("hi")), Ok(Format::OpenaiChat), "where all readings agree the first will do");
    // Two formats in one message are none.
    let mixed = json!({ "role": "assistant", "content": [calls("a", "a")], "tool_calls": [{ "id": "b", "function": { "name": "read", "arguments": "{}" } }] });
    assert!(recognised(&mixed).is_err_and(|fault| fault.contains("\"anthropic\"")), "{mixed}");
}

/// Whatever stands where a block should be, it is read or refused with its place.
#[test]
fn odd_messages_are_read_or_refused() {
    let of = |message: Value| {
        crate::support::try_send(&json!({ "messages": [message] }), &json!({ "format": "anthropic", "marks": "anthropic" }), &Carry::New)
    };
    for content in [
        json!(null),
        json!([]),
        json!([null, 1, "bare", [], {}]),
        json!([{ "type": "tool_result" }]),
        json!([{ "type": "tool_result", "tool_use_id": 1, "content": { "a": 1 } }]),
        json!([{ "type": "text" }]),
        json!([{ "type": "text", "text": 1 }]),
    ] {
        for role in ["user", "assistant", "system", "critic"] {
            assert!(of(json!({ "role": role, "content": content })).is_ok(), "{role}: {content}");
        }
    }
    for (message, path) in [
        (json!("hi"), "messages[0]"),
        (json!({ "content": "hi" }), "messages[0].role"),
        (json!({ "role": "user", "content": 1 }), "messages[0].content"),
    ] {
        assert_eq!(of(message).unwrap_err().path(), path);
    }
}

/// A part does not tell which text of a result it is.
#[test]
fn a_copy_is_news_wherever_its_result_stands() {
    let old = json!(lines("old", 20));
    let read = |id: &str, content: &Value| [answers(&[calls(id, "a")]), says(&[result(id, content.clone())])];
    let messages: Vec<Value> = [
        vec![user("go")],
        read("a", &old).to_vec(),
        vec![answers(&[calls("z", "z"), calls("b", "a")]), says(&[result("z", json!("other")), result("b", json!(lines("new", 20)))])],
        read("c", &old).to_vec(),
        vec![answers(&[text("ok")]), user("so")],
    ]
    .concat();
    let options = json!({ "maxToolResultBytes": 100_000, "elideSupersededReads": false });
    assert!(shortened(json!(messages), options).edits().is_empty(), "read, change, read, change back, read is news");
}
