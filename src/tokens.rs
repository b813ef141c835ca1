//! How many tokens a text is, told from its bytes alone: no tokenizer, no tables, the same answer everywhere.
//!
//! Bytes are counted by class and each class has a weight, so that digits and punctuation (one to three characters a token)
//! and scripts outside ASCII count for what they are.
//!
//! ```
//! use warmfold::tokens::estimate;
//!
//! assert_eq!(estimate(""), 0);
//! assert!((8..=12).contains(&estimate("The quick brown fox jumps over the lazy dog.")));
//! assert!(estimate(&"深".repeat(1000)) > 600);
//! ```

use crate::tape::{Kind, Node};

/// Tokens that a message costs beside its content (role, separators), as providers document for chat formats.
pub const MESSAGE_OVERHEAD: u32 = 4;

/// An image at high detail: 1024 × 1024 pixels by OpenAI's documented tile formula (85 + 4 × 170).
pub const IMAGE: u32 = 765;

/// An image at `detail: "low"`, by the same documentation.
pub const IMAGE_LOW: u32 = 85;

/// How many bytes of each class a text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Classes {
    letters: u64,
    digits: u64,
    spaces: u64,
    punctuation: u64,
    other: u64,
}

/// Tokens of a text.
pub fn estimate(text: &str) -> u32 {
    weigh(classes(text.as_bytes()))
}

/// Tokens of a whole value as JSON, keys and punctuation included: tool schemas, tool calls. What JSON cannot hold counts nothing.
pub fn estimate_tree(root: Node<'_>) -> u32 {
    let mut sum = Classes::default();
    for node in root.subtree() {
        if let Some(key) = node.key() {
            add(&mut sum, key.as_bytes());
            sum.punctuation += 1;
        }
        match node.kind() {
            Kind::String => add(&mut sum, node.text().unwrap_or("").as_bytes()),
            Kind::Number => sum.digits += number_digits(node.number().unwrap_or(0.0)),
            Kind::Null | Kind::True | Kind::False => sum.letters += 4,
            Kind::Array | Kind::Object | Kind::Opaque => {}
        }
        sum.punctuation += 1;
    }
    weigh(sum)
}

fn number_digits(number: f64) -> u64 {
    if number.fract() == 0.0 && number.abs() < 1e15 { (number.abs().max(1.0).log10() as u64) + 1 } else { 12 }
}

fn add(sum: &mut Classes, bytes: &[u8]) {
    let more = classes(bytes);
    sum.letters += more.letters;
    sum.digits += more.digits;
    sum.spaces += more.spaces;
    sum.punctuation += more.punctuation;
    sum.other += more.other;
}

/// One pass; each block's counters fit a byte, so that the compiler can count sixteen bytes at once.
fn classes(bytes: &[u8]) -> Classes {
    let mut sum = Classes::default();
    for block in bytes.chunks(255) {
        let (mut letters, mut digits, mut spaces, mut other) = (0u8, 0u8, 0u8, 0u8);
        for &byte in block {
            letters += u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
            digits += u8::from(byte.wrapping_sub(b'0') < 10);
            spaces += u8::from(byte <= b' ');
            other += u8::from(byte >= 0x80);
        }
        sum.letters += u64::from(letters);
        sum.digits += u64::from(digits);
        sum.spaces += u64::from(spaces);
        sum.other += u64::from(other);
        sum.punctuation += block.len() as u64 - u64::from(letters) - u64::from(digits) - u64::from(spaces) - u64::from(other);
    }
    sum
}

/// Thousandths of a token a byte, fitted on source code, logs and prose against o200k.
const WEIGHTS: Classes = Classes { letters: 190, digits: 440, spaces: 150, punctuation: 530, other: 270 };

fn weigh(classes: Classes) -> u32 {
    let thousandths = classes.letters * WEIGHTS.letters
        + classes.digits * WEIGHTS.digits
        + classes.spaces * WEIGHTS.spaces
        + classes.punctuation * WEIGHTS.punctuation
        + classes.other * WEIGHTS.other;
    u32::try_from(thousandths.div_ceil(1000)).unwrap_or(u32::MAX)
}
