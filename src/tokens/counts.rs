//! What a text is made of, as far as tokenizers care: words and their lengths, changes of case, digits, runs of spaces and punctuation,
//! characters by script. One pass, sixty-four bytes at a time; runs go on from one piece to the next.
//!
//! ```
//! use warmfold::tokens::Counts;
//!
//! let mut pieces = Counts::default();
//! pieces.add("parseHT");
//! pieces.add("TPHeader(x)");
//! assert_eq!(pieces, Counts::of("parseHTTPHeader(x)"));
//! ```

use wide::u8x16;

use crate::bytes::LANES;
use crate::tape::{Kind, Node};

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Features counted from bytes; each is a row of [`super::weights`].
pub(super) const COUNTED: usize = ASCII + SCRIPTS;

/// Of them, those of ASCII bytes.
const ASCII: usize = 28;

/// Those of other characters.
const SCRIPTS: usize = 12;

/// Of all features, those that each character has just one of: letters, digits, blanks, line ends, marks, and other scripts.
const CHARACTERS: [usize; 6] = [0, 8, 12, 16, 19, ASCII + 1];

/// All features: those counted from bytes, then values and keys of a tree.
pub const FEATURES: usize = COUNTED + 2;

/// How often each feature occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub(super) sums: [u64; FEATURES],
    before: Before,
}

/// What a run at the start of the next block goes on from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Before {
    /// The last bytes.
    bytes: [u8; LANES],
    /// For each kind of run, which of the last eight bytes it holds, the last one highest.
    runs: [u8; RUNS],
}

const RUNS: usize = 12;

impl Default for Counts {
    fn default() -> Counts {
        Counts { sums: [0; FEATURES], before: Before::default() }
    }
}

impl Counts {
    /// Of a text.
    pub fn of(text: &str) -> Counts {
        let mut counts = Counts::default();
        counts.add(text);
        counts
    }

    /// Goes on with a text.
    pub fn add(&mut self, text: &str) {
        let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
        for block in blocks {
            self.block(block, BLOCK);
        }
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            self.block(&block, rest.len());
        }
    }

    /// Of a value as JSON.
    pub fn of_tree(root: Node<'_>) -> Counts {
        let mut counts = Counts::default();
        for node in root.subtree() {
            counts.sums[COUNTED] += 1;
            if let Some(key) = node.key() {
                counts.sums[COUNTED + 1] += 1;
                counts.add_alone(key);
            }
            match node.kind() {
                Kind::String => counts.add_alone(node.text().unwrap_or("")),
                Kind::Number => counts.add_alone(number_like(node.number().unwrap_or(0.0))),
                Kind::Null | Kind::True | Kind::False => counts.add_alone("true"),
                Kind::Array | Kind::Object | Kind::Opaque => {}
            }
        }
        counts
    }

    /// Goes on with a text that no run leads into.
    fn add_alone(&mut self, text: &str) {
        self.before = Before::default();
        self.add(text);
    }

    /// Thousandths of a token that it is at least: no token is longer than 128 characters, and what is not empty has one.
    pub(super) fn least(&self) -> u64 {
        let characters = CHARACTERS.iter().map(|class| self.sums[*class]).sum::<u64>();
        (characters * 1000 / 128).max(u64::from(characters > 0))
    }

    /// How often each occurs.
    pub fn features(&self) -> &[u64; FEATURES] {
        &self.sums
    }

    #[inline]
    fn block(&mut self, block: &[u8; BLOCK], length: usize) {
        let mut bytes = [0; LANES + BLOCK];
        bytes[..LANES].copy_from_slice(&self.before.bytes);
        bytes[LANES..].copy_from_slice(block);
        let window = Window { bytes, valid: u64::MAX >> (BLOCK - length) };
        let all = u8x16::splat;
        let letters = window.up_to(|lane| (lane | all(0x20)) - all(b'a'), 25);
        let upper = window.up_to(|lane| lane - all(b'A'), 25);
        let digits = window.up_to(|lane| lane - all(b'0'), 9);
        let lines = window.mask(|lane| lane.simd_eq(all(b'\n')) | lane.simd_eq(all(b'\r')));
        let blanks = window.up_to(|lane| lane, b' ') & !lines;
        let high = window.up_to(|lane| lane - all(0x80), 0x7f);
        let marks = window.valid & !(letters | digits | blanks | lines | high);
        let vowels =
            window.mask(|lane| [b'a', b'e', b'i', b'o', b'u'].iter().fold(all(0), |found, vowel| found | (lane | all(0x20)).simd_eq(all(*vowel))));
        let same = window.same(1);
        let mut runs = Runs { before: self.before.runs, now: 0, masks: [0; RUNS] };
        let after_letter = runs.after(letters, 1);
        let two = letters & after_letter;
        let four = two & runs.after(two, 2);
        let eight = four & runs.after(four, 4);
        let after_upper = runs.after(upper, 1);
        let after_digit = runs.after(digits, 1);
        let after_blank = runs.after(blanks, 1);
        let blank_pair = blanks & after_blank;
        let after_blank_pair = runs.after(blank_pair, 1);
        let after_line = runs.after(lines, 1);
        let after_mark = runs.after(marks, 1);
        let after_high = runs.after(high, 1);
        let turns = (letters & after_letter & (upper ^ after_upper)) | (digits & after_letter) | (letters & after_digit);
        let after_turn = runs.after(turns, 1);
        let after_turns = runs.after(turns & after_turn, 1);
        add(
            &mut self.sums[..ASCII],
            [
                letters,
                letters & !after_letter,
                four,
                eight,
                upper,
                upper & after_letter & !after_upper,
                upper & after_upper,
                vowels,
                digits,
                digits & !after_digit,
                (digits & after_letter) | (letters & after_digit),
                digits & after_blank,
                blanks,
                blank_pair,
                blank_pair & !after_blank_pair,
                blanks & after_line,
                lines,
                lines & !after_line,
                lines & after_mark,
                marks,
                marks & !after_mark,
                marks & after_blank,
                marks & same,
                letters & after_mark,
                blanks & after_mark,
                blank_pair & same,
                turns & after_turn,
                turns & after_turn & after_turns,
            ],
        );
        if high != 0 {
            let from = |first: u8| window.up_to(|lane| lane - all(first), 0xff - first);
            add(
                &mut self.sums[ASCII..COUNTED],
                [
                    high & !after_high,
                    from(0xc2),
                    from(0xc6),
                    from(0xd6),
                    from(0xe0),
                    from(0xe2),
                    from(0xe3),
                    from(0xe4),
                    from(0xea),
                    from(0xee),
                    from(0xf0),
                    from(0xe2) & window.same(3),
                ],
            );
        }
        self.before.runs = runs.ends(length);
        if let Some(last) = window.bytes[length..].first_chunk() {
            self.before.bytes = *last;
        }
    }
}

