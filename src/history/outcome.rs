//! What a command's output says of how it went: failing tests, errors, warnings, sums, exit status.
//!
//! ```
//! use warmfold::history::outcome::Outcome;
//!
//! let outcome = Outcome::of("test a ... ok\ntest b ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n");
//! assert_eq!((outcome.passed, outcome.failed), (Some(1), Some(1)));
//! ```

use std::borrow::Cow;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// That something failed: an error, a panic, a failing test.
    Failure,
    /// How the command ended: an exit status that is not 0.
    Status,
    /// Sums: how many tests passed, how many errors were found.
    Sum,
    /// Where a failure is or what it is about: a place in a file, the sides of an assertion.
    Evidence,
    /// A warning.
    Warning,
    /// That something went well, or on: a passed test, a download.
    Progress,
    /// Anything else.
    Other,
}

/// How a command went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Tests that failed, where sums tell.
    pub failed: Option<u32>,
    /// Tests that passed, where sums tell.
    pub passed: Option<u32>,
    /// Errors: told by sums, else lines that say so.
    pub errors: u32,
    /// Warnings: told by sums, else lines that say so.
    pub warnings: u32,
    /// Exit status, where it is told.
    pub exit: Option<i32>,
}

impl Outcome {
    /// Reads all lines once.
    pub fn of(text: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let (mut errors, mut warnings) = (None, None);
        for line in text.split('\n').flat_map(|line| line.split("\\n")) {
            let sign = Sign::of(line);
            match sign {
                Sign::Failure => outcome.errors += 1,
                Sign::Warning => outcome.warnings += 1,
                Sign::Status | Sign::Sum => {}
                Sign::Evidence | Sign::Progress | Sign::Other => continue,
            }
            let line = shown(line);
            outcome.exit = exit(&line).or(outcome.exit);
            if sign == Sign::Sum && !line.trim_ascii_start().starts_with("Test Suites:") && !line.trim_ascii_start().starts_with("Test Files") {
                add(&mut outcome.failed, counted(&line, &["failed", "failures", "failure", "failing"]));
                add(&mut outcome.passed, counted(&line, &["passed", "passing", "pass"]));
            }
            add(&mut errors, counted(&line, &["errors", "error"]));
            add(&mut warnings, counted(&line, &["warnings", "warning"]));
        }
        outcome.errors = errors.unwrap_or(outcome.errors);
        outcome.warnings = warnings.unwrap_or(outcome.warnings);
        outcome
    }
}

fn add(sum: &mut Option<u32>, count: Option<u32>) {
    if let Some(count) = count {
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }
}

/// The number that stands before or behind one of the words: `3 failed`, `failures: 3`, `failures=3`.
fn counted(line: &str, names: &[&str]) -> Option<u32> {
    let mut before: Option<u32> = None;
    let mut named = false;
    for word in words(line) {
        let number = word.text.parse().ok();
        match number {
            Some(number) if named && matches!(word.sign, b':' | b'=') => return Some(number),
            Some(number) => (before, named) = (Some(number), false),
            None if names.iter().any(|name| word.text.eq_ignore_ascii_case(name)) => match before.filter(|_| matches!(word.sign, b' ' | b'\t')) {
                Some(before) => return Some(before),
                None => named = true,
            },
            None => (before, named) = (None, false),
        }
    }
    None
}

/// An exit status that a line tells.
fn exit(line: &str) -> Option<i32> {
    let mut rest = line;
    while let Some(at) = rest.find(['e', 'E', 'r']) {
        rest = &rest[at..];
        if let Some(behind) = STATUS.iter().find_map(|sign| strip_prefix(rest, sign)) {
            let behind = behind.trim_start_matches([' ', '"', '\\', ':', '=', '>']);
            let digits = behind.bytes().enumerate().take_while(|(at, byte)| byte.is_ascii_digit() || (*at == 0 && *byte == b'-')).count();
            if let Ok(status) = behind[..digits].parse() {
                return Some(status);
            }
        }
        rest = rest.get(1..).unwrap_or("");
    }
    None
}

