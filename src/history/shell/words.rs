//! What stands around a program: assignments, wrappers, flags. Lists of names are texts with spaces between: so they are smallest.

use super::lex::Word;
use crate::history::names::listed;

/// Programs that run the command behind them, and their flags that take a value.
const WRAPPERS: &[(&str, &str)] = &[
    ("sudo", "-u -g"),
    ("env", "-u -C"),
    ("timeout gtimeout", "-s -k --signal --kill-after"),
    ("nice ionice", "-n -c"),
    ("stdbuf", "-i -o -e"),
    ("time nohup unbuffer setsid exec builtin command xvfb-run winpty", "-f -o"),
];

/// Nobody wraps deeper.
const MOST: usize = 8;

/// The words from the program on that does the work.
pub(super) fn unwrapped<'w, 'a>(mut words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    for _ in 0..MOST {
        let assignments = words.iter().take_while(|word| is_assignment(&word.text)).count();
        words = words.get(assignments..).unwrap_or_default();
        let Some((first, rest)) = words.split_first() else { break };
        let Some((_, valued)) = WRAPPERS.iter().find(|(names, _)| listed(names, &first.text)) else { break };
        if first.text == "command" && rest.first().is_some_and(|word| listed("-v -V", &word.text)) {
            break; // asks where a command is
        }
        let inner = operands(rest, valued);
        let skip = usize::from(first.text.ends_with("timeout"));
        let Some(start) = inner.get(skip) else { break };
        words = from(rest, start);
    }
    words
}

/// The words from this one on.
pub(super) fn from<'w, 'a>(words: &'w [Word<'a>], start: &Word<'a>) -> &'w [Word<'a>] {
    let at = words.iter().position(|word| std::ptr::eq(word, start));
    at.and_then(|at| words.get(at..)).unwrap_or_default()
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or("");
    name.len() < word.len()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.as_bytes().first().is_none_or(u8::is_ascii_digit)
}

/// The arguments that are no flags and no values of flags.
pub(super) fn operands<'w, 'a>(arguments: &'w [Word<'a>], valued: &str) -> Vec<&'w Word<'a>> {
    let mut operands = Vec::new();
    let (mut skip, mut flags) = (false, true);
    for word in arguments {
        let text = &*word.text;
        match () {
            () if std::mem::take(&mut skip) => {}
            () if flags && text == "--" => flags = false,
            () if flags && text.len() > 1 && text.starts_with('-') => skip = takes_value(text, valued),
            () if text.is_empty() && word.literal => {}
            () => operands.push(word),
        }
    }
    operands
}

/// Whether the next word is a flag's value: `-n 5`, `--lines 5`, `-qn 5`, not `-n5`.
fn takes_value(flag: &str, valued: &str) -> bool {
    let last = flag.as_bytes().last();
    let ends_with = |known: &str| is_cluster(flag) && known.len() == 2 && known.as_bytes().last() == last;
    valued.split(' ').any(|known| known == flag || ends_with(known))
}

/// Whether one of these flags is there: itself, with `=value`, or in a cluster of letters.
pub(super) fn has(arguments: &[Word<'_>], flags: &str) -> bool {
    arguments.iter().take_while(|word| word.text != "--").any(|word| flags.split(' ').any(|flag| is_flag(&word.text, flag)))
}

fn is_flag(word: &str, flag: &str) -> bool {
    match word.strip_prefix(flag) {
        Some(rest) if rest.is_empty() || rest.starts_with('=') => true,
        _ => flag.len() == 2 && is_cluster(word) && word.as_bytes().contains(&flag.as_bytes()[1]),
    }
}

/// `-sSL`, also `-n5`.
fn is_cluster(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| letters.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The value of a flag: `-n 5`, `-n5`, `--lines=5`, `-qn 5`.
pub(super) fn value<'w>(arguments: &'w [Word<'_>], flags: &str) -> Option<&'w str> {
    let at = arguments
        .iter()
        .position(|word| flags.split(' ').any(|flag| is_flag(&word.text, flag) || (flag.len() == 2 && word.text.starts_with(flag))))?;
    let text = &*arguments[at].text;
    match text.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => Some(value),
        _ if takes_value(text, flags) => arguments.get(at + 1).map(|word| &*word.text),
        _ => text.get(2..),
    }
}
