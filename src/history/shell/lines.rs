//! Which lines `head`, `tail`, `sed` and `awk` let through, where that can be told from their arguments.

use super::lex::Word;
use super::one_liners::{awk_shows, sed_shows};
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

/// `None` where the script may do more than show.
pub(super) fn sed<'w, 'a>(arguments: &'w [Word<'a>]) -> Option<Filter<'w, 'a>> {
    let mut files = operands(arguments, "-e -f --expression");
    let is_flag = |word: &Word<'_>| word.text == "--expression" || (word.text.starts_with('-') && word.text.ends_with('e') && word.text.len() < 6);
    let mut scripts: Vec<&Word<'_>> = arguments.windows(2).filter(|pair| is_flag(&pair[0])).map(|pair| &pair[1]).collect();
    if scripts.is_empty() && !has(arguments, "-e --expression") && !files.is_empty() {
        scripts.push(files.remove(0));
    }
    if scripts.is_empty() || has(arguments, "-f") || scripts.iter().any(|script| script.literal && !sed_shows(&script.text)) {
        return None;
    }
    let silent = has(arguments, "-n --quiet --silent");
    let lines = if silent && scripts.len() == 1 { printed(&scripts[0].text) } else { None };
    Some(Filter { lines, files })
}

/// `None` where the script may do more than show.
pub(super) fn awk<'w, 'a>(arguments: &'w [Word<'a>]) -> Option<Filter<'w, 'a>> {
    let mut files = operands(arguments, "-v -F --assign");
    if files.is_empty() || has(arguments, "-f -i") {
        return None;
    }
    let script = files.remove(0);
    files.retain(|word| !word.text.contains('='));
    awk_shows(&script.text).then(|| Filter { lines: printed(&script.text), files })
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
