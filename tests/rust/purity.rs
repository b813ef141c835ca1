//! Law 1 across machines: a hundred odd conversations, folded call by call, give the very bytes that are written down here.
//!
//! The same test runs natively, in Node and in Chromium. When a change of the estimator or of a wording is meant, write the new hash
//! down with `WARMFOLD_BLESS=1 cargo test --test rust purity` and say why in the commit.

use std::fmt::Write;

use serde_json::{Value, json};
use warmfold::tape;

use crate::support::{Carry, at_length, call_lengths, send};
use crate::transcript::{self, Ids, KINDS, Says, Shape, Step, TOOLS, Text, Thought, Use};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const GOLDEN: &str = include_str!("../fixtures/purity.txt");

const CONVERSATIONS: u64 = 100;

/// SplitMix64: a few lines, and the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    fn text(&mut self) -> Text {
        Text { kind: self.below(KINDS), size: self.of(&[0, 1, 5, 20, 60, 90]), salt: self.below(3) }
    }

    fn thought(&mut self) -> Thought {
        match self.below(6) {
            0 => Thought::Reasoning(self.text()),
            1 => Thought::Content(self.text()),
            2 => Thought::Details(self.text()),
            _ => Thought::None,
        }
    }

    fn tool_use(&mut self) -> Use {
        Use {
            tool: if self.once_in(2) { 0 } else { self.below(TOOLS.len()) },
            file: self.below(2),
            range: self.once_in(3).then(|| (self.below(4) * 50, 50)),
            says: match self.below(8) {
                0 => Says::Unchanged,
                1 => Says::Error(self.text()),
                _ => Says::Text(self.text()),
            },
            shape: if self.once_in(3) { self.of(&Shape::ALL) } else { Shape::String },
        }
    }

    fn step(&mut self) -> Step {
        match self.below(14) {
            0 => Step::System { developer: self.once_in(2), text: self.text() },
            1 | 2 => Step::User { text: self.text(), shape: self.of(&Shape::ALL) },
            3 => Step::Say { text: self.text(), shape: self.of(&Shape::ALL), thought: self.thought() },
            4 => Step::Legacy(self.tool_use()),
            5 => Step::Orphan(self.text()),
            6 => Step::Odd(self.text()),
            _ => Step::Exchange {
                uses: (0..=self.below(3)).map(|_| self.tool_use()).collect(),
                ids: self.of(&[Ids::Fresh, Ids::Fresh, Ids::Constant, Ids::PerMessage]),
                reversed: self.once_in(2),
                answered: if self.once_in(6) { 1 } else { usize::MAX },
                thought: self.thought(),
                remark: self.once_in(3).then(|| self.text()),
            },
        }
    }

    fn options(&mut self) -> Value {
        let mut options = json!({
            "budgetTokens": self.of(&[1, 200, 600, 2000]),
            "protectRecentTurns": self.below(6),
            "floorRatio": self.of(&[1.0, 0.75, 0.3]),
            "maxToolResultBytes": self.of(&[0, 300, 1500]),
            "keepHeadBytes": self.of(&[0, 60, 300]),
            "keepTailBytes": self.of(&[0, 60, 300]),
            "marks": self.of(&["none", "anthropic", "openai"]),
            "milestoneTokens": self.of(&[20, 300, 20_000]),
            "model": { "id": self.of(&["claude", "gpt-5", "other"]), "contextWindow": self.of(&[20_000, 200_000]) },
        });
        if self.once_in(3) {
            options["contextBlock"] = "what the project is about".into();
        }
        options
    }
}

/// One line a conversation: what was returned at each call, messages, plan, breakpoints and report, as a hash.
fn fold_all() -> String {
    let mut lines = String::new();
    for seed in 0..CONVERSATIONS {
        let mut random = Random(seed);
        let steps: Vec<Step> = (0..random.below(25)).map(|_| random.step()).collect();
        let request = json!({ "messages": transcript::write(&steps) });
        let options = random.options();
        let mut carry = Carry::New;
        let (mut sum, mut edits) = (0u64, 0);
        for length in call_lengths(request["messages"].as_array().expect("messages are an array")) {
            let call = send(&at_length(&request, length), &options, &carry);
            let outcome = serde_json::to_string(&call.outcome).expect("an outcome is JSON");
            sum = sum.rotate_left(1) ^ tape::fingerprint(&outcome) ^ tape::fingerprint(&call.output.to_string());
            edits = call.edits().len();
            carry = call.next();
        }
        writeln!(lines, "{seed} {edits} {}", tape::hex(sum)).expect("a string takes any text");
    }
    lines
}

#[test]
fn the_same_input_gives_the_same_bytes_everywhere() {
    let lines = fold_all();
    #[cfg(not(target_arch = "wasm32"))]
    if std::env::var_os("WARMFOLD_BLESS").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/purity.txt");
        std::fs::write(path, &lines).expect("the fixture can be written");
        return;
    }
    let different = lines.lines().zip(GOLDEN.lines()).find(|(now, then)| now != then);
    assert_eq!(different, None, "(now, then); if this is meant: WARMFOLD_BLESS=1 cargo test --test rust purity");
    assert_eq!(lines.lines().count(), GOLDEN.lines().count());
}

#[test]
fn the_golden_conversations_have_edits() {
    let edited = GOLDEN.lines().filter(|line| line.split(' ').nth(1) != Some("0")).count();
    assert!(edited > 40, "only {edited} conversations are edited at all");
}
