//! Segments by hand: what goes, what stays beside it, and what is no whole.

#![allow(clippy::single_range_in_vec_init)] // a list of one segment

use serde_json::{Value, json};
use warmfold::options::Marks;
use warmfold::wire::Segment;

use super::{Beside, apply, faults, with_view};
use crate::support::{assistant, exchange, history, list_of, system, user};
use crate::twin::{TWINS, Twin, ai_sdk, anthropic, gemini, openai_chat, openai_responses};
use crate::wire::openai_responses::{call, output, thought};

const DONE: [&str; 2] = ["[done]", "[done too]"];

fn segments(ranges: &[std::ops::Range<usize>]) -> Vec<Segment<'static>> {
    ranges.iter().cloned().zip(DONE).map(|(messages, text)| Segment { messages, text }).collect()
}

/// What is sent, which the provider must take.
fn sent(twin: &Twin, body: &str, ranges: &[std::ops::Range<usize>]) -> String {
    let is_whole = with_view(twin, body, |view| ranges.iter().all(|range| view.is_whole(range.clone())));
    assert!(is_whole, "{ranges:?} of {body}");
    let applied = apply(twin, body, &segments(ranges), Beside::default());
    assert_eq!((faults(twin, &serde_json::from_str(body).unwrap()), faults(twin, &applied.body)), (Vec::new(), Vec::new()));
    applied.bytes
}

fn whole(twin: &Twin, list: &str, messages: &[Value], range: std::ops::Range<usize>) -> bool {
    with_view(twin, &json!({ list: messages }).to_string(), |view| view.is_whole(range))
}

#[test]
fn parallel_calls_go_with_all_their_results() {
    let body = r#"{"model": "m", "messages": [ {"role":"user","content":"go"} ,
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"b","content":"2"}, {"role":"tool","tool_call_id":"a","content":"1"},  {"role": "user", "content": "so?"} ]}"#;
    let expected = r#"{"model": "m", "messages": [ {"role":"user","content":"go"} ,
        {"role":"user","content":"[done]"},
        {"role": "user", "content": "so?"} ]}"#;
    assert_eq!(sent(&openai_chat::TWIN, body, &[1..4]), expected);
}

#[test]
fn what_shares_a_message_with_the_user_stays_as_it_is() {
    let body = r#"{"messages": [{"role":"user","content":"go"},
{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
{"role":"user","content":[ {"type":"tool_result","tool_use_id":"a","content":"1"}, {"type":"tool_result","tool_use_id":"b","content":[{"type":"image","source":{"type":"url","url":"u"}}]}, {"type":"text", "text":"and \u0061nother", "n":1.0} ]}, {"role":"assistant","content":"ok"}]}"#;
    let expected = r#"{"messages": [{"role":"user","content":"go"},
{"role":"user","content":"[done]"},
{"role":"user","content":[ {"type":"text", "text":"and \u0061nother", "n":1.0} ]}, {"role":"assistant","content":"ok"}]}"#;
    assert_eq!(sent(&anthropic::TWIN, body, &[1..2]), expected);

    let body = r#"{"contents": [{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}]}, {"role":"user","parts":[{"text":"look"},{"functionResponse":{"name":"f","response":{"a":"1","b":"2"}}} , {"text":"closely"}]}]}"#;
    let expected = r#"{"contents": [{"role":"user","parts":[{"text":"go"}]},{"role":"user","parts":[{"text":"[done]"}]}, {"role":"user","parts":[{"text":"look"},{"text":"closely"}]}]}"#;
    assert_eq!(sent(&gemini::TWIN, body, &[1..2]), expected);
}

/// Results of the calls before stay first where some of a message go.
#[test]
fn a_message_keeps_the_results_of_other_calls() {
    let uses = |ids: &[&str]| json!({ "role": "assistant", "content": ids.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} })).collect::<Vec<_>>() });
    let gives = |ids: &[&str]| ids.iter().map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": "1" })).collect::<Vec<_>>();
    let says = |ids: &[&str]| json!({ "role": "user", "content": history(&[&gives(ids), &[json!({ "type": "text", "text": "so?" })]]) });
    let messages = [user("go"), uses(&["a"]), uses(&["b"]), says(&["a", "b"])];
    let is_whole = |range| whole(&anthropic::TWIN, "messages", &messages, range);
    assert!(is_whole(1..3) && !is_whole(2..3) && !is_whole(1..2), "answers in a row are one to the provider");
    let crossed = [user("go"), uses(&["a"]), user("wait"), uses(&["b"]), says(&["a", "b"])];
    assert!(!whole(&anthropic::TWIN, "messages", &crossed, 3..4), "the first result would stand behind the message that is put in");
    let late = [user("go"), uses(&["a", "b"]), json!({ "role": "user", "content": gives(&["a"]) }), says(&["b"]), assistant("ok")];
    assert!(whole(&anthropic::TWIN, "messages", &late, 1..3) && !whole(&anthropic::TWIN, "messages", &late, 1..2));
}

