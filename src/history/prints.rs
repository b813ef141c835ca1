//! Fingerprints of runs of messages: one walk, then each run at once.
//!
//! ```
//! use warmfold::{history::prints::Prints, Format, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "a"}]}"#)?;
//! let view = Format::OpenaiChat.read(&Request::of(tape.root()), None)?;
//! let prints = Prints::of(&view, 0..3);
//! assert!(prints.run(0..1) == prints.run(2..3) && prints.run(0..2) != prints.run(1..3));
//! # Ok::<(), warmfold::Error>(())
//! ```

use std::hash::Hasher;
use std::ops::Range;

use super::View;

/// An odd number without a pattern: the golden ratio's.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The fingerprints of a stretch of a history.
pub struct Prints {
    first: usize,
    /// Of the messages before each: a polynomial in their fingerprints.
    sums: Vec<u64>,
    powers: Vec<u64>,
}

impl Prints {
    /// Walks over these messages.
    pub fn of(view: &View<'_>, messages: Range<usize>) -> Prints {
        let (mut sums, mut powers) = (vec![0u64], vec![1u64]);
        let (mut sum, mut power) = (0u64, 1u64);
        for message in messages.clone() {
            sum = sum.wrapping_mul(BASE).wrapping_add(print(view, message));
            power = power.wrapping_mul(BASE);
            sums.push(sum);
            powers.push(power);
        }
        Prints { first: messages.start, sums, powers }
    }

    /// The fingerprint of a run of them.
    pub fn run(&self, messages: Range<usize>) -> u64 {
        let (from, to) = (messages.start - self.first, messages.end - self.first);
        self.sums[to].wrapping_sub(self.sums[from].wrapping_mul(self.powers[to - from]))
    }
}

/// Of what a message says and asks for.
fn print(view: &View<'_>, message: usize) -> u64 {
    let mut hasher = twox_hash::XxHash64::with_seed(0);
    let found = &view.messages[message];
    hasher.write_u8(found.role as u8);
    for entry in &view.entries[found.entries.clone()] {
        hasher.write_u32(entry.part);
        hasher.write_u64(entry.fingerprint());
    }
    view.calls_of(message).for_each(|call| hasher.write_u64(view.tool_calls[call].print()));
    hasher.finish()
}
