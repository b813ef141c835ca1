//! Which lines `head`, `tail`, `sed` and `awk` let through, where that can be told from their arguments.

use super::lex::Word;
use super::words::{has, operands, value};
use crate::history::resources::Span;

/// The lines that a filter lets through, and the files that it reads.
pub(super) struct Filter<'w, 'a> {
    pub(super) lines: Option<Span>,
    pub(super) files: Vec<&'w Word<'a>>,
}

pub(super) fn head<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let files = operands(arguments, &["-n", "-c", "--lines", "--bytes"]);
    let count = match arguments.iter().find_map(|word| word.text.strip_prefix('-')?.parse().ok()) {
        Some(count) => Some(count),
        None if has(arguments, &["-n", "--lines"]) || arguments.iter().any(|word| word.text.starts_with("-n")) => {
            value(arguments, &["-n", "--lines"]).and_then(|count| count.parse::<u64>().ok())
        }
        None => Some(10),
    };
    let bytes = arguments.iter().any(|word| word.text.starts_with("-c") || word.text.starts_with("--bytes"));
    Filter { lines: count.filter(|_| !bytes).and_then(|count| lines(1, count)), files }
}

/// Only `tail -n +K` says where it starts.
pub(super) fn tail<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let files = operands(arguments, &["-n", "-c", "--lines", "--bytes"]);
    let from = value(arguments, &["-n", "--lines"]).and_then(|value| value.strip_prefix('+'));
    let from = from.or_else(|| arguments.iter().find_map(|word| word.text.strip_prefix('+')));
    let files = files.into_iter().filter(|word| !word.text.starts_with('+')).collect();
    Filter { lines: from.and_then(|from| from.parse().ok()).and_then(|from| lines(from, u64::MAX)), files }
}

pub(super) fn sed<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let scripts = arguments.iter().filter(|word| matches!(&*word.text, "-e" | "--expression")).count();
    let mut files = operands(arguments, &["-e", "--expression", "-f"]);
    let script = match scripts {
        0 if !has(arguments, &["-f"]) && !files.is_empty() => Some(&*files.remove(0).text),
        1 => value(arguments, &["-e", "--expression"]),
        _ => None,
    };
    let silent = has(arguments, &["-n", "--quiet", "--silent"]);
    Filter { lines: script.filter(|_| silent).and_then(printed), files }
}

/// `10,20p`, `10p`, `10,+5p`, `10,$p`, a `20q` behind it.
fn printed(script: &str) -> Option<Span> {
    let script = script.trim();
    let script =
        script.split_once(';').filter(|(_, rest)| rest.trim().trim_end_matches('q').parse::<u64>().is_ok()).map_or(script, |(range, _)| range);
    let range = script.trim().strip_suffix('p')?.trim();
    let (first, last) = range.split_once(',').unwrap_or((range, range));
    let first: u64 = first.trim().parse().ok()?;
    let last = match (last.trim(), last.trim().strip_prefix('+')) {
        ("$", _) => u64::MAX,
        (_, Some(more)) => first.checked_add(more.parse().ok()?)?,
        (last, None) => last.parse().ok()?,
    };
    lines(first, last)
}

pub(super) fn awk<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let mut files = operands(arguments, &["-v", "-F", "-f", "--assign"]);
    let script = if has(arguments, &["-f"]) || files.is_empty() { "" } else { &*files.remove(0).text };
    files.retain(|word| !word.text.contains('='));
    Filter { lines: compared(script), files }
}

/// `NR>=10 && NR<=20`, `NR==10,NR==20`, with or without the `{print}` that is understood.
fn compared(script: &str) -> Option<Span> {
    let mut script: String = script.chars().filter(|letter| !letter.is_whitespace()).collect();
    for print in ["{print}", "{print$0}"] {
        script.truncate(script.strip_suffix(print).unwrap_or(&script).len());
    }
    let (from, to) = script.split_once("&&").or_else(|| script.split_once(','))?;
    let number = |text: &str, with: &str| text.strip_prefix("NR")?.strip_prefix(with)?.parse::<u64>().ok();
    let first = number(from, ">=").or_else(|| number(from, ">").map(|first| first + 1)).or_else(|| number(from, "=="))?;
    let last = number(to, "<=").or_else(|| number(to, "<").map(|last| last.saturating_sub(1))).or_else(|| number(to, "=="))?;
    lines(first, last)
}

fn lines(first: u64, last: u64) -> Option<Span> {
    (first > 0 && last >= first).then(|| Span::lines(first, last))
}
