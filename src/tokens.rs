//! How many tokens a text is, told from its bytes alone: no tokenizer, the same answer everywhere.
//!
//! What a text is made of is counted in one pass ([`Counts`]), and each family of models weighs it in its own way.
//!
//! ```
//! use warmfold::tokens::Estimator;
//!
//! let estimator = Estimator::of(Some("gpt-5"));
//! assert_eq!(estimator.text(""), 0);
//! assert!((8..=12).contains(&estimator.text("The quick brown fox jumps over the lazy dog.")));
//! assert!(estimator.text(&"深".repeat(1000)) > 600);
//! ```

use crate::tape::Node;

mod calibration;
mod counts;
mod family;
pub mod images;
mod weights;

pub use calibration::{Learned, RANGE};
pub use counts::{Counts, FEATURES};
pub use family::Family;

/// Tokens that a message costs beside its content (role, separators), as providers document for chat formats.
pub const MESSAGE_OVERHEAD: u32 = 4;

/// Estimates as the tokenizer of a family of models counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimator {
    family: Family,
}

impl Estimator {
    /// For a model, by its id; without one as OpenAI's count.
    pub fn of(model: Option<&str>) -> Estimator {
        Estimator { family: model.map_or(Family::default(), Family::of) }
    }

    /// The family whose tokenizer it follows.
    pub fn family(self) -> Family {
        self.family
    }

    /// Tokens of a text.
    pub fn text(self, text: &str) -> u32 {
        self.weigh(&Counts::of(text))
    }

    /// Tokens of a text that comes in pieces: those of their concatenation.
    pub fn pieces<'t>(self, pieces: impl Iterator<Item = &'t str>) -> u32 {
        let mut counts = Counts::default();
        pieces.for_each(|piece| counts.add(piece));
        self.weigh(&counts)
    }

    /// Tokens of a whole value as JSON, keys and punctuation included: tool schemas, tool calls. What JSON cannot hold counts nothing.
    pub fn tree(self, root: Node<'_>) -> u32 {
        self.weigh(&Counts::of_tree(root))
    }

    fn weigh(self, counts: &Counts) -> u32 {
        let weights = weights::of(self.family);
        let sum: i64 = counts.features().iter().zip(weights).map(|(count, weight)| *count as i64 * i64::from(*weight)).sum();
        let thousandths = sum.max(0).cast_unsigned().max(counts.least());
        u32::try_from(thousandths.div_ceil(1000)).unwrap_or(u32::MAX)
    }
}
