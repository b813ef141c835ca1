//! What builds, tests and linters say that they found: errors, warnings, failed and passed tests.
//!
//! One pass over the lines. Tests are counted from the lines that sum them up, else one by one. Errors and warnings are counted where a
//! line begins with the word or has it behind a place in a file; a total that the tool gives counts where it is larger. What is not known
//! is not counted.
//!
//! ```
//! use warmfold::history::findings::Findings;
//!
//! let found = Findings::of("error[E0308]: mismatched types\n --> src/a.rs:1:2\ntest result: FAILED. 12 passed; 3 failed; 0 ignored\n");
//! assert_eq!((found.errors, found.warnings, found.failed_tests, found.passed_tests), (1, 0, 3, 12));
//! assert!(found.is_failure());
//! ```

use serde::Serialize;

use crate::bytes;

/// Counts of what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// Errors.
    pub errors: u32,
    /// Warnings.
    pub warnings: u32,
    /// Tests that failed.
    pub failed_tests: u32,
    /// Tests that passed.
    pub passed_tests: u32,
}

impl std::ops::AddAssign for Findings {
    fn add_assign(&mut self, other: Findings) {
        self.errors = self.errors.saturating_add(other.errors);
        self.warnings = self.warnings.saturating_add(other.warnings);
        self.failed_tests = self.failed_tests.saturating_add(other.failed_tests);
        self.passed_tests = self.passed_tests.saturating_add(other.passed_tests);
    }
}

impl Findings {
    /// What a result says.
    pub fn of(text: &str) -> Findings {
        Findings::read(text, |_| ())
    }

    /// The same; `error` is called with each line that says of an error, without colours and indentation.
    pub fn read(text: &str, mut error: impl FnMut(&str)) -> Findings {
        let (mut lines, mut totals, mut summed, mut single, mut ran) =
            (Findings::default(), Findings::default(), Findings::default(), Findings::default(), 0);
        let (mut plain, mut lower) = (String::new(), String::new());
        for line in text.lines() {
            uncolour(line, &mut plain);
            lower.clear();
            lower.push_str(&plain);
            lower.make_ascii_lowercase();
            match Line::of(&plain, &lower) {
                Line::Error => {
                    lines.errors += 1;
                    error(plain.trim_ascii());
                }
                Line::Warning => lines.warnings += 1,
                Line::Test { passed } => single += Findings { passed_tests: passed.into(), failed_tests: (!passed).into(), ..Findings::default() },
                Line::Sum(sum) => {
                    ran += sum.ran;
                    summed += sum.found;
                    totals.errors = totals.errors.max(sum.found.errors);
                    totals.warnings = totals.warnings.max(sum.found.warnings);
                }
                Line::Other => {}
            }
        }
        if summed.passed_tests == 0 {
            summed.passed_tests = ran.saturating_sub(summed.failed_tests);
        }
        let tests = if summed.failed_tests + summed.passed_tests > 0 { summed } else { single };
        Findings { errors: lines.errors.max(totals.errors), warnings: lines.warnings.max(totals.warnings), ..tests }
    }

    /// Whether anything is wrong.
    pub fn is_failure(self) -> bool {
        self.errors > 0 || self.failed_tests > 0
    }
}

/// Of a longer line only the start is looked at, in bytes: what sums up is short.
const LONGEST: usize = 400;

/// The start of a line without colours.
fn uncolour(line: &str, plain: &mut String) {
    plain.clear();
    for (at, part) in line.split('\u{1b}').enumerate() {
        // What is no sequence of colours ends nowhere.
        let shown = if at == 0 { part } else { part.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic()).get(1..).unwrap_or("") };
        let room = LONGEST.saturating_sub(plain.len());
        let end = (0..=room.min(shown.len())).rev().find(|end| shown.is_char_boundary(*end)).unwrap_or(0);
        plain.push_str(&shown[..end]);
    }
}

/// What a line says.
enum Line {
    Error,
    Warning,
    /// Of one test.
    Test {
        passed: bool,
    },
    /// Of many.
    Sum(Sum),
    Other,
}

#[derive(Default)]
struct Sum {
    found: Findings,
    /// Tests that ran, however they ended.
    ran: u32,
}

