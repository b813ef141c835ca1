//! What stands around a program: assignments, wrappers, flags.

use super::lex::Word;

/// Programs that run the command behind them, and their flags that take a value.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("sudo", &["-u", "-g"]),
    ("env", &["-u", "-C"]),
    ("timeout", &["-s", "-k", "--signal", "--kill-after"]),
    ("gtimeout", &["-s", "-k"]),
    ("time", &["-f", "-o"]),
    ("nohup", &[]),
    ("nice", &["-n"]),
    ("ionice", &["-c", "-n"]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("unbuffer", &[]),
    ("setsid", &[]),
    ("exec", &[]),
    ("builtin", &[]),
    ("command", &[]),
    ("xvfb-run", &["-s"]),
    ("winpty", &[]),
];

/// Nobody wraps deeper.
const MOST: usize = 8;

/// The words from the program on that does the work.
pub(super) fn unwrapped<'w, 'a>(mut words: &'w [Word<'a>]) -> &'w [Word<'a>] {
    for _ in 0..MOST {
        let assignments = words.iter().take_while(|word| is_assignment(&word.text)).count();
        words = &words[assignments..];
        let Some((first, rest)) = words.split_first() else { break };
        let Some((name, valued)) = WRAPPERS.iter().find(|(name, _)| *name == first.text) else { break };
        if *name == "command" && rest.first().is_some_and(|word| word.text.starts_with('-')) {
            break; // asks where a command is
        }
        let inner = operands(rest, valued);
        let skip = usize::from(name.ends_with("timeout"));
        let start = inner.iter().skip(skip).find(|word| !is_assignment(&word.text));
        let at = start.and_then(|start| rest.iter().position(|word| std::ptr::eq(word, *start)));
        match at {
            Some(at) => words = &rest[at..],
            None => break,
        }
    }
    words
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The arguments that are no flags and no values of flags.
pub(super) fn operands<'w, 'a>(arguments: &'w [Word<'a>], valued: &[&str]) -> Vec<&'w Word<'a>> {
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = &*word.text;
        if text == "--" {
            operands.extend(words.by_ref());
        } else if text.len() < 2 || !text.starts_with('-') {
            operands.push(word);
        } else if takes_value(text, valued) {
            words.next();
        }
    }
    operands.retain(|word| !word.text.is_empty() || !word.literal);
    operands
}

/// Whether the next word is a flag's value: `-n 5`, `--lines 5`, `-qn 5`, not `-n5`.
fn takes_value(flag: &str, valued: &[&str]) -> bool {
    let is_cluster = !flag.starts_with("--") && flag.len() > 2 && flag.bytes().skip(1).all(|byte| byte.is_ascii_alphabetic());
    let last = flag.len() - flag.chars().next_back().map_or(0, char::len_utf8);
    valued.iter().any(|value| *value == flag || (is_cluster && value.len() == 2 && value[1..] == flag[last..]))
}

/// Whether one of these flags is there; a flag of one letter counts in a cluster too, and any with `=value`.
pub(super) fn has(arguments: &[Word<'_>], flags: &[&str]) -> bool {
    arguments.iter().take_while(|word| word.text != "--").any(|word| {
        flags.iter().any(|flag| {
            let rest = word.text.strip_prefix(flag);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
                || (flag.len() == 2 && is_cluster(&word.text) && word.text[1..].contains(&flag[1..]))
        })
    })
}

fn is_cluster(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word[1..].bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The value of a flag: `-n 5`, `-n5`, `--lines=5`.
pub(super) fn value<'w>(arguments: &'w [Word<'_>], flags: &[&str]) -> Option<&'w str> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        for flag in flags {
            match word.text.strip_prefix(flag) {
                Some("") => return words.next().map(|word| &*word.text),
                Some(rest) if flag.starts_with("--") => {
                    if let Some(value) = rest.strip_prefix('=') {
                        return Some(value);
                    }
                }
                Some(rest) => return Some(rest),
                None => {}
            }
        }
    }
    None
}
