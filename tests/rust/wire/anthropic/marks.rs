//! Marks on content blocks: where they may stand, and whose count.

use serde_json::{Value, json};
use warmfold::fold::Place;
use warmfold::history::Front;

use super::folded;
use crate::support::{Carry, Sent, merged, user};
use crate::twin::anthropic::validator::faults;

fn five() -> Value {
    json!({ "type": "ephemeral" })
}

fn marked(messages: Value) -> Sent {
    let folded = folded(&json!({ "messages": messages }), &json!({ "marks": "anthropic" }), &Carry::New);
    assert!(faults(&folded.body).iter().all(|fault| !fault.contains("mark")), "{:?}", faults(&folded.body));
    folded
}

/// Which blocks of the last message have a mark, and the part that is told.
fn places(messages: Value) -> (Vec<usize>, Option<u32>) {
    let folded = marked(messages);
    let content = folded.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let blocks = content.as_array().map_or(0, Vec::len);
    let marks = (0..blocks).filter(|block| content[block]["cache_control"] == five()).collect();
    let at = folded.body["messages"].as_array().unwrap().len() - 1;
    (marks, folded.outcome.marks.iter().find(|mark| mark.at.message() == Some(at)).and_then(|mark| mark.part))
}

fn image() -> Value {
    json!({ "type": "image", "source": { "type": "url", "url": "u" } })
}

#[test]
fn a_string_becomes_one_text_block() {
    let sent = marked(json!([user("hi")])).body;
    assert_eq!(sent["messages"][0]["content"], json!([{ "type": "text", "text": "hi", "cache_control": five() }]));
}

#[test]
fn on_the_last_block_that_can_hold_one() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let document = json!({ "type": "document", "source": { "type": "url", "url": "u" } });
    let says = |blocks: Value| json!([{ "role": "user", "content": blocks }]);
    assert_eq!(places(says(json!([text("one"), image()]))), (vec![1], Some(1)));
    assert_eq!(places(says(json!([image(), document, text(" ")]))), (vec![1], Some(1)));
    let answer = json!({ "role": "assistant", "content": [
        { "type": "thinking", "thinking": "t", "signature": "c2ln" }, text("so"), { "type": "tool_use", "id": "a", "name": "read", "input": {} },
        { "type": "redacted_thinking", "data": "cmVk" }] });
    assert_eq!(places(json!([user("hi"), answer])), (vec![2], Some(2)));
}

/// A result takes the mark itself, whatever is in it; the part that is told is its block, and no text of it.
#[test]
fn a_result_takes_it_as_a_whole() {
    let asks = |ids: &[&str]| json!({ "role": "assistant", "content": ids.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "read", "input": {} })).collect::<Vec<_>>() });
    let result = |id: &str, content: Value| json!({ "type": "tool_result", "tool_use_id": id, "content": content });
    let two = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }]);
    let history = |results: Value| json!([user("hi"), asks(&["a", "b"]), { "role": "user", "content": results }]);
    assert_eq!(places(history(json!([result("a", two.clone()), result("b", two)]))), (vec![1], Some(1)));
    assert_eq!(places(history(json!([result("a", json!("x")), result("b", json!([image()]))]))), (vec![1], Some(1)));
    assert_eq!(places(history(json!([result("a", json!("x")), result("b", json!(""))]))), (vec![0], Some(0)), "an empty one holds none");
}

/// CASES 10: where nothing can hold one, nothing is put in for it.
#[test]
fn what_is_empty_gets_none() {
    let blank = json!({ "role": "user", "content": [{ "type": "text", "text": "\n" }] });
    let alone = json!({ "role": "assistant", "content": [{ "type": "thinking", "thinking": "t", "signature": "c2ln" }] });
    let server = json!({ "role": "assistant", "content": [{ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} }] });
    for message in [blank, alone, server, json!({ "role": "user", "content": "" }), json!({ "role": "user", "content": [] })] {
        let folded = marked(json!([user("hi"), message]));
        assert_eq!(folded.body["messages"][1], message);
        assert_eq!(folded.outcome.breakpoints, [0]);
    }
}

