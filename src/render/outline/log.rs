//! What a command prints: what failed first, then sums and how it ended, then where and why; then warnings, the end, the beginning.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Outline, Source, Stretch, lines, lines_gone};
use crate::history::outcome::{self, Sign};

/// Lines behind a failure that may say where it is and why.
const NEAR: usize = 12;

/// Lines of the end and of the beginning that may stay.
const TAIL: usize = 60;
const HEAD: usize = 20;

/// Ranks. What was said before goes as far back as what went well.
const FAILURE: u8 = 0;
const PLACE: u8 = 1;
const EVIDENCE: u8 = 2;
const WARNING: u8 = 4;
const TAIL_FROM: u8 = 6;
const HEAD_FROM: u8 = 8;
const PROGRESS: u8 = 250;

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let ranges: Vec<Range<usize>> = lines(source.text).collect();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut stretches: Vec<Stretch> = Vec::with_capacity(ranges.len());
    let mut failed = usize::MAX;
    for (at, range) in ranges.iter().enumerate() {
        let line = &source.text[range.clone()];
        let sign = Sign::of(line);
        let is_near = at.checked_sub(failed).is_some_and(|lines| lines <= NEAR);
        let rank = match sign {
            Sign::Failure | Sign::Status | Sign::Sum => FAILURE,
            Sign::Evidence if is_near && is_place(line) => PLACE,
            Sign::Evidence if is_near => EVIDENCE,
            Sign::Warning => WARNING,
            Sign::Progress => PROGRESS,
            Sign::Evidence | Sign::Other => u8::MAX,
        };
        if sign == Sign::Failure {
            failed = at;
        }
        let is_new = rank > WARNING || seen.insert(outcome::shown(line).trim_ascii().to_owned());
        stretches.push(Stretch { range: range.clone(), rank: if is_new { rank } else { PROGRESS } });
    }
    let spread = |stretch: &mut Stretch, from: u8, at: usize| {
        stretch.rank = stretch.rank.min(from.saturating_add((at * 2) as u8));
    };
    let speaks = |stretch: &&mut Stretch| stretch.rank != PROGRESS;
    stretches.iter_mut().rev().filter(speaks).take(TAIL).enumerate().for_each(|(at, stretch)| spread(stretch, TAIL_FROM, at));
    stretches.iter_mut().filter(speaks).take(HEAD).enumerate().for_each(|(at, stretch)| spread(stretch, HEAD_FROM, 3 * at));
    Outline { stretches, gap }
}

/// Whether a line names a place in a file.
fn is_place(line: &str) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with("-->") || line.starts_with("File \"") || line.starts_with("at ") || line.starts_with('\u{276f}')
}

/// "40 lines, one 38 times".
fn gap(text: &str, gone: Range<usize>) -> String {
    let said = lines_gone(text, gone.clone());
    let mut times: FxHashMap<&str, u32> = FxHashMap::default();
    for line in text[gone].split('\n').filter(|line| !line.trim_ascii().is_empty()) {
        *times.entry(line).or_default() += 1;
    }
    match times.values().max() {
        Some(most) if *most >= 3 => format!("{said}, one {most} times"),
        _ => said,
    }
}
