//! The laws over converted histories with what only this format has strewn in.

use crate::histories::{output, policy, request, signals};
use crate::laws::alike::reads_on;
use crate::laws::cases;
use crate::laws::total::{any_json, damage, sends_or_explains};
use crate::spelled::{Choices, floats, spell};
use crate::support::{Carry, Sent, at_length, call_lengths, merged, send_bytes};
use crate::twin::anthropic::{TWIN, from_chat::from_chat};
use proptest::prelude::*;
use serde_json::{Value, json};

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

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn of_every_call(request in history(), policy in policy(), output in output(), signals in signals(), seed in any::<u64>()) {
        let options = merged(&merged(&policy.0, &output.0), &signals.0);
        let body = spell(&request, &mut Choices::of(seed));
        for carry in [Carry::New, Carry::Derive] {
            let sent = TWIN.send(&request, &options, &carry);
            let (_, _, read) = send_bytes(&body, &sent.options, &carry);
            prop_assert_eq!(floats(&read), floats(&sent.body));
        }
    }

    #[test]
    fn that_carries_its_plan(request in history(), policy in policy()) {
        let mut carry = Carry::New;
        let mut before: Option<Sent> = None;
        for length in call_lengths(request["messages"].as_array().unwrap()) {
            let now = TWIN.send(&at_length(&request, length), &policy.0, &carry);
            // Law 4.
            if let Some(before) = before.filter(|_| !now.outcome.folded) {
                prop_assert_eq!(&now.output()[..before.output().len()], before.output());
            }
            // Law 6.
            let again = TWIN.send(&now.request, &policy.0, &now.next());
            prop_assert!(!again.outcome.folded && again.body == now.body, "deciding again changed what is sent");
            carry = now.next();
            before = Some(now);
        }
    }

    /// Law 10: with one value something else it is folded as it then is, or refused with the path to the fault.
    #[test]
    fn damaged(mut request in history(), policy in policy(), output in output(), at in any::<prop::sample::Index>(), with in any_json()) {
        damage(&mut request, at, with);
        let options = merged(&merged(&policy.0, &output.0), &json!({ "format": "anthropic", "dropReasoning": true }));
        sends_or_explains(&TWIN, &request, &options, &Carry::Derive, &["messages", "system"])?;
    }

    #[test]
    fn read_in_two_goes(request in history(), at in any::<prop::sample::Index>()) {
        reads_on(&TWIN, &request, at)?;
    }
}
