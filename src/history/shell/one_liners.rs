//! Whether a script of sed's or awk's only shows: both can write files and start programs.

/// Addresses, regular expressions and what prints, deletes or replaces: no `w`, `e`, `r`, nor text to insert.
pub(super) fn sed_shows(script: &str) -> bool {
    let mut rest = script.trim_ascii();
    loop {
        // An address may be a regular expression; numbers, signs and the commands without arguments come in any order.
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || " \t\n;{},$+~!pqQdDnNPgGhHx=I".contains(letter));
        let after = match rest.chars().next() {
            None => return true,
            Some('/') => delimited(&rest[1..], '/'),
            Some('s') => replacement(&rest[1..]),
            Some(_) => None,
        };
        match after {
            Some(after) => rest = after,
            None => return false,
        }
    }
}

/// What is behind `/from/to/gp`; `None` where its flags write or run.
fn replacement(text: &str) -> Option<&str> {
    let delimiter = text.chars().next().filter(char::is_ascii_punctuation)?;
    let behind = delimited(delimited(&text[1..], delimiter)?, delimiter)?;
    let after = behind.trim_start_matches(|letter: char| letter.is_ascii_digit() || "gpI".contains(letter));
    (after.is_empty() || after.starts_with([' ', ';', '\n', '}'])).then_some(after)
}

/// What is behind the delimiter that closes. Whether one in brackets does, is not the same for all: there nothing is told.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut escaped = false;
    let end = text.find(|letter| {
        let closes = letter == delimiter && !escaped;
        escaped = letter == '\\' && !escaped;
        closes
    })?;
    let part = &text[..end];
    let in_brackets = part.contains("[]") || part.contains("[^]") || part.rfind('[') > part.rfind(']');
    (!in_brackets).then(|| &text[end + delimiter.len_utf8()..])
}

/// Awk acts through redirections, pipes, `system` and what `@` loads. In front of the first brace nothing can be redirected.
pub(super) fn awk_shows(script: &str) -> bool {
    let (_, body) = script.split_once('{').unwrap_or((script, ""));
    let redirects = body.match_indices('>').any(|(at, _)| !body[at + 1..].starts_with('='));
    let pipes = script.replace("||", "  ").contains('|') || script.contains("|||");
    !redirects && !pipes && !script.contains("system") && !script.contains('@')
}