/// A text that is as long as the number.
fn number_like(number: f64) -> &'static str {
    let whole = number.fract() == 0.0 && number.abs() < 1e15;
    let digits = if whole { number.abs().max(1.0).log10() as usize + 1 } else { 12 };
    &"0000000000000000"[..digits.min(16)]
}

fn add<const N: usize>(sums: &mut [u64], masks: [u64; N]) {
    for (sum, mask) in sums.iter_mut().zip(masks) {
        *sum += u64::from(mask.count_ones());
    }
}

/// A block behind the last bytes of the one before.
struct Window {
    bytes: [u8; LANES + BLOCK],
    /// The bytes that are text, the first one lowest.
    valid: u64,
}

impl Window {
    /// Sixteen bytes of the block, or those so many places before them.
    #[inline(always)]
    fn lane(&self, at: usize, back: usize) -> u8x16 {
        u8x16::new(self.bytes[LANES + at - back..].first_chunk().copied().unwrap_or_default())
    }

    /// The bytes that pass.
    #[inline(always)]
    fn mask(&self, passes: impl Fn(u8x16) -> u8x16) -> u64 {
        let bits = |at: usize| u64::from(passes(self.lane(at, 0)).to_bitmask()) << at;
        (bits(0) | bits(16) | bits(32) | bits(48)) & self.valid
    }

    /// The bytes that are `last` at the most once they are moved.
    #[inline(always)]
    fn up_to(&self, moved: impl Fn(u8x16) -> u8x16, last: u8) -> u64 {
        self.mask(|lane| moved(lane).min(u8x16::splat(last)).simd_eq(moved(lane)))
    }

    /// The bytes that are equal to the one so many places before.
    #[inline(always)]
    fn same(&self, back: usize) -> u64 {
        let bits = |at: usize| u64::from(self.lane(at, 0).simd_eq(self.lane(at, back)).to_bitmask()) << at;
        (bits(0) | bits(16) | bits(32) | bits(48)) & self.valid
    }
}

/// Runs of a kind, which go on from the block before.
struct Runs {
    before: [u8; RUNS],
    masks: [u64; RUNS],
    now: usize,
}

impl Runs {
    /// The places that stand so many behind one of the mask.
    #[inline(always)]
    fn after(&mut self, mask: u64, by: u32) -> u64 {
        let before = u64::from(self.before[self.now]);
        self.masks[self.now] = mask;
        self.now += 1;
        (mask << by) | (before >> (8 - by))
    }

    /// What the next block goes on from.
    #[inline(always)]
    fn ends(&self, length: usize) -> [u8; RUNS] {
        std::array::from_fn(|run| {
            let joined = (u128::from(self.masks[run]) << 8) | u128::from(self.before[run]);
            (joined >> length) as u8
        })
    }
}
