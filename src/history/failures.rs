//! Whether a result says that its call failed, or that there is nothing new: neither stands in for an earlier result.
//!
//! ```
//! use warmfold::history::failures::{is_error, is_unchanged_stub};
//!
//! assert!(is_error("Error: no such file") && is_unchanged_stub("File unchanged since last read."));
//! ```

use crate::bytes;

/// Bytes at the start of a result that tell whether the call failed: an edit of a failed one keeps at least these.
pub const ERROR_SIGN_BYTES: usize = 200;

/// Whether a result says that the call failed, told from its first words (those behind a line in brackets too, since a host may hand
/// in what was shortened before). It errs towards failure: a failed call only stands in for no other.
pub fn is_error(text: &str) -> bool {
    /// At the very start.
    const STARTS: &[&str] = &[
        "error",
        "[error",
        "<error",
        "<tool_use_error",
        "{\"error\"",
        "{ \"error\"",
        "fatal:",
        "failed to",
        "exception",
        "cannot ",
        "could not ",
        "unable to",
        "\u{274c}",
        "<!doctype html",
        "<html",
    ];
    /// Anywhere in the first words.
    const SIGNS: &[&str] = &[
        "error:",
        "error -",
        "[errno",
        "traceback (most recent",
        "enoent",
        "eacces",
        "no such file",
        "not found",
        "does not exist",
        "permission denied",
        "access denied",
        "\"success\":false",
        "\"success\": false",
        "execution failed",
        "tool use was rejected",
        "doesn't want to proceed",
        "timed out",
    ];
    let says_so = |text: &str| {
        let start = lowered(text, ERROR_SIGN_BYTES - ERROR_SIGN_BYTES / 4);
        STARTS.iter().any(|sign| start.trim_ascii_start().starts_with(sign)) || SIGNS.iter().any(|sign| has(&start, sign))
    };
    let behind_line = text.strip_prefix('[').and_then(|text| text.split_once('\n'));
    says_so(text) || behind_line.is_some_and(|(_, rest)| says_so(rest))
}

/// Whether the result of a call that would change something says that it may not have. It errs towards "may not": a read that is still
/// up to date must not be called stale.
pub fn is_change_in_doubt(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "fail",
        "reject",
        "denied",
        "cancel",
        "interrupt",
        "no match",
        "not ",
        "unchanged",
        "no change",
        "no replacement",
        "0 replacement",
        "unsuccess",
        "modified since",
        "\"ok\":false",
        "\"ok\": false",
        "\"iserror\":true",
        "\"iserror\": true",
    ];
    /// What is said of a change that was made.
    const DONE: &[&str] = &["success", "has been updated", "has been edited", "has been written", "has been created", "was changed"];
    const DONE_STARTS: &[&str] = &["edited", "updated", "applied", "wrote", "created"];
    /// Words that stand in what a file has or a linter counts, too: of a change that was made they say nothing.
    const OFTEN_QUOTED: &[&str] = &["error", "expected", "unique"];
    /// Behind these stands an exit status.
    const STATUS: &[&str] = &["exit code: ", "exit_code\":", "exit_code\": ", "exitcode\":", "<returncode>", "exit status "];
    let start = lowered(text, 300);
    let failed = |sign: &&str| {
        let mut rest = start.as_str();
        while let Some(at) = bytes::find(rest.as_bytes(), sign.as_bytes()) {
            rest = &rest[at + sign.len()..];
            if rest.starts_with(|first: char| ('1'..='9').contains(&first)) {
                return true;
            }
        }
        false
    };
    let is_done = DONE.iter().any(|sign| has(&start, sign)) || DONE_STARTS.iter().any(|sign| start.trim_ascii_start().starts_with(sign));
    let has_any = |signs: &[&str]| signs.iter().any(|sign| has(&start, sign));
    is_error(text) || is_unchanged_stub(text) || has_any(SIGNS) || (!is_done && has_any(OFTEN_QUOTED)) || STATUS.iter().any(failed)
}

/// Whether a result only says that nothing has changed since an earlier one, in place of the text.
pub fn is_unchanged_stub(text: &str) -> bool {
    const SIGNS: &[&str] = &[
        "unchanged",
        "not changed",
        "no change",
        "not modified",
        "has not been modified",
        "already in context",
        "already read",
        "same as before",
        "see above",
        "identical to",
    ];
    text.len() <= 400 && {
        let text = lowered(text, text.len());
        SIGNS.iter().any(|sign| has(&text, sign))
    }
}

/// The first bytes of a text in lower case. What no sign holds follows, so that a short text is looked through as fast.
fn lowered(text: &str, most: usize) -> String {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut start = String::with_capacity(end + 2 * bytes::LANES);
    start.push_str(&text[..end]);
    start.make_ascii_lowercase();
    start.extend(["\0"; 2 * bytes::LANES]);
    start
}

fn has(text: &str, sign: &str) -> bool {
    bytes::find(text.as_bytes(), sign.as_bytes()).is_some()
}
