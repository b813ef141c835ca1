//! What stands before a compaction is passed over by the API: it is counted no more, and nothing in it is worth an edit.

use serde_json::{Value, json};

use super::folded;
use crate::support::{Carry, Sent, eager, lines, merged, user};

fn round(id: &str) -> [Value; 2] {
    [
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "run", "input": { "command": id } }] }),
        json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": lines(id, 200) }] }),
    ]
}

fn compacted(summary: Value) -> Value {
    json!({ "role": "assistant", "content": [{ "type": "compaction", "content": summary }, { "type": "text", "text": "on we go" }] })
}

/// Two rounds, a compaction, and a third.
fn history(summary: Value) -> Vec<Value> {
    [&[user("go")], &round("a")[..], &round("b"), &[compacted(summary), user("more")], &round("c"), &[user("and?")]].concat()
}

fn fold(messages: &[Value], options: &Value, carry: &Carry) -> Sent {
    folded(&json!({ "messages": messages }), options, carry)
}

#[test]
fn what_stands_before_it_is_counted_no_more() {
    let tokens = |messages: &[Value]| fold(messages, &json!({ "when": "never" }), &Carry::New).outcome.report.tokens_before;
    let messages = history("what was said".into());
    assert_eq!(tokens(&messages), tokens(&messages[5..]));
    assert_eq!(tokens(&messages[..5]), tokens(&history(Value::Null)[..5]), "it has not come yet");
    let failed = history(Value::Null);
    assert!(tokens(&failed) > 2 * tokens(&failed[5..]), "one that failed sums nothing up");
}

#[test]
fn only_what_stands_behind_it_is_shortened() {
    let of = |messages: &[Value]| fold(messages, &eager(), &Carry::New).edits().iter().map(|edit| edit.message).collect::<Vec<_>>();
    assert_eq!(of(&history("what was said".into())), [8]);
    assert_eq!(of(&history(Value::Null)), [2, 4, 8]);
}

/// The results are the same, but the first is no longer read: the second is no copy of anything.
#[test]
fn nothing_points_at_what_is_passed_over() {
    let [_, result] = round("a");
    let [asks, _] = round("a");
    let messages = [user("go"), asks.clone(), result.clone(), compacted("s".into()), user("more"), asks, result, user("and?")];
    let rules = |messages: &[Value]| fold(messages, &eager(), &Carry::New).edits().into_iter().map(|edit| edit.rule).collect::<Vec<_>>();
    assert_eq!(rules(&messages), ["truncated"]);
    let whole: Vec<Value> = messages.iter().enumerate().filter(|(at, _)| *at != 3 && *at != 4).map(|(_, message)| message.clone()).collect();
    assert!(rules(&whole).contains(&"duplicate".to_owned()));
}

/// Edits made before it came stay as they are, and save nothing any more; deriving the plan comes to the same.
#[test]
fn a_carried_plan_is_as_good_as_a_derived_one() {
    let messages = history("what was said".into());
    let options = merged(&eager(), &json!({ "marks": "anthropic" }));
    let mut carry = Carry::New;
    let mut sent = Vec::new();
    for length in [1, 3, 5, 7, 10] {
        let call = fold(&messages[..length], &options, &carry);
        carry = call.next();
        sent.push(call);
    }
    let tokens = |call: usize| sent[call].outcome.report.tokens_before;
    assert!(tokens(2) > tokens(1) && tokens(3) < tokens(1), "the third call's answer sums up what it was sent");
    assert_eq!(sent[2].edits().len(), 1);
    assert_eq!(sent[4].body["messages"][2]["content"][0]["content"], sent[2].body["messages"][2]["content"][0]["content"]);
    assert_eq!(sent[4].plan["edits"], fold(&messages, &options, &Carry::Derive).plan["edits"]);
    assert!(sent[4].outcome.marks.iter().all(|mark| mark.at.message().is_none_or(|at| at >= 5)));
}
