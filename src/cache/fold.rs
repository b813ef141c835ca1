//! Whether rewriting a cached prefix pays.
//!
//! Folding from a place writes what stands behind it again; the saving comes back at the read price on each later call.
//!
//! ```
//! use warmfold::cache::{fold::Rewrite, profile::Profile};
//!
//! let rewrite = Rewrite { saved: 20_000, cached: 60_000 };
//! assert!(rewrite.pays(&Profile::default(), 30));
//! assert!(!rewrite.pays(&Profile::default(), 10));
//! assert!(Rewrite { saved: 20_000, cached: 0 }.pays(&Profile::default(), 1)); // a cold cache
//! ```

use super::profile::Profile;

/// A fold that could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// Tokens that it saves.
    pub saved: u64,
    /// Tokens in the cache from its first edit on, which it makes useless.
    pub cached: u64,
}

impl Rewrite {
    /// What folding now costs more than not folding, in uncached input tokens; under 0 it is a gain at once.
    pub fn extra_cost(self, profile: &Profile) -> f64 {
        (self.cached as f64 - self.saved as f64) * profile.write - self.cached as f64 * profile.read
    }

    /// What it saves on each later call, in uncached input tokens.
    pub fn saved_per_call(self, profile: &Profile) -> f64 {
        self.saved as f64 * profile.read
    }

    /// Whether it earns its cost within that many calls.
    pub fn pays(self, profile: &Profile, calls: u64) -> bool {
        self.saved_per_call(profile) * calls as f64 > self.extra_cost(profile)
    }

    /// The first call at which it has earned its cost, counted from 1; `None` for never.
    pub fn pays_after(self, profile: &Profile) -> Option<u64> {
        let (cost, gain) = (self.extra_cost(profile), self.saved_per_call(profile));
        if cost <= 0.0 {
            return Some(0);
        }
        (gain > 0.0).then(|| (cost / gain).ceil() as u64)
    }
}
