//! What reported usage teaches about an estimate: plain data, by model, which the host keeps.
//!
//! ```
//! use warmfold::tokens::Learned;
//!
//! let first = Learned::default().observe(1.2); // the first report is taken whole
//! assert_eq!(first, Learned { ratio: 1.2, reports: 1 });
//! assert!((first.observe(1.4).ratio - 1.26).abs() < 1e-9);
//! ```

use serde::Serialize;

/// Share of a later report in what is learned.
const WEIGHT: f64 = 0.3;

/// A reported usage further off than this speaks of another request than ours.
pub const RANGE: (f64, f64) = (0.25, 4.0);

/// Reported over estimated tokens of a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Learned {
    /// Multiplies our estimates.
    pub ratio: f64,
    /// Reports that it was learned from.
    pub reports: u32,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { ratio: 1.0, reports: 0 }
    }
}

impl Learned {
    /// Takes in a report of so many times our estimate.
    #[must_use]
    pub fn observe(self, ratio: f64) -> Learned {
        let ratio = ratio.clamp(RANGE.0, RANGE.1);
        let ratio = if self.reports == 0 { ratio } else { self.ratio + WEIGHT * (ratio - self.ratio) };
        Learned { ratio, reports: self.reports.saturating_add(1) }
    }
}