/// Two in a row, from the first user message on and to the end.
#[test]
fn adjacent_segments_are_two_messages() {
    let chat = json!({ "messages": history(&[&[user("go")], &exchange("a", "f", json!({}), "1"), &exchange("b", "f", json!({}), "2")]) });
    for twin in TWINS {
        let request = (twin.from_chat)(&chat).request;
        let texts = |body: &str| DONE.map(|text| body.matches(text).count());
        let body = sent(twin, &request.to_string(), &[1..3, 3..5]);
        assert_eq!(texts(&body), [1, 1], "{}: {body}", twin.name);
        assert!(body.find(DONE[0]) < body.find(DONE[1]) && !body.contains("\"f\""), "{}: {body}", twin.name);
        assert_eq!(with_view(twin, &body, |view| view.messages.len()), 3, "{}", twin.name);
        assert_eq!(with_view(twin, &request.to_string(), |view| [0, 2, 3, 4].map(|at| view.returned_at(&[1..3, 3..5], at))), [0, 1, 2, 2]);
    }
}

#[test]
fn a_mark_on_a_segment_stands_in_a_part() {
    let chat = json!({ "messages": history(&[&[user("go")], &exchange("a", "f", json!({}), "1"), &[user("so?")]]) });
    let marked = |twin: &Twin, dialect: Marks| {
        let request = (twin.from_chat)(&chat).request;
        let beside = Beside { marks: &[1, 2], dialect, ..Beside::default() };
        let applied = apply(twin, &request.to_string(), &segments(&[1..3]), beside);
        assert_eq!(applied.places, [0], "{}: the mark inside is let go of", twin.name);
        applied.body[list_of(&request)][1].clone()
    };
    let (five, explicit) = (json!({ "type": "ephemeral" }), json!({ "mode": "explicit" }));
    let of_part = |kind: &str, key: &str, mark: &Value| json!({ "role": "user", "content": [{ "type": kind, "text": "[done]", key: mark }] });
    assert_eq!(marked(&openai_chat::TWIN, Marks::Anthropic), of_part("text", "cache_control", &five));
    assert_eq!(marked(&openai_chat::TWIN, Marks::Openai), of_part("text", "prompt_cache_breakpoint", &explicit));
    assert_eq!(marked(&anthropic::TWIN, Marks::Anthropic), of_part("text", "cache_control", &five));
    assert_eq!(marked(&openai_responses::TWIN, Marks::Openai), of_part("input_text", "prompt_cache_breakpoint", &explicit));
    let options = json!({ "anthropic": { "cacheControl": five } });
    assert_eq!(marked(&ai_sdk::TWIN, Marks::Anthropic), json!({ "role": "user", "content": "[done]", "providerOptions": options }));
    let options = json!({ "openai": { "promptCacheBreakpoint": explicit } });
    assert_eq!(marked(&ai_sdk::TWIN, Marks::Openai), of_part("text", "providerOptions", &options));
}

/// On a message that loses results the mark stands on what is left.
#[test]
fn a_mark_stands_on_what_is_left() {
    let results = |text: &str| json!([{ "type": "text", "text": text }, { "type": "tool_result", "tool_use_id": "a", "content": "1" }]);
    let calls = json!([{ "type": "tool_use", "id": "a", "name": "f", "input": {} }]);
    let messages = json!([user("go"), { "role": "assistant", "content": calls }, { "role": "user", "content": results("so?") }]);
    let beside = Beside { marks: &[2], dialect: Marks::Anthropic, ..Beside::default() };
    let applied = apply(&anthropic::TWIN, &json!({ "messages": messages }).to_string(), &segments(&[1..2]), beside);
    let left = json!([{ "type": "text", "text": "so?", "cache_control": { "type": "ephemeral" } }]);
    assert_eq!((&applied.body["messages"][2]["content"], &applied.places[..]), (&left, &[0][..]));
}

#[test]
fn the_context_block_stands_before_all() {
    let beside = Beside { block: Some("notes"), ..Beside::default() };
    let body = json!({ "messages": [assistant("hello"), user("go")] }).to_string();
    for twin in [&openai_chat::TWIN, &ai_sdk::TWIN] {
        let applied = apply(twin, &body, &segments(&[0..1]), beside);
        assert_eq!(applied.body["messages"], json!([system("notes"), user("[done]"), user("go")]));
    }
}

