//! Every case and every law runs on every wire.
//!
//! Tests write histories as OpenAI Chat has them. On the wire of a [`Twin`] such a history is [converted](Twin::from_chat), folded there, held
//! against what its plan says ([`law`]) and against the provider's rules, and what came of it is told in the Chat twin's words
//! ([`addresses`]), so that one assertion serves all wires. [`every_wire!`] makes a test of each: `cases::pairing::orphans_stay::anthropic`.
//! Where a wire cannot do what a test asks for, [`exceptions`] say why.
//!
//! A wire is added in one place: its name in [`for_each_wire!`], and a module of that name here with its `TWIN`.

use std::cell::Cell;

use serde_json::{Value, json};
use warmfold::Format;

use crate::support::{Carry, Sent, try_send};

pub use addresses::{Converted, Home};

pub mod addresses;
mod exceptions;
pub mod law;
// It is asked of laws, too.
#[cfg(not(target_arch = "wasm32"))]
pub mod rows;

pub mod ai_sdk;
pub mod anthropic;
pub mod gemini;
pub mod openai_chat;
pub mod openai_responses;

macro_rules! for_each_wire {
    ($($callback:ident)::+! $($more:tt)*) => {
        $($callback)::+! { [openai_chat anthropic openai_responses gemini ai_sdk] $($more)* }
    };
}
pub(crate) use for_each_wire;

macro_rules! twins {
    ([$($wire:ident)+]) => {
        /// All wires; Chat is its own twin.
        pub static TWINS: &[&Twin] = &[$(&$wire::TWIN),+];
    };
}
for_each_wire!(twins!);

/// What tests have to know of a wire: its format, read a second time, from JSON alone.
pub struct Twin {
    /// The name of its tests.
    pub name: &'static str,
    pub format: Format,
    /// A Chat history without what cannot be said on this wire.
    pub sayable: fn(&[Value]) -> Vec<Value>,
    /// A Chat request as one of this wire; of a longer history the conversion begins with that of a shorter one.
    pub from_chat: fn(&Value) -> Converted,
    /// The texts of a message, each by its part.
    pub texts: fn(&Value) -> Vec<Slot>,
    /// Puts a shortened text where one stood.
    pub put: fn(&mut Value, String),
    /// Takes the reasoning out of a message.
    pub drop_reasoning: fn(&mut Value),
    /// Puts the context block where the host would see it.
    pub put_block: fn(&mut Value, &str),
    /// What the provider answers 400 to.
    pub faults: fn(&Value) -> Vec<String>,
}

/// Two answers in a row would be one on some wires: the user speaks between them.
fn separated(messages: &[Value]) -> Vec<Value> {
    let mut apart: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "assistant" && apart.last().is_some_and(|last| last["role"] == "assistant") {
            apart.push(json!({ "role": "user", "content": "go on" }));
        }
        apart.push(message.clone());
    }
    apart
}

/// What a message has beside what every wire knows.
fn unknown_fields(message: &Value) -> impl Iterator<Item = (String, Value)> {
    const KNOWN: [&str; 12] = [
        "role",
        "content",
        "name",
        "refusal",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "is_error",
        "status",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
    ];
    let fields = message.as_object().into_iter().flatten().filter(|(key, _)| !KNOWN.contains(&key.as_str()));
    fields.map(|(key, value)| (key.clone(), value.clone()))
}

/// A text of a message.
#[derive(Debug)]
pub struct Slot {
    pub part: usize,
    /// Where it stands, from the message on.
    pub pointer: String,
    pub text: String,
}

impl Twin {
    /// Whether the wire is the one that tests are written for.
    pub fn is_chat(&self) -> bool {
        self.format == Format::OpenaiChat
    }

    /// Sends a request of this wire, whatever it could be taken for.
    ///
    /// # Panics
    /// What is sent is not what the plan says, or the provider would refuse it.
    pub fn try_send(&self, request: &Value, options: &Value, carry: &Carry) -> warmfold::Result<Sent> {
        let mut options = options.clone();
        if let Some(options) = options.as_object_mut() {
            options.entry("format").or_insert_with(|| json!(self.format));
        }
        let sent = try_send(request, &options, carry)?;
        let lawful = law::sent_as_planned(self, &sent).and_then(|()| law::stays_valid(self, &sent));
        lawful.unwrap_or_else(|fault| panic!("on {}: {fault}", self.name));
        Ok(sent)
    }

    pub fn send(&self, request: &Value, options: &Value, carry: &Carry) -> Sent {
        self.try_send(request, options, carry).unwrap_or_else(|fault| panic!("a good request folds: {fault}"))
    }
}

thread_local! {
    static CURRENT: Cell<(&'static Twin, bool)> = const { Cell::new((&openai_chat::TWIN, false)) };
}

/// The wire that this test runs on; Chat, unless it is one of every wire's.
pub fn current() -> &'static Twin {
    CURRENT.get().0
}

/// Whether this test is said to fail: then there is no need to find out how simply it does.
#[cfg(not(target_arch = "wasm32"))]
pub fn is_excepted() -> bool {
    CURRENT.get().1
}

/// Does something on another wire.
#[cfg(not(target_arch = "wasm32"))]
pub fn on<T>(twin: &'static Twin, does: impl FnOnce() -> T) -> T {
    let here = CURRENT.replace((twin, is_excepted()));
    let done = does();
    CURRENT.set(here);
    done
}

/// Runs a test on a wire; an exception must really be one. `module` is where the test was made: `rust::cases::pairing::orphans_stay`.
pub fn run(module: &str, wire: &str, test: fn()) {
    let name = module.split_once("::").map_or(module, |(_, name)| name);
    let twin = TWINS.iter().find(|twin| twin.name == wire).expect("every wire has a twin");
    let reason = exceptions::reason(wire, name);
    CURRENT.set((twin, reason.is_some()));
    let Some(reason) = reason else { return test() };
    if cfg!(not(target_arch = "wasm32")) {
        let failed = std::panic::catch_unwind(test).is_err(); // a panic in wasm ends everything
        assert!(failed, "this exception is needed no longer: {name} on {wire}, {reason:?}");
    }
}

/// Registers the tests of a file, each with the rows of CASES.md that it covers: one test a wire.
macro_rules! every_wire {
    ($($test:ident $(covers $($row:literal)+)?),+ $(,)?) => {
        /// The tests of this file and the rows that they cover.
        #[cfg(not(target_arch = "wasm32"))]
        pub const TESTS: crate::twin::rows::Tests = crate::twin::rows::Tests {
            file: module_path!(),
            tests: &[$((stringify!($test), &[$($($row),+)?])),+],
        };
        $(crate::twin::for_each_wire!(crate::twin::on_each! $test);)+
    };
}
pub(crate) use every_wire;

macro_rules! on_each {
    ([$($wire:ident)+] $test:ident) => {
        mod $test {
            $(
                #[cfg_attr(not(target_arch = "wasm32"), test)]
                #[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
                fn $wire() {
                    crate::twin::run(module_path!(), stringify!($wire), super::$test);
                }
            )+
        }
    };
}
pub(crate) use on_each;
