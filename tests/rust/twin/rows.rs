//! Which test covers which row of CASES.md, on which wires.

use std::collections::BTreeMap;

use super::{TWINS, exceptions};

/// The tests of a file.
pub struct Tests {
    /// Its module.
    pub file: &'static str,
    /// Each with its rows.
    pub tests: &'static [(&'static str, &'static [u8])],
}

/// The rows of CASES.md, in a few words.
const ROWS: [&str; 30] = [
    "a parallel batch is cut between its results",
    "what is kept begins with a result",
    "a call without its result, or a result without its call",
    "orphans are seen on one of two paths only",
    "all calls have one id",
    "an id comes again later",
    "clearing fires at every call",
    "a smaller request costs more",
    "bytes change though nothing was edited",
    "a breakpoint changes what is said",
    "more than four breakpoints",
    "compaction never gets below its trigger",
    "the window less the reserve is nothing",
    "no message is left",
    "the running call's result goes",
    "a smaller model cannot take the history",
    "reasoning is replaced and its signature kept",
    "reasoning and call are parted",
    "reasoning_content beside tool calls goes",
    "a cut inside a character",
    "a later read says no more than that nothing changed",
    "a part is taken for the whole",
    "active files are read again and again",
    "a memory goes silently",
    "a breadcrumb sounds like a damaged file",
    "images in results",
    "scripts and images are counted wrong",
    "tools and system are not counted",
    "a plan meets another history",
    "fresh ids reject the plan",
];

/// Every row is covered on every wire, or an exception says why not.
#[test]
fn every_row_is_covered() {
    let mut by_row: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    for Tests { file, tests } in crate::cases::TESTS.iter().chain(crate::laws::TESTS) {
        let file = file.split_once("::").map_or(*file, |(_, file)| file);
        for (test, rows) in *tests {
            rows.iter().for_each(|row| by_row.entry(*row).or_default().push(format!("{file}::{test}")));
        }
    }
    let mut uncovered = Vec::new();
    for (row, what) in (1..).zip(ROWS) {
        println!("{row:>2} {what}");
        let tests = by_row.remove(&row).unwrap_or_default();
        for test in &tests {
            let on = TWINS.iter().map(|twin| twin.name).filter(|wire| exceptions::reason(wire, test).is_none());
            println!("     {test}: {}", on.collect::<Vec<_>>().join(", "));
        }
        for twin in TWINS {
            let reasons: Vec<_> = tests.iter().map(|test| exceptions::reason(twin.name, test)).collect();
            if tests.is_empty() {
                uncovered.push((row, twin.name));
            } else if reasons.iter().all(Option::is_some) {
                println!("     not on {}: {}", twin.name, reasons[0].unwrap_or_default());
            }
        }
    }
    assert!(uncovered.is_empty(), "rows without a test: {uncovered:?}");
    assert!(by_row.is_empty(), "there are no such rows: {by_row:?}");
}

/// An exception is of a test that there is.
#[test]
fn every_exception_names_a_test() {
    let all: Vec<_> = crate::cases::TESTS.iter().chain(crate::laws::TESTS).collect();
    for (wire, test, reason) in exceptions::EXCEPTIONS {
        let (file, name) = test.rsplit_once("::").unwrap_or_default();
        let is_there = |tests: &&Tests| tests.file.ends_with(&format!("::{file}")) && tests.tests.iter().any(|(test, _)| *test == name);
        assert!(all.iter().any(is_there), "no test {test}");
        assert!(TWINS.iter().any(|twin| twin.name == *wire && !twin.is_chat()), "no other wire {wire}");
        assert!(reason.len() > 20, "no reason: {reason}");
    }
}