#[test]
fn what_is_not_whole_stays() {
    let [asks, gives] = exchange("a", "f", json!({}), "1");
    let chat = [system("rules"), user("go"), asks, gives.clone(), assistant("ok"), gives, user("so?")];
    let wholes = |twin: &Twin, list: &str, messages: &[Value]| -> Vec<(usize, usize)> {
        let ranges = (0..=messages.len()).flat_map(|start| (0..=messages.len() + 1).map(move |end| (start, end)));
        ranges.filter(|(start, end)| whole(twin, list, messages, *start..*end)).collect()
    };
    assert_eq!(wholes(&openai_chat::TWIN, "messages", &chat), [(2, 4)], "nothing beside the result that answers nothing");

    let answer = |blocks: Value| json!({ "role": "assistant", "content": blocks });
    let (search, found) = (
        json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} }),
        json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] }),
    );
    let anthropic = |messages: &[Value]| wholes(&anthropic::TWIN, "messages", messages);
    assert_eq!(anthropic(&[user("go"), answer(json!([search, found])), user("so?")]), [(1, 2)], "the provider's own result stands beside its call");
    assert_eq!(anthropic(&[user("go"), answer(json!([search])), answer(json!([found])), user("so?")]), [], "and where it does not, both stay");
    assert_eq!(anthropic(&[user("go"), answer(json!([{ "type": "compaction", "content": "all" }])), user("so?")]), []);
    let uses = answer(json!([{ "type": "tool_use", "id": "a", "name": "f", "input": {} }]));
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "1" });
    let instructs = json!({ "role": "user", "content": [result, { "type": "mid_conv_system", "content": [] }] });
    assert_eq!(anthropic(&[user("go"), uses.clone(), instructs]), []);
    let loads = json!({ "type": "tool_result", "tool_use_id": "a", "content": [{ "type": "tool_reference", "tool_name": "g" }] });
    assert_eq!(anthropic(&[user("go"), uses, json!({ "role": "user", "content": [loads] })]), []);

    let responses = |items: &[Value]| wholes(&openai_responses::TWIN, "input", items);
    let [one, two] = ["a", "b"].map(|id| [call(id, "f", json!({})), output(id, "1")]);
    let loops = [&[user("go"), thought("1")], &one[..], &[thought("2")], &two].concat();
    assert_eq!(responses(&loops), [(1, 4), (1, 7), (4, 7)], "reasoning goes with its calls");
    let listed = [&[user("go"), thought("1")], &one[..], &two].concat();
    assert_eq!(responses(&listed), [(1, 6), (4, 6)], "the second call may have been made with the reasoning too");
    let search = json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" });
    assert_eq!(responses(&[user("go"), search, assistant("found")]), [(1, 3)]);
    for kind in ["compaction", "item_reference", "mcp_approval_request", "tool_search_output", "program"] {
        assert_eq!(responses(&[user("go"), json!({ "type": kind, "id": "1", "execution": "server" }), assistant("ok")]), [], "{kind}");
    }

    let of = |role: &str, parts: Value| json!({ "role": role, "content": parts });
    let runs = |id: &str| json!({ "type": "tool-call", "toolCallId": id, "toolName": "f", "input": {}, "providerExecuted": true });
    let ran = |id: &str| json!({ "type": "tool-result", "toolCallId": id, "toolName": "f", "output": { "type": "text", "value": "1" } });
    let ai_sdk = |messages: &[Value]| wholes(&ai_sdk::TWIN, "messages", messages);
    assert_eq!(ai_sdk(&[user("go"), of("assistant", json!([runs("a"), ran("a")])), user("so?")]), [(1, 2)]);
    let approves = of("tool", json!([{ "type": "tool-approval-response", "approvalId": "1", "approved": true }]));
    assert_eq!(ai_sdk(&[user("go"), of("assistant", json!([runs("a")])), approves, of("assistant", json!([ran("a")]))]), []);
}

/// Whatever is asked for, nothing panics.
#[test]
fn a_callers_error_does_no_harm() {
    let chat = json!({ "messages": history(&[&[user("go")], &exchange("a", "f", json!({}), "1"), &[user("so?")]]) });
    for twin in TWINS {
        let body = (twin.from_chat)(&chat).request.to_string();
        for range in [0..0, 2..2, 1..2, 2..4, 0..4, 3..9, 4..5, 7..9] {
            apply(twin, &body, &segments(&[range]), Beside { marks: &[1, 3], edits: true, ..Beside::default() });
        }
    }
}
