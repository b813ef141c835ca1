//! Laws 3 to 6 where whole exchanges go: digests and eviction, call by call.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::{Options, Tape, stats, wire::Request};

use super::{all, cases, converted};
use crate::histories::{Json, long_request, output, request};
use crate::support::{Carry, Sent, at_length, call_lengths, whole_length};
use crate::twin::{self, every_wire};

every_wire! {
    whole_exchanges_go_and_everything_holds,
    what_is_derived_is_what_was_carried,
}

/// The request at each model call, on the wire of this test.
fn calls(request: &Value) -> Vec<Value> {
    let lengths = call_lengths(request["messages"].as_array().unwrap());
    let mut lengths: Vec<usize> = lengths.into_iter().map(|length| whole_length(request, length)).collect();
    lengths.dedup();
    lengths.into_iter().map(|length| converted(&at_length(request, length), &json!({})).0).collect()
}

/// Options under which prompts do not fit.
fn narrow() -> impl Strategy<Value = Value> {
    let window = prop::sample::select(vec![300, 600, 1200, 3000, 9000]);
    let overflow = prop::sample::select(vec!["digest", "evict"]);
    let threshold = prop::sample::select(vec![1.0, 0.7, 0.4]);
    let floor = prop::sample::select(vec![0.5, 0.9, 0.2]);
    let protect = prop::sample::select(vec![0, 1, 2, 4]);
    let when = prop::sample::select(vec!["pays", "budget"]);
    (window, overflow, threshold, floor, protect, when).prop_map(|(window, overflow, threshold, floor, protect, when)| {
        json!({
            "model": { "contextWindow": window + 100 }, "contextHeadroom": 1, "completionReserve": 100, "overflow": overflow,
            "autoCompactThreshold": threshold, "floorRatio": floor, "protectRecentTurns": protect, "when": when,
        })
    })
}

/// What the user says, without results and these texts of ours.
fn words(messages: &[Value], ours: &[String]) -> Vec<String> {
    let is_result = |part: &Value| part["type"] == "tool_result" || part.get("functionResponse").is_some();
    let own = messages.iter().filter(|message| message["role"] == "user");
    let own = own.flat_map(|message| match message.get("parts").unwrap_or(&message["content"]) {
        Value::Array(parts) => parts.iter().filter(|part| !is_result(part)).map(|part| part["text"].to_string()).collect(),
        content => vec![content.to_string()],
    });
    own.filter(|text| !ours.contains(text)).collect()
}

fn check(before: Option<&Sent>, now: &Sent) -> Result<(), TestCaseError> {
    let report = &now.outcome.report;
    let segments = &now.outcome.plan.segments;
    // Law 4.
    if let Some(before) = before {
        let kept = if now.outcome.folded { report.folded_from.unwrap().min(before.output().len()) } else { before.output().len() };
        prop_assert_eq!(&now.output()[..kept], &before.output()[..kept], "what was sent before the fold has changed");
    }
    // What is condensed is smaller, and names itself.
    for segment in segments {
        prop_assert!(segment.text.lines().all(|line| line.starts_with('[') && line.is_ascii()), "{}", segment.text);
    }
    prop_assert!(segments.windows(2).all(|two| two[0].to <= two[1].from));
    let ours: Vec<String> = segments.iter().map(|segment| json!(segment.text).to_string()).collect();
    let evicts = now.options["overflow"] == "evict";
    if !evicts {
        prop_assert_eq!(words(now.output(), &ours), words(now.input(), &[]), "the user's words");
    }
    let first = words(now.input(), &[]).into_iter().next();
    prop_assert_eq!(words(now.output(), &ours).into_iter().next(), first, "the first user message: {:?} {:?}", now.output(), now.input());
    if now.options["marks"].as_str().is_none_or(|marks| marks == "none") {
        prop_assert_eq!(now.output().last(), now.input().last(), "the last message");
    }
    match &report.cannot_fit {
        None => prop_assert!(now.outcome.fits),
        Some(why) => {
            prop_assert_eq!(why.floor_tokens, report.tokens_after, "everything was tried");
            prop_assert!(report.tokens_after > why.limit_tokens);
        }
    }
    // Statistics count what is sent.
    let tape = Tape::from_json(now.request.to_string()).unwrap();
    let counted =
        stats::of(&Request::of(tape.root()), &Options::from_json(now.options.clone()).unwrap(), Some(&now.outcome.plan), None).unwrap().context;
    prop_assert_eq!(counted.estimated_used, report.tokens_after);
    prop_assert_eq!(counted.message_count, now.output().len());
    prop_assert_eq!(counted.compacted_entry_count, report.messages_condensed);
    prop_assert_eq!(counted.compaction_tokens > 0, !segments.is_empty());
    let map = &report.index_map;
    prop_assert_eq!(map.is_empty(), segments.is_empty());
    for (at, returned) in map.iter().enumerate().filter(|(at, _)| !segments.iter().any(|segment| (segment.from..=segment.to).contains(at))) {
        prop_assert_eq!(now.output()[*returned]["role"].clone(), now.input()[at]["role"].clone());
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    fn whole_exchanges_go_and_everything_holds(
        Json(request) in prop_oneof![request(), long_request()], narrow in narrow(), Json(output) in output(), derive in any::<bool>(), cold in 0..12usize,
    ) {
        let twin = twin::current();
        let options = converted(&request, &all(&[&narrow, &output])).1;
        let (mut carry, mut before) = (if derive { Carry::Derive } else { Carry::New }, None);
        for (call, request) in calls(&request).into_iter().enumerate() {
            let options = if call == cold { all(&[&options, &json!({ "cold": true })]) } else { options.clone() };
            let now = twin.send(&request, &options, &carry);
            let marks = now.options["marks"].as_str().is_some_and(|marks| marks != "none");
            check(before.as_ref().filter(|_| !marks && call != cold), &now)?;
            // Law 6.
            let again = twin.send(&now.request, &options, &now.next());
            let same = !again.outcome.folded && (marks || again.body == now.body) && again.plan == now.plan; // a fold has a mark of its own
            prop_assert!(same, "deciding again changed what is sent: {:?}", again.outcome.report);
            carry = now.next();
            before = Some(now);
        }
    }

    fn what_is_derived_is_what_was_carried(Json(request) in prop_oneof![request(), long_request()], narrow in narrow()) {
        let twin = twin::current();
        let options = converted(&request, &narrow).1;
        let mut carry = Carry::Derive;
        for request in calls(&request) {
            let carried = twin.send(&request, &options, &carry);
            let derived = twin.send(&request, &options, &Carry::Derive);
            prop_assert_eq!(&carried.body, &derived.body, "{:?} {:?}", carried.outcome.report, derived.outcome.report);
            prop_assert_eq!(&carried.outcome.plan.segments, &derived.outcome.plan.segments);
            carry = carried.next();
        }
    }
}