/// What an exit status stands behind, in lower case.
const STATUS: &[&str] = &["exit code", "exit_code", "exitcode", "exit status", "returncode", "return code", "exited with code", "exited with"];

fn strip_prefix<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.get(..start.len()).filter(|found| found.eq_ignore_ascii_case(start)).map(|_| &text[start.len()..])
}

/// A line as a reader sees it: without colours, and of what a progress bar wrote over itself only the last.
pub fn shown(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches(['\n', '\r']);
    let line = line.rsplit('\r').next().unwrap_or(line);
    if !line.contains('\u{1b}') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    for (at, part) in line.split('\u{1b}').enumerate() {
        let hidden = match part.as_bytes().first() {
            _ if at == 0 => 0,
            Some(b'[') => part.bytes().skip(1).position(|byte| (0x40..=0x7e).contains(&byte)).map_or(part.len(), |end| end + 2),
            Some(b']') => part.find('\u{7}').map_or(part.len(), |end| end + 1),
            _ => part.chars().next().map_or(0, char::len_utf8),
        };
        plain.push_str(part.get(hidden..).unwrap_or(""));
    }
    Cow::Owned(plain)
}

/// A run of letters, digits and `_`.
struct Word<'t> {
    text: &'t str,
    /// The byte before it; a space at the start.
    sign: u8,
    /// The byte behind it; a space at the end.
    next: u8,
    /// The byte behind that.
    after: u8,
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let bytes = line.as_bytes();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes[at..].iter().position(is_word)?;
        let from = at;
        at += bytes[at..].iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len() - at);
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
        Some(Word { text: &line[from..at], sign: from.checked_sub(1).map_or(b' ', byte), next: byte(at), after: byte(at + 1) })
    })
}

impl Sign {
    /// What a line says, with or without its end. Words in names of files and in passed tests say nothing.
    pub fn of(line: &str) -> Sign {
        let whole = shown(line);
        let line = whole.trim_ascii();
        if line.is_empty() {
            return Sign::Other;
        }
        if exit(line).is_some_and(|status| status != 0) {
            return Sign::Status;
        }
        if is_sum(line) {
            return Sign::Sum;
        }
        if is_progress(line) {
            return Sign::Progress;
        }
        if FAILED.iter().any(|start| line.starts_with(start)) || line.ends_with("... FAILED") || line.ends_with(" FAILED") {
            return Sign::Failure;
        }
        if EVIDENCE.iter().any(|start| line.starts_with(start)) {
            return Sign::Evidence;
        }
        by_words(line).unwrap_or(Sign::Other)
    }
}

/// How lines begin that say that something failed.
const FAILED: &[&str] = &[
    "---- ",
    "--- FAIL",
    "FAIL",
    "\u{2717}",
    "\u{2718}",
    "\u{2716}",
    "\u{d7} ",
    "\u{2715}",
    "\u{274c}",
    "\u{25cf} ",
    "not ok ",
    "E   ",
    "npm ERR!",
    "ERR!",
    "Traceback (most recent",
    "panic:",
    "fatal:",
    "Segmentation fault",
    "Aborted",
    "Killed",
    "CONFLICT (",
    "undefined reference",
];

/// How lines begin that say where it is, or what.
const EVIDENCE: &[&str] = &[
    "--> ",
    "at ",
    "File \"",
    "left:",
    "right:",
    "Expected",
    "Received",
    "expected",
    "actual",
    "got:",
    "want:",
    "+ ",
    "- ",
    "> ",
    "assert",
    "AssertionError",
    "note:",
    "help:",
    "= note",
    "= help",
    "caused by",
    "Caused by",
    "raise ",
    "thread '",
    "\u{276f} ",
];

