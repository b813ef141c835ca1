//! When to fold, on generated histories: the rule of `cache::fold` against folding at break-even, never, and the best single fold that
//! one would make in hindsight.
//!
//!     npm run bench:rule
//!
//! Prints, for two price lists, the cost of all input relative to never folding, the rule's cost as a share of the best single fold's
//! (under 1: several folds did better than one could), folds a run, and what the rule's folds paid extra as a share of the saving that
//! their edits had missed before. That it never pays more than was missed is the rent-or-buy bound; it is asserted for every run.

use warmfold::cache::fold::{Due, Rewrite, Start, starts};
use warmfold::cache::profile::Profile;

/// What one call adds to the history.
#[derive(Clone, Copy)]
struct Step {
    tokens: u64,
    /// Tokens that an edit of it saves.
    saves: u64,
    /// Calls after which the edit could be made; at least 1, since nothing is cut unseen.
    after: usize,
}

type Run = Vec<Step>;

const SYSTEM: Step = Step { tokens: 5_000, saves: 0, after: 1 };

fn main() {
    let kinds: [(&str, Vec<Run>); 5] = [
        ("steady growth", [25, 50, 100, 200].map(|calls| run(calls, |_| Step { tokens: 1_500, saves: 1_000, after: 3 })).into()),
        ("bursts", [25, 50, 100, 200].map(|calls| run(calls, burst)).into()),
        ("one huge early read", [25, 50, 100, 200].map(|calls| run(calls, early)).into()),
        ("many small results", [25, 50, 100, 200].map(|calls| run(calls, |_| Step { tokens: 400, saves: 200, after: 2 })).into()),
        ("heavy-tailed runs", heavy_tailed(500)),
    ];
    for name in ["anthropic-5m", "openai"] {
        let profile = Profile::named(name).expect("a known profile");
        println!("{name}: a read costs {}, a write {}", profile.read, profile.write);
        println!(
            "{:22}{:>6}{:>10}{:>12}{:>14}{:>12}{:>12}{:>14}{:>14}",
            "", "runs", "rule", "break-even", "best single", "rule/best", "folds: rule", "break-even", "extra/missed"
        );
        for (kind, runs) in &kinds {
            row(kind, runs, &profile);
        }
        println!();
    }
}

fn row(kind: &str, runs: &[Run], profile: &Profile) {
    let sum = |of: &dyn Fn(&Run) -> Outcome| runs.iter().map(of).fold(Outcome::default(), Outcome::plus);
    let never = sum(&|run| simulate(run, profile, |_| false));
    let rule = sum(&|run| {
        let outcome = simulate(run, profile, Start::pays);
        assert!(outcome.extra <= outcome.missed + 1e-6, "{kind}: {} paid for {} missed", outcome.extra, outcome.missed);
        outcome
    });
    let break_even = sum(&|run| simulate(run, profile, |start| start.gain > 0.0));
    let best = never.cost - runs.iter().map(|run| best_single_gain(run, profile)).sum::<f64>();
    let a_run = |folds: usize| folds as f64 / runs.len() as f64;
    println!(
        "{kind:22}{:>6}{:>10.3}{:>12.3}{:>14.3}{:>12.3}{:>12.1}{:>14.1}{:>14.3}",
        runs.len(),
        rule.cost / never.cost,
        break_even.cost / never.cost,
        best / never.cost,
        rule.cost / best,
        a_run(rule.folds),
        a_run(break_even.folds),
        rule.extra / rule.missed.max(1.0),
    );
}

#[derive(Clone, Copy, Default)]
struct Outcome {
    /// Of all input, in uncached input tokens.
    cost: f64,
    folds: usize,
    /// What calls that folded cost more than they would have without.
    extra: f64,
    /// What those folds' edits would have saved from the calls on at which they could have been made.
    missed: f64,
}

impl Outcome {
    fn plus(self, other: Outcome) -> Outcome {
        let Outcome { cost, folds, extra, missed } = other;
        Outcome { cost: self.cost + cost, folds: self.folds + folds, extra: self.extra + extra, missed: self.missed + missed }
    }
}