impl Line {
    fn of(line: &str, lower: &str) -> Line {
        const SIGNS: &[&str] = &["rror", "arning", "fail", "pass", "exception", "ok", "ran "];
        const FILES: &[&str] = &["test files", "test suites", "suites:", "snapshots:"];
        if !SIGNS.iter().any(|sign| bytes::find(lower.as_bytes(), sign.as_bytes()).is_some()) {
            return Line::Other;
        }
        let start = lower.trim_ascii_start();
        if FILES.iter().any(|files| start.starts_with(files)) || lower.contains("time elapsed") {
            return Line::Other; // counted again in another line
        }
        if let Some(sum) = sum(lower) {
            return Line::Sum(sum);
        }
        match start {
            _ if start.starts_with("--- pass:") || start.starts_with("ok ") && ends_number(&start[3..]) => Line::Test { passed: true },
            _ if start.starts_with("--- fail:") || start.starts_with("not ok ") => Line::Test { passed: false },
            _ if start.starts_with("test ") && start.ends_with("... ok") => Line::Test { passed: true },
            _ if start.starts_with("test ") && start.ends_with("... failed") => Line::Test { passed: false },
            _ if says(lower, start, "error") || is_exception(line) => Line::Error,
            _ if says(lower, start, "warning") => Line::Warning,
            _ => Line::Other,
        }
    }
}

/// `1 - name`, as TAP numbers its tests.
fn ends_number(text: &str) -> bool {
    text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len() < text.len()
}

/// Whether a line says of one error or warning: `error:`, `error[E0308]`, `a.c:1:2: error: ...`, `a.ts(1,2): error TS1`, `1:2  error  ...`.
fn says(lower: &str, start: &str, word: &str) -> bool {
    /// What follows others and says no more.
    const AFTERWARDS: &[&str] =
        &["could not compile", "aborting due", "test failed", "process didn't exit", "build failed", "recipe ", "command failed"];
    if let Some(rest) = start.strip_prefix("fatal ").unwrap_or(start).strip_prefix(word) {
        let rest = match rest.strip_prefix('[') {
            Some(code) => return code.contains(']'),
            None => rest.strip_prefix(':'),
        };
        return rest.is_some_and(|rest| !AFTERWARDS.iter().any(|words| rest.trim_ascii_start().starts_with(words)));
    }
    lower.match_indices(word).next().is_some_and(|(at, _)| {
        let (before, behind) = (lower[..at].trim_end_matches("fatal "), &lower[at + word.len()..]);
        let is_column = |word: &str| word.split(':').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        let behind_place = before.ends_with(": ") && (behind.starts_with(':') || behind.starts_with(" ts"));
        behind_place || (behind.starts_with("  ") && before.contains(':') && is_column(before.trim_ascii()))
    })
}

/// `ValueError: ...` at the start of a line, as a traceback ends.
fn is_exception(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    is_name && (name.ends_with("Error") || name.ends_with("Exception")) && name.len() > "Error".len()
}

/// The numbers of a line that sums up: `12 passed; 3 failed`, `# pass 12`, `2 errors generated`, `Failures: 1`, `Ran 5 tests`.
fn sum(lower: &str) -> Option<Sum> {
    let (mut sum, mut known, mut before, mut end) = (Sum::default(), false, ["", "", ""], 0);
    let words = || lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let is_list = lower.contains("failures:") || lower.contains("failures=") || lower.contains("errors=");
    let is_pass = words().take(3).count() == 2; // `# pass 12`
    for word in words() {
        let start = word.as_ptr() as usize - lower.as_ptr() as usize;
        let follows = &lower[end..start] == " ";
        let number = |text: &str| text.parse::<u32>().ok();
        // The number stands behind the word where a list says so, else before it.
        let pair = match (number(before[2]), number(word)) {
            (_, Some(count)) if is_list || is_pass => Some((before[2], count)),
            (Some(count), None) if follows && !is_list => Some((word, count)),
            (None, None) if before[2] == "previous" => number(before[1]).map(|count| (word, count)),
            _ => None,
        };
        if let Some((what, count)) = pair {
            let to = match what {
                "passed" | "passing" => Some(&mut sum.found.passed_tests),
                "pass" if is_pass => Some(&mut sum.found.passed_tests),
                "failed" | "failing" | "failures" => Some(&mut sum.found.failed_tests),
                "fail" if is_pass => Some(&mut sum.found.failed_tests),
                "errors" if is_list => Some(&mut sum.found.failed_tests), // tests that broke
                "error" | "errors" => Some(&mut sum.found.errors),
                "warning" | "warnings" => Some(&mut sum.found.warnings),
                "run" if is_list => Some(&mut sum.ran),
                "test" | "tests" if before[1] == "ran" => Some(&mut sum.ran),
                _ => None,
            };
            if let Some(to) = to {
                *to = to.saturating_add(count);
                known = true;
            }
        }
        before = [before[1], before[2], word];
        end = start + word.len();
    }
    known.then_some(sum)
}