/// Whether a line tells of something that went well, or that goes on.
fn is_progress(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "ok ",
        "ok\t",
        "PASS",
        "--- PASS",
        "=== RUN",
        "=== PAUSE",
        "=== CONT",
        "\u{2713}",
        "\u{2714}",
        "\u{221a}",
        "Compiling ",
        "Downloading ",
        "Downloaded ",
        "Checking ",
        "Fetching ",
        "Collecting ",
        "Requirement already",
        "Using cached",
        "Installing ",
        "Building ",
        "Receiving objects",
        "Resolving deltas",
        "remote: ",
        "Unpacking ",
        "Preparing to unpack",
        "Selecting previously",
        "Setting up ",
        "Get:",
        "Fresh ",
        "Updating ",
        "Adding ",
        "Locking ",
        "\u{2501}",
        "Progress",
    ];
    let is_bar = || {
        let drawn = line.chars().filter(|letter| "=#-.\u{2588}\u{2591}\u{2501}\u{2500}>|".contains(*letter)).count();
        drawn >= 10 && drawn * 3 > line.chars().count() * 2 && line.contains('%')
    };
    STARTS.iter().any(|start| line.starts_with(start))
        || line.ends_with("... ok")
        || line.ends_with("... ignored")
        || line.contains(" PASSED")
        || is_bar()
}

/// Whether a line sums up: it counts what passed, failed or was found.
fn is_sum(line: &str) -> bool {
    const STARTS: &[&str] =
        &["test result:", "Tests:", "Tests ", "Test Suites:", "Test Files", "FAILED (", "OK (", "Ran ", "Found ", "# fail", "# pass", "# tests"];
    if line.len() > 200 || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let counts = || {
        let names = ["failed", "passed", "failures", "passing", "failing", "errors", "error", "warnings", "problems", "failure"];
        let mut number = false;
        words(line).any(|word| {
            let counted = number && matches!(word.sign, b' ') && names.contains(&word.text);
            number = word.text.bytes().all(|byte| byte.is_ascii_digit()) && !matches!(word.sign, b':' | b'.' | b'/' | b'-');
            counted
        })
    };
    STARTS.iter().any(|start| line.starts_with(start)) && !line.contains("://") || counts()
}

/// What the words of a line say that stand in no path and count nothing.
fn by_words(line: &str) -> Option<Sign> {
    let mut found = None;
    let mut nothing = false;
    for word in words(line) {
        let in_path = matches!(word.sign, b'/' | b'.' | b'\\' | b'-' | b'$')
            || matches!(word.next, b'/' | b'(' | b'-')
            || (word.next == b'.' && word.after.is_ascii_alphanumeric());
        let counts_nothing = word.next == b':' && line.contains(": 0") || word.next == b'=';
        match sign_of(word.text) {
            Some(sign) if !nothing && !counts_nothing && !in_path => {
                let named = word.text.len() > 6 && sign == Sign::Failure && word.text.ends_with(|last: char| "rn".contains(last));
                // `KeyError` is one where it is said, not where it is caught.
                if !named || matches!(word.next, b':' | b' ' | b'\r') {
                    if sign == Sign::Failure {
                        return Some(sign);
                    }
                    found = Some(sign);
                }
            }
            _ => {}
        }
        nothing = matches!(word.text, "0" | "no" | "No" | "without" | "any");
    }
    found
}

fn sign_of(word: &str) -> Option<Sign> {
    let first = word.as_bytes().first()?.to_ascii_lowercase();
    if word.len() > 5 && first.is_ascii_alphabetic() && (word.ends_with("Error") || word.ends_with("Exception")) {
        return Some(Sign::Failure);
    }
    let is = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    match first {
        b'e' if is(&["error", "errors", "err"]) => Some(Sign::Failure),
        b'f' if is(&["failed", "failure", "failures", "fail", "fails", "fatal"]) => Some(Sign::Failure),
        b'p' if is(&["panicked", "panic"]) => Some(Sign::Failure),
        b'c' if is(&["cannot", "critical"]) => Some(Sign::Failure),
        b'd' if is(&["denied"]) => Some(Sign::Failure),
        b'u' if is(&["undefined", "unresolved", "unable", "unexpected"]) => Some(Sign::Failure),
        b't' if is(&["timeout", "traceback"]) => Some(Sign::Failure),
        b'w' if is(&["warning", "warn"]) => Some(Sign::Warning),
        _ => None,
    }
}
