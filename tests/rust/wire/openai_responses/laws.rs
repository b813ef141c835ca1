//! The laws that have a shape of their own on this wire, over generated histories.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::fold::{Conversation, fold as fold_request};
use warmfold::history::View;
use warmfold::options::Said;
use warmfold::planner::Given;
use warmfold::tape::{Node, Tape};
use warmfold::wire::patch::{Patch, Step};
use warmfold::wire::{Request, splice};
use warmfold::{Format, Options};

use super::from_chat::{from_chat, separated};
use super::items::every_item;
use super::validator::faults;
use super::{Folded, fold, given, try_fold, unmarked, with_edits};
use crate::histories::{Json, long_request, output, paying, policy, request, signals};
use crate::laws::cases;
use crate::laws::total::{any_json, damage};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, merged};

/// Items, with instructions or without.
fn items() -> impl Strategy<Value = Json> {
    let instructions = prop_oneof![2 => Just(json!({})), 1 => Just(json!({ "instructions": "Be brief." })), 1 => Just(json!({ "instructions": "" }))];
    (request(), instructions).prop_map(|(request, instructions)| Json(merged(&from_chat(&request.0).request, &instructions)))
}

/// What is sent without marks and context block.
fn bare(folded: &Folded, block: Option<&str>) -> Value {
    let mut sent = unmarked(folded);
    let Some(block) = block.filter(|block| !block.is_empty()) else { return sent };
    let behind = |text: &Value| text.as_str().filter(|text| !text.is_empty()).map_or(json!(block), |text| json!(format!("{text}\n\n{block}")));
    let input = sent["input"].as_array().unwrap().clone();
    let lead = folded.request["input"].as_array().unwrap().iter().take_while(|item| item["role"] == "system" || item["role"] == "developer").count();
    if lead > 0 {
        let original = &folded.request["input"][lead - 1]["content"];
        assert_eq!(input[lead - 1]["content"], behind(original));
        sent["input"][lead - 1]["content"] = original.clone();
    } else if let Some(original) = folded.request.get("instructions") {
        assert_eq!(sent["instructions"], behind(original));
        sent["instructions"] = original.clone();
    } else {
        assert_eq!(input[0], json!({ "role": "system", "content": block }));
        sent["input"].as_array_mut().unwrap().remove(0);
    }
    sent
}

fn told(view: &View<'_>) -> String {
    let entry = |entry: &warmfold::history::Entry<'_>| {
        (
            entry.message,
            entry.part,
            entry.kind,
            entry.text().to_owned(),
            entry.bytes,
            entry.tool_call,
            entry.failed,
            entry.required,
            entry.fingerprint(),
        )
    };
    let calls: Vec<_> = view.tool_calls.iter().map(|call| (call.message, call.name, call.print())).collect();
    let entries: Vec<_> = view.entries.iter().map(entry).collect();
    format!("{:?} {entries:?} {calls:?} {:?} {:?} {}", view.messages, view.host_marks, view.overhead, view.nodes.len())
}

