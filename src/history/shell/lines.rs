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
    let short = arguments.iter().find_map(|word| word.text.strip_prefix('-').filter(|count| count.parse::<u64>().is_ok()));
    let count = value(arguments, "-n --lines").or(short).unwrap_or("10");
    let lines = lines(1, number(count)).filter(|_| !has(arguments, "-c --bytes"));
    Filter { lines, files: operands(arguments, "-n -c --lines --bytes") }
}

/// Only `tail -n +K` says where it starts.
pub(super) fn tail<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let mut files = operands(arguments, "-n -c --lines --bytes");
    files.retain(|word| !word.text.starts_with('+'));
    let short = arguments.iter().map(|word| &*word.text).find(|text| text.starts_with('+'));
    let from = value(arguments, "-n --lines").or(short).and_then(|from| from.strip_prefix('+'));
    Filter { lines: from.and_then(|from| lines(number(from), Some(u64::MAX))), files }
}

pub(super) fn sed<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let mut files = operands(arguments, "-e -f --expression");
    let script = if has(arguments, "-f") || arguments.iter().filter(|word| word.text == "-e").count() > 1 {
        ""
    } else if let Some(script) = value(arguments, "-e --expression") {
        script
    } else if files.is_empty() {
        ""
    } else {
        &*files.remove(0).text
    };
    let silent = has(arguments, "-n --quiet --silent");
    Filter { lines: if silent { printed(script) } else { None }, files }
}

pub(super) fn awk<'w, 'a>(arguments: &'w [Word<'a>]) -> Filter<'w, 'a> {
    let mut files = operands(arguments, "-v -F -f --assign");
    let script = if has(arguments, "-f") || files.is_empty() { "" } else { &*files.remove(0).text };
    files.retain(|word| !word.text.contains('='));
    Filter { lines: printed(script), files }
}

/// The lines that a script of sed's or awk's prints, if it does nothing else.
fn printed(script: &str) -> Option<Span> {
    let mut form = String::new();
    let mut numbers = [0_u64; 3];
    let mut count = 0;
    for letter in script.chars().filter(|letter| !letter.is_whitespace()).take(40) {
        match letter.to_digit(10) {
            Some(digit) => {
                if !form.ends_with('#') {
                    form.push('#');
                    count += 1;
                }
                let number = numbers.get_mut(count - 1)?;
                *number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
            }
            None => form.push(letter),
        }
    }
    let [first, second, _] = numbers;
    let form = form.strip_suffix("{print}").unwrap_or(&form);
    let last = match form {
        "#,#p" | "#,#p;#q" | "NR>=#&&NR<=#" | "NR==#,NR==#" => second,
        "#p" | "NR==#" => first,
        "#,$p" | "NR>=#" => u64::MAX,
        "#,+#p" => first.saturating_add(second),
        _ => return None,
    };
    lines(Some(first), Some(last))
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn lines(first: impl Into<Option<u64>>, last: Option<u64>) -> Option<Span> {
    let (first, last) = (first.into()?, last?);
    (first > 0 && last >= first).then(|| Span::lines(first, last))
}