/// Plays a run, folding from the best place that is accepted, again and again, as `planner::pays` does.
fn simulate(run: &Run, profile: &Profile, accept: impl Fn(&Start) -> bool) -> Outcome {
    let mut sizes: Vec<u64> = run.iter().map(|step| step.tokens).collect();
    let mut outcome = Outcome::default();
    for call in 0..run.len() {
        let before = sizes.clone();
        let mut first_changed = call;
        loop {
            let due = due(run, &sizes, call);
            let expected = call.max(10) as u64;
            let edits: Vec<Due> = due.iter().map(|(_, due)| *due).collect();
            let accepted = starts(&edits, profile, expected).filter(&accept);
            let Some(best) = accepted.reduce(|best, start| if start.gain > best.gain { start } else { best }) else { break };
            for (step, due) in &due[..best.edits] {
                sizes[*step] -= due.saved;
                outcome.missed += (due.saved * due.calls) as f64 * profile.read;
                first_changed = first_changed.min(*step);
            }
        }
        let cost = bill(&sizes[..=call], first_changed, profile);
        outcome.cost += cost;
        if first_changed < call {
            outcome.folds += 1;
            outcome.extra += cost - bill(&before[..=call], call, profile);
        }
    }
    outcome
}

/// The edits that can be made at a call and are not, from the last to the first.
fn due(run: &Run, sizes: &[u64], call: usize) -> Vec<(usize, Due)> {
    let mut cached = 0;
    let mut found = Vec::new();
    for step in (0..call).rev() {
        cached += sizes[step];
        let Step { tokens, saves, after } = run[step];
        if saves > 0 && sizes[step] == tokens && step + after <= call {
            found.push((step, Due { saved: saves, calls: (call - step - after) as u64, cached }));
        }
    }
    found
}

/// A request of which everything before a step is read from the cache and the rest written.
fn bill(sizes: &[u64], changed: usize, profile: &Profile) -> f64 {
    let tokens = |sizes: &[u64]| sizes.iter().sum::<u64>() as f64;
    tokens(&sizes[..changed]) * profile.read + tokens(&sizes[changed..]) * profile.write
}

/// What the best single fold saves, over all calls and places.
fn best_single_gain(run: &Run, profile: &Profile) -> f64 {
    let sizes: Vec<u64> = run.iter().map(|step| step.tokens).collect();
    let mut best: f64 = 0.0;
    for call in 0..run.len() {
        let later = (run.len() - 1 - call) as f64;
        let mut saved = 0;
        for (_, due) in due(run, &sizes, call) {
            saved += due.saved;
            let fold = Rewrite { saved, cached: due.cached };
            best = best.max(fold.saved_per_call(profile) * later - fold.extra_cost(profile));
        }
    }
    best
}

fn run(calls: usize, step: impl FnMut(usize) -> Step) -> Run {
    std::iter::once(SYSTEM).chain((1..calls).map(step)).collect()
}

fn burst(call: usize) -> Step {
    if call.is_multiple_of(10) { Step { tokens: 12_000, saves: 10_000, after: 2 } } else { Step { tokens: 300, saves: 0, after: 1 } }
}

fn early(call: usize) -> Step {
    if call == 3 { Step { tokens: 60_000, saves: 55_000, after: 8 } } else { Step { tokens: 800, saves: 300, after: 2 } }
}

/// Runs whose lengths, and whose steps' sizes, are mostly small and sometimes very large.
fn heavy_tailed(count: usize) -> Vec<Run> {
    let mut seed = 1;
    let make = |_| {
        let calls = pareto(&mut seed, 8.0, 1.1, 500.0) as usize;
        let step = |_| {
            let tokens = pareto(&mut seed, 200.0, 1.0, 30_000.0);
            let kept = pareto(&mut seed, 30.0, 1.0, tokens);
            Step { tokens: tokens as u64, saves: (tokens - kept) as u64, after: pareto(&mut seed, 1.0, 1.0, 20.0) as usize }
        };
        run(calls, step)
    };
    (0..count).map(make).collect()
}

/// A number of a Pareto distribution, cut off at `most`; the same for the same seed (SplitMix64).
fn pareto(seed: &mut u64, least: f64, shape: f64, most: f64) -> f64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let uniform = (((mixed ^ (mixed >> 31)) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    (least * uniform.powf(-1.0 / shape)).min(most)
}
