//! Where everything of a Chat history went, and the way back.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};
use warmfold::fold::Outcome;

use super::{Slot, Twin};
use crate::support::{Edit, list_of};

/// A request of another wire, made from a Chat one.
pub struct Converted {
    pub request: Value,
    /// For each Chat message where it went.
    pub homes: Vec<Home>,
}

/// Where a Chat message went.
#[derive(Clone, Debug)]
pub struct Home {
    /// The messages that hold it; none where it stands before all messages.
    pub messages: Range<usize>,
    /// Where in its message it stands, if it shares one with others: `/content/3/`.
    pub block: Option<String>,
}

impl Home {
    /// In a message of its own.
    pub fn alone(message: usize) -> Home {
        Home { messages: message..message + 1, block: None }
    }

    /// A part of a message.
    pub fn in_part(message: usize, list: &str, part: usize) -> Home {
        Home { messages: message..message + 1, block: Some(format!("/{list}/{part}/")) }
    }
}

type Address = (usize, usize);

/// The two-way table of a converted request.
pub struct Addresses<'t> {
    converted: &'t Converted,
    /// Parts of each Chat message: its reasoning stands behind them.
    parts: Vec<usize>,
    /// Texts here and there, in the order of the Chat history.
    texts: Vec<(Address, Address)>,
    /// The same from there.
    from: BTreeMap<Address, Address>,
}

impl<'t> Addresses<'t> {
    /// # Panics
    /// The conversion has lost or changed a text, or the two read it otherwise.
    pub fn of(twin: &Twin, chat: &Value, converted: &'t Converted) -> Addresses<'t> {
        let messages = chat["messages"].as_array().expect("a request has messages");
        let there = converted.request[list_of(&converted.request)].as_array().expect("a request has messages");
        let mut texts = Vec::new();
        for (at, (message, home)) in messages.iter().zip(&converted.homes).enumerate() {
            if home.messages.is_empty() {
                continue; // it stands before all messages
            }
            let mut own = (super::openai_chat::TWIN.texts)(message);
            let prefix = home.block.as_deref().unwrap_or("");
            let of_message = |message: usize| {
                let slots = (twin.texts)(&there[message]).into_iter();
                slots.filter(|slot| slot.pointer.starts_with(prefix)).map(move |slot| (message, slot))
            };
            let mut its: Vec<(usize, Slot)> = home.messages.clone().flat_map(of_message).collect();
            if own.len() != its.len() {
                own.retain(|slot| !slot.text.is_empty()); // some wires take no empty texts
                its.retain(|(_, slot)| !slot.text.is_empty());
            }
            its.sort_by_key(|(message, slot)| (*message, order(&slot.pointer)));
            let said: Vec<&str> = own.iter().map(|slot| slot.text.as_str()).collect();
            let told: Vec<&str> = its.iter().map(|(_, slot)| slot.text.as_str()).collect();
            assert_eq!(said, told, "the texts of message {at} on {}", twin.name);
            texts.extend(own.iter().zip(&its).map(|(slot, (message, its))| ((at, slot.part), (*message, its.part))));
        }
        let parts = |message: &Value| message["content"].as_array().map_or(usize::from(message["content"].is_string()), Vec::len);
        Addresses { converted, parts: messages.iter().map(parts).collect(), from: texts.iter().map(|(own, its)| (*its, *own)).collect(), texts }
    }

    /// The Chat message that a message came from: the first of several.
    fn message_from(&self, there: usize) -> usize {
        let homes = &self.converted.homes;
        homes.iter().position(|home| home.messages.end > there).unwrap_or(homes.len())
    }

    /// Messages on the wire that the first so many of the Chat history take.
    pub fn length_there(&self, length: usize) -> usize {
        let homes = &self.converted.homes;
        let known = homes.iter().take(length).map(|home| home.messages.end).max().unwrap_or(0);
        known + length.saturating_sub(homes.len())
    }

    /// The same the other way round: Chat messages that go into so many on the wire.
    fn length_from(&self, there: usize) -> usize {
        self.converted.homes.iter().take_while(|home| home.messages.end <= there).count()
    }

    /// The options as the wire takes them: what points into the history points at the same there.
    pub fn options(&self, options: &Value) -> Value {
        let mut options = options.clone();
        let Some(fields) = options.as_object_mut() else { return options };
        if let Some(pins) = fields.get_mut("pins").and_then(Value::as_array_mut) {
            *pins = pins.iter().flat_map(|pin| self.pin(pin)).collect();
        }
        if let Some(up_to) = fields.get_mut("usage").and_then(|usage| usage.get_mut("upTo"))
            && let Some(length) = up_to.as_u64()
        {
            *up_to = self.length_there(length as usize).into();
        }
        options
    }

    fn pin(&self, pin: &Value) -> Vec<Value> {
        let at = pin.as_u64().or_else(|| pin["message"].as_u64()).map(|at| at as usize);
        let part = pin.get("part");
        let Some((at, home)) = at.and_then(|at| Some((at, self.converted.homes.get(at)?))) else { return vec![pin.clone()] };
        let texts = self.texts.iter().filter(|((message, own), _)| *message == at && part.is_none_or(|part| part == &json!(own)));
        let is_reasoning = part.is_some_and(|part| part == &json!(self.parts[at]));
        match (part, &home.block) {
            (None, None) => home.messages.clone().map(Value::from).collect(),
            _ if is_reasoning => home.messages.clone().map(Value::from).collect(),
            _ => texts.map(|(_, (message, part))| json!({ "message": message, "part": part })).collect(),
        }
    }

    fn from(&self, there: Address) -> Option<Address> {
        self.from.get(&there).copied()
    }

    /// An edit in the Chat twin's words, if it lies on a text.
    pub fn edit(&self, mut edit: Edit) -> Option<Edit> {
        (edit.since, edit.since_there) = (self.length_from(edit.since), edit.since);
        if edit.rule == "reasoning" {
            edit.message = self.message_from(edit.message);
            edit.part = *self.parts.get(edit.message)?;
        } else {
            (edit.message, edit.part) = self.from((edit.message, edit.part))?;
        }
        if let Some(target) = &mut edit.target {
            (target.message, target.part) = self.from((target.message, target.part))?;
        }
        Some(edit)
    }

    /// The outcome with indices into the Chat history, as if nothing had been put before it. Patches and the plan stay the wire's.
    pub fn outcome(&self, mut outcome: Outcome, shift: usize) -> Outcome {
        let from = |returned: usize| self.message_from(returned.saturating_sub(shift));
        outcome.report.folded_from = outcome.report.folded_from.map(from);
        if let Some(entry) = outcome.report.cannot_fit.as_mut().and_then(|cannot_fit| cannot_fit.entry.as_mut()) {
            entry.message = self.from((entry.message, entry.part as usize)).map_or_else(|| self.message_from(entry.message), |own| own.0);
        }
        let last_of = |returned: &usize| {
            let there = returned.checked_sub(shift)?;
            self.converted.homes.iter().rposition(|home| home.messages.contains(&there))
        };
        outcome.breakpoints = outcome.breakpoints.iter().filter_map(last_of).collect();
        outcome.breakpoints.dedup();
        outcome
    }
}

/// Pointers in the order of what they point at.
fn order(pointer: &str) -> Vec<(usize, String)> {
    pointer.split('/').map(|step| (step.parse().unwrap_or(0), step.to_owned())).collect()
}