/// CASES 11: the caller's own marks count, wherever they stand, and the one on the request itself.
#[test]
fn the_callers_count() {
    let words = "words and more words ".repeat(400);
    let result = |inside: Value| {
        json!([user("hi"),
        { "role": "assistant", "content": [{ "type": "tool_use", "id": "a", "name": "read", "input": {} }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": [inside] }] },
        { "role": "assistant", "content": words }, user(&words), { "role": "assistant", "content": words }, user(&words)])
    };
    let plain = json!({ "messages": result(json!({ "type": "text", "text": "x" })) });
    let written = |request: &Value| {
        let folded = folded(request, &json!({ "marks": "anthropic", "milestoneTokens": 1000 }), &Carry::New);
        assert!(faults(&folded.body).iter().all(|fault| !fault.contains("mark")), "{:?}", faults(&folded.body));
        folded.outcome.marks.iter().filter(|mark| mark.part.is_some()).count()
    };
    assert_eq!(written(&plain), 4);
    let with = |more: Value| merged(&plain, &more);
    assert_eq!(written(&with(json!({ "tools": [{ "name": "read", "cache_control": five() }] }))), 3);
    assert_eq!(written(&with(json!({ "system": [{ "type": "text", "text": "r", "cache_control": five() }] }))), 3);
    assert_eq!(written(&with(json!({ "cache_control": five() }))), 3);
    assert_eq!(written(&json!({ "messages": result(json!({ "type": "text", "text": "x", "cache_control": five() })) })), 3);
    let found =
        json!({ "type": "search_result", "source": "s", "title": "t", "content": [{ "type": "text", "text": "x", "cache_control": five() }] });
    assert_eq!(written(&json!({ "messages": result(found) })), 3);
    let three: Vec<Value> = (0..3).map(|_| json!({ "name": "read", "cache_control": five() })).collect();
    assert_eq!(written(&with(json!({ "tools": three, "cache_control": five() }))), 0);
}

#[test]
fn an_hour_stands_before_five_minutes() {
    let own = |mark: Value| json!({ "role": "user", "content": [{ "type": "text", "text": "mine", "cache_control": mark }] });
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    for (mark, cache) in [(five(), "anthropic-1h"), (hour, "anthropic-5m")] {
        let request = json!({ "messages": [user("rules"), { "role": "assistant", "content": "ok" }, own(mark), { "role": "assistant", "content": "ok" }, user("hi")] });
        let folded = folded(&request, &json!({ "marks": "anthropic", "cache": cache }), &Carry::New);
        assert_eq!(faults(&folded.body), Vec::<String>::new());
        assert_eq!(folded.body["messages"][4]["content"][0]["cache_control"], five());
    }
}

/// A mark on the request itself marks its end: the tail needs no other, and nothing shorter may stand before it.
#[test]
fn a_mark_on_the_request_marks_its_end() {
    let sent = |mark: Value, cache: &str| {
        let request =
            json!({ "system": "rules", "messages": [user("hi"), { "role": "assistant", "content": "ok" }, user("so")], "cache_control": mark });
        let folded = folded(&request, &json!({ "marks": "anthropic", "cache": cache }), &Carry::New);
        assert_eq!(faults(&folded.body), Vec::<String>::new());
        (folded.body["system"].is_array(), folded.body["messages"][2]["content"].is_array())
    };
    let hour = json!({ "type": "ephemeral", "ttl": "1h" });
    assert_eq!(sent(five(), "anthropic-5m"), (true, false));
    assert_eq!(sent(hour.clone(), "anthropic-1h"), (true, false));
    assert_eq!(sent(hour, "anthropic-5m"), (false, false));
}

/// Whatever dialect was asked for, this API knows its own mark only.
#[test]
fn marks_are_this_apis() {
    let folded = folded(
        &json!({ "messages": [user("hi"), { "role": "assistant", "content": "ok" }, user("so"), user("then")] }),
        &json!({ "marks": "openai", "milestoneTokens": 1 }),
        &Carry::New,
    );
    assert!(folded.body.to_string().contains("cache_control") && !folded.body.to_string().contains("prompt_cache_breakpoint"));
}

/// What stands before the messages has a mark of its own, told by its name.
#[test]
fn the_front_is_marked() {
    let marks = |more: Value| {
        let request = merged(&json!({ "messages": [user("hi")] }), &more);
        let folded = folded(&request, &json!({ "marks": "anthropic" }), &Carry::New);
        assert_eq!(faults(&folded.body), Vec::<String>::new());
        (folded.outcome.marks.iter().map(|mark| mark.at).collect::<Vec<_>>(), folded.body)
    };
    let (places, sent) = marks(json!({ "system": "rules", "tools": [{ "name": "read" }] }));
    assert_eq!(places, [Place::Front(Front::System), Place::Message(0)]);
    assert_eq!(sent["system"], json!([{ "type": "text", "text": "rules", "cache_control": five() }]));
    let (places, sent) = marks(json!({ "tools": [{ "name": "read" }] }));
    assert_eq!(places, [Place::Front(Front::Tools), Place::Message(0)]);
    assert_eq!(sent["tools"][0]["cache_control"], five());
    assert_eq!(marks(json!({})).0, [Place::Message(0)]);
    // What the caller put there stays, whatever it is.
    let theirs = json!({ "tools": [{ "name": "read", "cache_control": false }] });
    assert_eq!(marks_of_tools(&theirs), false);
}

fn marks_of_tools(more: &Value) -> Value {
    let request = merged(&json!({ "messages": [user("hi")] }), more);
    folded(&request, &json!({ "marks": "anthropic" }), &Carry::New).body["tools"][0]["cache_control"].clone()
}
