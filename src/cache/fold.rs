//! Whether rewriting a cached prefix pays, and from where.
//!
//! Folding from a place writes what stands behind it again; the saving comes back at the read price on each later call. A fold is made
//! where it earns more than it costs within the calls still expected, and where its edits have already missed as much as it costs: the
//! rent-or-buy rule, without which one folds at break-even again and again.
//!
//! ```
//! use warmfold::cache::{fold::{Due, Rewrite, starts}, profile::Profile};
//!
//! let rewrite = Rewrite { saved: 20_000, cached: 60_000 };
//! assert!(rewrite.pays(&Profile::default(), 30));
//! assert!(!rewrite.pays(&Profile::default(), 10));
//! assert!(Rewrite { saved: 20_000, cached: 0 }.pays(&Profile::default(), 1)); // a cold cache
//!
//! // 44,000 tokens, due for 22 calls: what was missed is what folding costs.
//! let due = |calls| [Due { saved: 20_000, calls, cached: 60_000 }];
//! let profile = Profile::default();
//! assert!(starts(&due(22), &profile, 30).any(|start| start.pays()));
//! assert!(!starts(&due(21), &profile, 30).any(|start| start.pays()));
//! ```

use super::profile::Profile;

/// A fold that could be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        self.gain(profile, calls) > 0.0
    }

    /// What it earns within that many calls, its cost taken off.
    fn gain(self, profile: &Profile, calls: u64) -> f64 {
        self.saved_per_call(profile) * calls as f64 - self.extra_cost(profile)
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

/// An edit that could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Tokens that it saves.
    pub saved: u64,
    /// Calls that have gone without it although it could have been made.
    pub calls: u64,
    /// Tokens in the cache from its message on, as they were sent last.
    pub cached: u64,
}

/// A place to fold from: the edit there and all behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// How many of the edits it makes, counted from the last.
    pub edits: usize,
    /// Saving and cost of all of them.
    pub rewrite: Rewrite,
    /// What it earns within the calls still expected, in uncached input tokens.
    pub gain: f64,
    /// What its edits have missed so far, less what the fold costs, in uncached input tokens.
    margin: f64,
}

impl Start {
    /// Whether it earns its cost, and has missed as much already.
    pub fn pays(&self) -> bool {
        self.gain > 0.0 && self.margin >= 0.0
    }
}

/// The places to fold from, given the edits that are due from the last to the first.
pub fn starts(due: &[Due], profile: &Profile, calls: u64) -> impl Iterator<Item = Start> {
    let (mut saved, mut missed) = (0, 0);
    due.iter().enumerate().map(move |(at, edit)| {
        saved += edit.saved;
        missed += edit.saved * edit.calls;
        let rewrite = Rewrite { saved, cached: edit.cached };
        let margin = missed as f64 * profile.read - rewrite.extra_cost(profile);
        Start { edits: at + 1, rewrite, gain: rewrite.gain(profile, calls), margin }
    })
}