proptest! {
    #![proptest_config(cases(300))]

    /// Laws 2, 3 and 6.
    #[test]
    fn only_edited_texts_differ(items in items(), policy in prop_oneof![policy(), paying()], output in output(), signals in signals()) {
        let items = &items.0;
        let options = merged(&merged(&policy.0, &output.0), &merged(&signals.0, &json!({ "usage": null })));
        let block = options["contextBlock"].as_str();
        let before = faults(items);
        for carry in [Carry::New, Carry::Derive] {
            let folded = fold(items, &options, &carry);
            prop_assert_eq!(bare(&folded, block), with_edits(&folded).map_err(TestCaseError::fail)?);
            let shift = folded.output["input"].as_array().unwrap().len() - items["input"].as_array().unwrap().len();
            let moved: Vec<_> = before.iter().map(|(what, at)| (what.clone(), at + shift)).collect();
            prop_assert_eq!(faults(&folded.output), moved, "{}", folded.output);
            let again = fold(items, &merged(&options, &json!({ "cold": null })), &folded.next());
            prop_assert!(!again.outcome.folded || options["cold"].is_object() || options["cold"] == true);
            prop_assert_eq!(unmarked(&again), unmarked(&folded));
        }
    }

    /// What agents send is valid, and stays so.
    #[test]
    fn long_loops_stay_valid(request in long_request(), policy in prop_oneof![policy(), paying()], output in output()) {
        let chat = merged(&request.0, &json!({ "messages": separated(request.0["messages"].as_array().unwrap()) }));
        let items = from_chat(&chat).request;
        prop_assert_eq!(faults(&items), vec![]);
        let folded = fold(&items, &merged(&policy.0, &output.0), &Carry::Derive);
        prop_assert_eq!(faults(&folded.output), vec![]);
    }

    /// Law 10, over items of every kind.
    #[test]
    fn damaged_items_fold_or_explain(damages in prop::collection::vec((any::<prop::sample::Index>(), any_json()), 1..4), policy in policy(), marks in any::<bool>()) {
        let mut input = json!(every_item());
        damages.into_iter().for_each(|(at, with)| damage(&mut input, at, with));
        let marks = if marks { "openai" } else { "none" };
        match try_fold(&json!({ "input": input }), &merged(&policy.0, &json!({ "marks": marks })), &Carry::Derive) {
            Ok(folded) => prop_assert_eq!(unmarked(&folded), with_edits(&folded).map_err(TestCaseError::fail)?),
            Err(fault) => prop_assert!(["input", "messages"].iter().any(|list| fault.path().starts_with(list)) && fault.message().len() > 10, "{:?}", fault),
        }
    }

    #[test]
    fn reading_on_is_reading_all(items in items(), cut in any::<prop::sample::Index>(), output in output()) {
        let items = &items.0;
        let length = items["input"].as_array().unwrap().len();
        let lead = items["input"].as_array().unwrap().iter().take_while(|item| item["role"] == "system" || item["role"] == "developer").count();
        let cut = cut.index(length + 1).max((lead + 1).min(length));
        let mut begin = items.clone();
        let rest = json!(begin["input"].as_array_mut().unwrap().split_off(cut));
        let tapes = [items, &begin, &rest].map(|json| Tape::from_json(json.to_string()).unwrap());
        let block = output.0["contextBlock"].as_str();
        let whole = Format::OpenaiResponses.read(&Request::of(tapes[0].root()), block).unwrap();
        let mut view = Format::OpenaiResponses.read(&Request::of(tapes[1].root()), block).unwrap();
        Format::OpenaiResponses.append(&mut view, tapes[2].root().children()).unwrap();
        prop_assert_eq!(told(&view), told(&whole));
    }

    /// Cut anywhere, also inside an answer.
    #[test]
    fn a_conversation_goes_on(items in items(), policy in policy(), output in output(), steps in prop::collection::vec(0..5usize, 1..10), derives in any::<bool>()) {
        let options = merged(&policy.0, &output.0);
        let all = items.0["input"].as_array().unwrap();
        let lead = all.iter().take_while(|item| item["role"] == "system" || item["role"] == "developer").count();
        let mut length = (lead + 1).min(all.len());
        let at = |length: usize| merged(&items.0, &json!({ "input": all[..length] }));
        let lengths: Vec<usize> = steps.iter().map(|step| { length = (length + step).min(all.len()); length }).collect();
        let mut tapes = vec![Tape::from_json(at(lengths[0]).to_string()).unwrap()];
        tapes.extend(lengths.windows(2).map(|two| Tape::from_json(json!(all[two[0]..two[1]]).to_string()).unwrap()));
        let checked = std::rc::Rc::new(Options::from_json(options.clone()).unwrap());
        let mut carry = if derives { Carry::Derive } else { Carry::New };
        let (mut conversation, mut outcome) = Conversation::start(&Request::of(tapes[0].root()), checked, given(&carry)).unwrap();
        for (number, length) in lengths.iter().enumerate() {
            if number > 0 {
                let given = if derives { Given::Derive } else { Given::Kept };
                outcome = conversation.next(tapes[number].root().children(), Said { cold: None, usage: None }, given).unwrap();
            }
            conversation.apply(&mut outcome).unwrap();
            let anew = fold(&at(*length), &options, &carry);
            prop_assert_eq!(serde_json::to_value(&outcome).unwrap(), serde_json::to_value(&anew.outcome).unwrap(), "call {} at {} items", number, length);
            if !derives {
                carry = anew.next();
            }
        }
    }

    /// Splices say what patches say, however the request is spelt.
    #[test]
    fn bytes_say_the_same(items in items(), policy in prop_oneof![policy(), paying()], output in output(), seed in any::<u64>()) {
        let items = merged(&items.0, &json!({ "model": "x", "temperature": 1.0, "previous_response_id": null }));
        let options = merged(&policy.0, &output.0);
        let objects = fold(&items, &options, &Carry::New);
        let body = spell(&items, &mut Choices::of(seed));
        let tape = Tape::from_json(&body).unwrap();
        let request = Request::of(tape.root());
        let outcome = fold_request(&request, &Options::from_json(options).unwrap(), Given::New).unwrap();
        let (of_items, of_request): (Vec<_>, Vec<_>) = outcome.patches.iter().cloned().partition(|patch| matches!(patch.path[0], Step::Index(_)));
        let of = |node: Node<'_>, patches: &[Patch]| splice::splices(node, &node.children().collect::<Vec<_>>(), patches, body.as_bytes());
        let mut splices = [of(request.messages.unwrap(), &of_items), of(tape.root(), &of_request)].concat();
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let spliced = splice::spliced(body.as_bytes(), &splices);
        let read: Value = serde_json::from_slice(&spliced).unwrap();
        prop_assert_eq!(floats(&read), floats(&objects.output));
    }
}
