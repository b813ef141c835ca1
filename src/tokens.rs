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
    if number.fract() == 0.0 && number.abs() < 1e15 {
        (number.abs().max(1.0).log10() as u64) + 1
    } else {
        12
    }
}

fn add(sum: &mut Classes, bytes: &[u8]) {
    let more = classes(bytes);
    sum.letters += more.letters;
    sum.digits += more.digits;
    sum.spaces += more.spaces;
    sum.punctuation += more.punctuation;
    sum.other += more.other;
}

/// One pass, eight bytes at a time: each comparison leaves its answer in the top bit of every byte.
fn classes(bytes: &[u8]) -> Classes {
    let mut sum = Classes::default();
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| count(&mut sum, u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        count(&mut sum, u64::from_le_bytes(word));
        sum.spaces -= 8 - rest.len() as u64; // zeros count as space
    }
    sum.punctuation = bytes.len() as u64 - sum.letters - sum.digits - sum.spaces - sum.other;
    sum
}

const ONES: u64 = u64::MAX / 255;
const TOPS: u64 = 0x80 * ONES;

fn count(sum: &mut Classes, word: u64) {
    let ascii = !word & TOPS;
    let low = word & !TOPS;
    let at_least = |low: u64, byte: u8| low + (0x80 - u64::from(byte)) * ONES;
    let within = |low: u64, first: u8, last: u8| u64::from((at_least(low, first) & !at_least(low, last + 1) & ascii).count_ones());
    sum.letters += within(low | 0x20 * ONES, b'a', b'z');
    sum.digits += within(low, b'0', b'9');
    sum.spaces += within(low, 0, b' ');
    sum.other += u64::from((word & TOPS).count_ones());
}

/// Thousandths of a token a byte, fitted on source code, logs and prose against o200k.
const WEIGHTS: Classes = Classes {
    letters: 190,
    digits: 440,
    spaces: 150,
    punctuation: 530,
    other: 270,
};

fn weigh(classes: Classes) -> u32 {
    let thousandths = classes.letters * WEIGHTS.letters
        + classes.digits * WEIGHTS.digits
        + classes.spaces * WEIGHTS.spaces
        + classes.punctuation * WEIGHTS.punctuation
        + classes.other * WEIGHTS.other;
    u32::try_from(thousandths.div_ceil(1000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_of_the_class_that_its_character_says() {
        for byte in 0..=255u8 {
            let expected = match byte {
                0x80.. => Classes { other: 1, ..Classes::default() },
                b'0'..=b'9' => Classes { digits: 1, ..Classes::default() },
                _ if byte.is_ascii_alphabetic() => Classes { letters: 1, ..Classes::default() },
                0..=b' ' => Classes { spaces: 1, ..Classes::default() },
                _ => Classes { punctuation: 1, ..Classes::default() },
            };
            assert_eq!(classes(&[byte]), expected, "{byte:#x}");
            for at in 0..8 {
                let mut word = [b' '; 8];
                word[at] = byte;
                let mut sum = classes(&word);
                sum.spaces -= 7;
                assert_eq!(sum, expected, "{byte:#x} at {at}");
            }
        }
    }
}
