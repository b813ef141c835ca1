//! Where a cacheable prefix should end, so that the next call asks for the very same ones again.
//!
//! Leading system run, milestones at fixed distances in sent bytes, and the tail. A boundary at "three quarters of the history"
//! would drift by a message a call: every call would write an entry that no call reads.
//!
//! ```
//! use warmfold::cache::breakpoints::{Layout, Limits, plan};
//!
//! let layout = Layout { bytes: vec![400, 90_000, 300, 90_000, 200], blocks: vec![1; 5], can_hold: vec![true; 5], system_end: 1, added_from: 4 };
//! assert_eq!(plan(&layout, &Limits { most: 4, milestone_tokens: 20_000 }, &[], None), [0, 2, 4]);
//! ```

use super::profile::LOOK_BACK;

/// Bytes that a milestone's token is measured as, whatever the estimator learns.
const BYTES_PER_TOKEN: u64 = 4;

/// What is sent, message by message.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Bytes of each message as sent.
    pub bytes: Vec<u64>,
    /// Content blocks of each.
    pub blocks: Vec<u32>,
    /// Whether a breakpoint can stand in it.
    pub can_hold: Vec<bool>,
    /// Length of the leading system run.
    pub system_end: usize,
    /// First message that the last call did not send yet.
    pub added_from: usize,
}

impl Layout {
    /// The last message at or before this one that can hold a breakpoint.
    fn holder(&self, at: usize) -> Option<usize> {
        (0..=at).rev().find(|&at| self.can_hold[at])
    }
}

/// How many, and how far apart.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Breakpoints at the most.
    pub most: usize,
    /// Distance of milestones, in tokens of four bytes.
    pub milestone_tokens: u32,
}

/// The breakpoints, ascending. `taken` are messages that the caller has marked; `fold_point` is a breakpoint that an earlier request
/// wrote and this one can still read. Over the limit the order of keeping is tail, system, fold point, second tail, newest milestones.
pub fn plan(layout: &Layout, limits: &Limits, taken: &[usize], fold_point: Option<usize>) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(limits.most);
    let mut keep = |at: Option<usize>| {
        if let Some(at) = at.filter(|at| chosen.len() < limits.most && !chosen.contains(at) && !taken.contains(at)) {
            chosen.insert(chosen.partition_point(|earlier| *earlier < at), at);
        }
    };
    let tail = layout.bytes.len().checked_sub(1).and_then(|last| layout.holder(last));
    keep(tail);
    keep(layout.system_end.checked_sub(1).and_then(|last| layout.holder(last)));
    keep(fold_point);
    keep(second_tail(layout));
    for milestone in milestones(layout, limits.milestone_tokens).into_iter().rev() {
        keep(Some(milestone));
    }
    chosen
}

/// Where the look-back from the tail would not reach what the last call wrote, a breakpoint from which it does.
fn second_tail(layout: &Layout) -> Option<usize> {
    let added = layout.blocks.get(layout.added_from..)?;
    let within = |blocks: &mut u32, (at, more): (usize, &u32)| {
        *blocks += more;
        (*blocks < LOOK_BACK).then_some(layout.added_from + at)
    };
    let last = added.iter().enumerate().scan(0, within).last().or(layout.added_from.checked_sub(1))?;
    let is_long = added.iter().sum::<u32>() >= LOOK_BACK && layout.added_from > 0;
    // Where nothing within reach can hold one, the tail of the last call is asked for itself.
    layout.holder(last).filter(|_| is_long)
}

/// Each is the last message that ends at or before a multiple of the distance.
fn milestones(layout: &Layout, milestone_tokens: u32) -> Vec<usize> {
    let distance = u64::from(milestone_tokens) * BYTES_PER_TOKEN;
    let (mut ends, mut sum) = (Vec::new(), 0u64);
    let mut last_holder = None;
    for (at, &bytes) in layout.bytes.iter().enumerate() {
        let (before, after) = (sum / distance, (sum + bytes) / distance);
        if after > before {
            let on_it = (sum + bytes).is_multiple_of(distance) && layout.can_hold[at];
            if let Some(holder) = if on_it { Some(at) } else { last_holder } {
                ends.push(holder);
            }
        }
        if layout.can_hold[at] {
            last_holder = Some(at);
        }
        sum += bytes;
    }
    ends.dedup();
    ends
}
