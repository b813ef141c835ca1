//! The laws over converted histories with what only this format has strewn in.

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::history::{Content, View};
use warmfold::wire::Request;
use warmfold::{Format, Tape};

use super::from_chat::from_chat;
use super::places::{edited, is_thinking, unmarked};
use super::validator::new_faults;
use super::{Folded, folded, spliced};
use crate::histories::{output, policy, request, signals};
use crate::laws::cases;
use crate::laws::total::{any_json, damage};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, at_length, call_lengths, merged, try_fold};

/// A history of this format: converted, then strewn with its own blocks, some of which ask for an answer of their own.
fn history() -> impl Strategy<Value = Value> {
    (request(), any::<bool>(), prop::collection::vec(0..24u8, 1..40)).prop_map(|(chat, merged, choices)| {
        let mut request = from_chat(&chat.0, merged).request;
        let mut choices = choices.into_iter().cycle();
        for message in request["messages"].as_array_mut().unwrap() {
            strew(message, &mut choices);
        }
        request
    })
}

fn strew(message: &mut Value, choices: &mut impl Iterator<Item = u8>) {
    let (role, choice) = (message["role"].clone(), choices.next().unwrap_or(0));
    let Some(blocks) = message["content"].as_array_mut().filter(|blocks| !blocks.is_empty()) else { return };
    if role == "assistant" {
        let thought = json!({ "type": "thinking", "thinking": "Let me see. ".repeat(20), "signature": "c2ln" });
        let server = [
            json!({ "type": "server_tool_use", "id": "srv", "name": "web_search", "input": { "query": "news" } }),
            json!({ "type": "web_search_tool_result", "tool_use_id": "srv", "content": [{ "type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "ZW5j".repeat(50) }] }),
        ];
        match choice {
            0 => blocks.insert(0, json!({ "type": "redacted_thinking", "data": "cmVk".repeat(40) })),
            1 => blocks.splice(0..0, [thought.clone(), thought]).for_each(drop),
            2 => blocks.splice(0..0, server.into_iter().chain([thought])).for_each(drop), // interleaved
            3 => blocks.insert(0, json!({ "type": "compaction", "content": "What came before." })),
            _ => {}
        }
        return;
    }
    for block in blocks.iter_mut().filter(|block| block["type"] == "tool_result") {
        let texts = |text: &str| json!([{ "type": "text", "text": text.repeat(12) }, { "type": "text", "text": "a second text of it, of some length. ".repeat(9) }]);
        let search = json!({ "type": "search_result", "source": "s", "title": "t", "citations": { "enabled": true }, "content": texts("found: a line of words\n") });
        let document = |cited: bool| json!({ "type": "document", "title": "t", "source": { "type": "text", "media_type": "text/plain", "data": "a line of it\n".repeat(30) }, "citations": { "enabled": cited } });
        match choices.next().unwrap_or(0) {
            0 => block["content"] = texts("one of two texts, "),
            1 => block["content"] = json!([search, search]),
            2 => block["content"] = json!([document(false), document(true)]),
            3 => block["cache_control"] = json!({ "type": "ephemeral" }),
            4 => block["content"] = json!([]),
            5 => {
                block["content"] =
                    json!([{ "type": "image", "source": { "type": "url", "url": "u" } }, { "type": "text", "text": "beside an image\n".repeat(20) }])
            }
            6 => block["content"] = json!([{ "query": "q", "result": "of no known type" }]),
            _ => {}
        }
    }
}

/// Laws 2, 3 and 7 of one call, and the provider's rules.
pub fn keeps_laws(Folded { call, sent }: &Folded) -> Result<(), TestCaseError> {
    let edits = call.edits();
    let mut expected = call.request.clone();
    expected["messages"] = edited(call.input(), &edits).into();
    prop_assert_eq!(&unmarked(sent, &call.request, &call.outcome.marks), &expected);
    prop_assert_eq!(new_faults(&call.request, sent), Vec::<String>::new());
    let kept = |messages: &Value| {
        messages
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["content"].as_array().map_or(0, |blocks| blocks.iter().filter(|block| !is_thinking(block)).count()))
            .collect::<Vec<_>>()
    };
    let marked_texts = call
        .outcome
        .marks
        .iter()
        .filter(|mark| mark.part.is_some() && call.request["messages"][mark.at.message().unwrap_or(usize::MAX)]["content"].is_string());
    let mut before = kept(&call.request["messages"]);
    marked_texts.filter_map(|mark| mark.at.message()).for_each(|at| before[at] = 1);
    prop_assert_eq!(kept(&sent["messages"]), before);
    for (message, original) in sent["messages"].as_array().unwrap().iter().zip(call.input()) {
        let thinking =
            |message: &Value| message["content"].as_array().into_iter().flatten().filter(|block| is_thinking(block)).cloned().collect::<Vec<_>>();
        let (now, then) = (thinking(message), thinking(original));
        prop_assert!(now.is_empty() || now == then, "thinking is whole or gone: {message}");
        let says = |message: &Value| {
            message["content"].is_string() || message["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| !is_thinking(block)))
        };
        prop_assert!(says(message) || !says(original), "an answer was left empty: {message}");
    }
    Ok(())
}

/// All that is read, as text.
fn told(view: &View<'_>) -> String {
    let entry = |entry: &warmfold::history::Entry<'_>| {
        let content = match &entry.content {
            Content::Text(text) => text.clone().into_owned(),
            Content::Values(values) => values.iter().map(|value| value.to_json().to_string()).collect(),
        };
        format!(
            "{} {} {:?} {:?} {} {} {:?} {content}\n",
            entry.message, entry.part, entry.kind, entry.tool_call, entry.bytes, entry.failed, entry.required
        )
    };
    let calls = view.tool_calls.iter().map(|call| format!("{} {} {:x}\n", call.message, call.name, call.print()));
    let entries = view.entries.iter().map(entry);
    let messages = view.messages.iter().map(|message| format!("{message:?}\n"));
    format!("{:?}", view.host_marks) + &messages.chain(entries).chain(calls).collect::<String>()
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn of_every_call(request in history(), policy in policy(), output in output(), signals in signals()) {
        let options = merged(&merged(&policy.0, &output.0), &signals.0);
        for carry in [Carry::New, Carry::Derive] {
            let mut folded = folded(&request, &options, &carry);
            // The block is there, and is none of what an edit has changed; a mark on the system prompt is then the block's.
            if options["contextBlock"].as_str().is_some_and(|block| !block.is_empty()) {
                prop_assert!(folded.sent["system"].to_string().contains("warmfold"));
                folded.sent["system"] = request["system"].clone();
                folded.sent.as_object_mut().unwrap().retain(|key, _| request.get(key).is_some());
                folded.call.outcome.marks.retain(|mark| mark.at.message().is_some());
            }
            keeps_laws(&folded)?;
        }
    }

    #[test]
    fn that_carries_its_plan(request in history(), policy in policy()) {
        let mut carry = Carry::New;
        let mut before: Option<Folded> = None;
        for length in call_lengths(request["messages"].as_array().unwrap()) {
            let now = folded(&at_length(&request, length), &policy.0, &carry);
            keeps_laws(&now)?;
            // Law 4.
            if let Some(before) = before.filter(|_| !now.call.outcome.folded) {
                let sent = before.sent["messages"].as_array().unwrap();
                prop_assert_eq!(&now.sent["messages"].as_array().unwrap()[..sent.len()], &sent[..]);
            }
            // Law 6.
            let again = folded(&at_length(&request, length), &policy.0, &now.call.next());
            prop_assert!(!again.call.outcome.folded && again.sent == now.sent, "deciding again changed what is sent");
            carry = now.call.next();
            before = Some(now);
        }
    }

    #[test]
    fn in_bytes(request in history(), policy in policy(), output in output(), seed in any::<u64>()) {
        let options = merged(&policy.0, &output.0);
        let folded = folded(&request, &options, &Carry::New);
        let body = spell(&request, &mut Choices::of(seed));
        prop_assert_eq!(floats(&spliced(&body, &folded.call.outcome.patches)), floats(&folded.sent));
    }

    /// Law 10: with one value something else it is folded as it then is, or refused with the path to the fault.
    #[test]
    fn damaged(mut request in history(), policy in policy(), output in output(), at in any::<prop::sample::Index>(), with in any_json()) {
        damage(&mut request, at, with);
        let options = merged(&merged(&policy.0, &output.0), &json!({ "format": "anthropic", "dropReasoning": true }));
        match try_fold(&request, &options, &Carry::Derive) {
            Ok(call) => {
                let mut sent = request.clone();
                call.outcome.patches.iter().for_each(|patch| patch.apply_to_request(&mut sent, "messages"));
                prop_assert_eq!(spliced(&request.to_string(), &call.outcome.patches), sent);
            }
            Err(fault) => {
                let starts = ["messages", "system"];
                prop_assert!(starts.iter().any(|start| fault.path().starts_with(start)) && fault.message().len() > 10, "{fault:?}");
            }
        }
    }

    #[test]
    fn read_in_two_goes(request in history(), at in any::<prop::sample::Index>()) {
        let messages = request["messages"].as_array().unwrap();
        let lead = messages.iter().take_while(|message| message["role"] == "system").count() + 1;
        let at = at.index(messages.len()).max(lead).min(messages.len());
        let (first, rest) = (at_length(&request, at).to_string(), json!(messages[at..]).to_string());
        let (whole, first, rest) = (Tape::from_json(request.to_string()).unwrap(), Tape::from_json(first).unwrap(), Tape::from_json(rest).unwrap());
        let mut view = Format::Anthropic.read(&Request::of(first.root()), None).unwrap();
        Format::Anthropic.append(&mut view, rest.root().children()).unwrap();
        prop_assert_eq!(told(&view), told(&Format::Anthropic.read(&Request::of(whole.root()), None).unwrap()));
    }
}
