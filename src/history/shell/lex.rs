//! Shell text into simple commands: words, redirections, pipes, subshells, heredocs.
//!
//! Not a shell: it splits as a shell would, expands nothing, and says so where it is not sure. Of PowerShell it knows the here-string, and
//! that a backslash before a letter is part of a path. One pass, total, and bounded in depth; one file, since quotes, substitutions and
//! heredocs nest in each other.
//!
//! No crate does this: `shlex` and `shell-words` know no operators, redirections or heredocs, and the tokenizer of `brush-parser` alone
//! is 100 KB of gzipped wasm and refuses a command that is cut off.

use std::borrow::Cow;

/// Nested deeper, a command is not read.
const DEEPEST: usize = 12;

/// Words that only lead up to a command.
const KEYWORDS: &[&str] = &["if", "then", "else", "elif", "while", "until", "do", "!", "{", "time"];

/// A word, quotes taken off.
#[derive(Clone, Debug, Default)]
pub(super) struct Word<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it means just what it says: no variable, substitution or glob in it.
    pub(super) literal: bool,
}

/// `> file` or `< file`.
#[derive(Debug)]
pub(super) struct Redirect<'a> {
    pub(super) writes: bool,
    pub(super) target: Word<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Command<'a> {
    pub(super) words: Vec<Word<'a>>,
    pub(super) redirects: Vec<Redirect<'a>>,
    /// Which of the script's heredocs it is fed.
    pub(super) heredoc: Option<usize>,
    /// Whether it is fed what the command before it shows.
    pub(super) piped: bool,
}

#[derive(Debug)]
pub(super) enum Item<'a> {
    Command(Command<'a>),
    /// A subshell begins: it has a working directory of its own.
    Open,
    Close,
}

/// A whole command line or script.
#[derive(Debug, Default)]
pub(super) struct Script<'a> {
    /// Commands in order; those of a substitution before the command that they are in.
    pub(super) items: Vec<Item<'a>>,
    pub(super) heredocs: Vec<&'a str>,
    /// Whether it was understood.
    pub(super) sure: bool,
    /// Whether a command's output becomes part of another command.
    pub(super) substitutes: bool,
}

impl<'a> Script<'a> {
    pub(super) fn of(text: &'a str) -> Script<'a> {
        let mut script = Script { sure: true, ..Script::default() };
        Lexer { text, at: 0, depth: 0, piped: false, pending: Vec::new(), script: &mut script }.commands(false);
        script
    }
}

struct Lexer<'a, 's> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether the next command is behind a pipe.
    piped: bool,
    /// Heredocs whose bodies start behind the next newline: delimiter, `<<-`, quoted.
    pending: Vec<(Cow<'a, str>, bool, bool)>,
    script: &'s mut Script<'a>,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// What has been read from this place on.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Nothing behind this place is read: so whatever is not closed costs one scan only.
    fn give_up(&mut self) {
        self.script.sure = false;
        self.at = self.text.len();
    }

    /// Reads to the end or, inside of parentheses, to the one that closes them.
    fn commands(&mut self, inside: bool) {
        let mut command = Command::default();
        while self.at < self.text.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.rest().get(1..).unwrap_or("").starts_with('\n') => self.at += 2,
                b'\\' if self.rest().get(1..).unwrap_or("").starts_with("\r\n") => self.at += 3,
                b'#' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
                b'\n' => {
                    self.at += 1;
                    self.finish(&mut command, false);
                    self.heredoc_bodies();
                }
                b';' => self.operator(&mut command, 1),
                b'&' if self.peek(1) == b'>' => {
                    self.at += 1;
                    self.redirect(&mut command);
                }
                b'&' => {
                    let length = if self.peek(1) == b'&' { 2 } else { 1 };
                    self.operator(&mut command, length);
                }
                b'|' if self.peek(1) == b'|' => self.operator(&mut command, 2),
                b'|' => {
                    self.at += if self.peek(1) == b'&' { 2 } else { 1 };
                    self.finish(&mut command, true);
                }
                b'(' if self.peek(1) == b'(' && command.words.is_empty() => self.skip("))"),
                b'(' => {
                    self.script.sure &= command.words.is_empty(); // else a function or an array
                    self.at += 1;
                    self.nested();
                }
                b')' => {
                    self.at += 1;
                    if inside {
                        self.finish(&mut command, false);
                        return;
                    }
                    self.script.sure = false;
                }
                b'<' | b'>' if command.words.first().is_none_or(|word| word.text != "[[") => self.redirect(&mut command),
                b'<' | b'>' => self.at += 1,
                _ => self.command_word(&mut command),
            }
        }
        self.finish(&mut command, false);
        self.script.sure &= !inside;
    }

    fn operator(&mut self, command: &mut Command<'a>, length: usize) {
        self.at += length;
        self.finish(command, false);
    }

    fn finish(&mut self, command: &mut Command<'a>, pipe: bool) {
        let command = std::mem::take(command);
        if !command.words.is_empty() || !command.redirects.is_empty() || command.heredoc.is_some() {
            let piped = std::mem::take(&mut self.piped);
            self.script.items.push(Item::Command(Command { piped, ..command }));
        }
        self.piped |= pipe;
    }

    /// Reads a subshell or a substitution, from behind its opening parenthesis.
    fn nested(&mut self) {
        if self.depth >= DEEPEST {
            return self.give_up();
        }
        self.depth += 1;
        self.script.items.push(Item::Open);
        self.commands(true);
        self.script.items.push(Item::Close);
        self.depth -= 1;
    }

    fn substitution(&mut self) {
        self.script.substitutes = true;
        let piped = std::mem::take(&mut self.piped); // that is for the command that it is in
        self.nested();
        self.piped = piped;
    }

    fn command_word(&mut self, command: &mut Command<'a>) {
        let start = self.at;
        let word = self.word();
        let raw = self.since(start);
        let is_descriptor = matches!(self.peek(0), b'<' | b'>') && raw.bytes().all(|byte| byte.is_ascii_digit());
        let is_keyword = command.words.is_empty() && KEYWORDS.contains(&raw);
        self.script.sure &= !(command.words.is_empty() && matches!(raw, "case" | "function"));
        if !is_descriptor && !is_keyword {
            command.words.push(word);
        }
    }

    fn redirect(&mut self, command: &mut Command<'a>) {
        let operators = ["<<<", "<<-", "<<", "<(", "<&", "<>", "<", ">>", ">|", ">&", ">(", ">"];
        let operator = operators.into_iter().find(|operator| self.rest().starts_with(operator)).unwrap_or(">");
        self.at += operator.len();
        if let "<(" | ">(" = operator {
            self.script.sure &= operator == "<(";
            self.substitution();
            command.words.push(Word::default());
            return;
        }
        let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        self.at += blanks;
        let start = self.at;
        let target = self.word();
        let raw = self.since(start);
        let is_descriptor = !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        match operator {
            _ if raw.is_empty() => self.script.sure = false,
            "<<" | "<<-" => {
                command.heredoc = Some(self.script.heredocs.len() + self.pending.len());
                let quoted = raw.contains(['\'', '"', '\\']);
                // A backslash is kept before a letter for the sake of paths: this is none.
                let delimiter = if target.text.contains('\\') { target.text.replace('\\', "").into() } else { target.text };
                self.pending.push((delimiter, operator == "<<-", quoted));
            }
            "<<<" | "<&" => {}
            ">&" if is_descriptor => {}
            _ => command.redirects.push(Redirect { writes: operator != "<", target }),
        }
    }

    fn heredoc_bodies(&mut self) {
        for (delimiter, tabs, quoted) in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let line = self.rest().split('\n').next().unwrap_or("");
                let from = self.at;
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let line = line.strip_suffix('\r').unwrap_or(line);
                if (if tabs { line.trim_start_matches('\t') } else { line }) == delimiter {
                    end = from;
                    break;
                }
            }
            let body = self.text.get(start..end).unwrap_or("");
            self.script.sure &= quoted || !(body.contains("$(") || body.contains('`'));
            self.script.heredocs.push(body);
        }
    }

    fn word(&mut self) -> Word<'a> {
        let mut word = Word { text: Cow::Borrowed(""), literal: true };
        if let Some(body) = self.here_string() {
            word.text = Cow::Borrowed(body);
            return word;
        }
        while self.at < self.text.len() {
            let start = self.at;
            match self.peek(0) {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\'' => {
                    self.at += 1;
                    let quoted = self.until('\'');
                    push(&mut word, quoted);
                }
                b'"' => self.double_quoted(&mut word),
                b'$' if self.peek(1) == b'\'' => self.ansi_quoted(&mut word),
                b'$' if self.peek(1) == b'"' => self.at += 1,
                b'$' | b'`' => self.expansion(&mut word),
                b'\\' => {
                    let escaped = self.rest()[1..].chars().next();
                    self.at += 1 + escaped.map_or(0, char::len_utf8);
                    let kept = usize::from(!escaped.is_some_and(|letter| letter.is_ascii_alphanumeric()));
                    if escaped != Some('\n') {
                        push(&mut word, self.since(start + kept));
                    }
                }
                byte => {
                    word.literal &= !matches!(byte, b'*' | b'?' | b'[' | b'{');
                    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:=@%+~".contains(&byte) || !byte.is_ascii();
                    let more = self.rest().as_bytes()[1..].iter().take_while(|byte| plain(**byte)).count();
                    self.at += 1 + more;
                    push(&mut word, self.since(start));
                }
            }
        }
        word.literal |= matches!(&*word.text, "[" | "[[");
        word
    }

    /// PowerShell's `@'…'@`, which begins and ends with a line of its own.
    fn here_string(&mut self) -> Option<&'a str> {
        let (end, rest) = match self.rest().as_bytes() {
            [b'@', b'\'', ..] => ("\n'@", &self.rest()[2..]),
            [b'@', b'"', ..] => ("\n\"@", &self.rest()[2..]),
            _ => return None,
        };
        let body = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
        match rest.find(end) {
            Some(length) => {
                self.at += 2 + length + end.len();
                Some(&body[..(length + body.len()).saturating_sub(rest.len())])
            }
            None => {
                self.give_up();
                Some(body)
            }
        }
    }

    /// To the quote that closes.
    fn until(&mut self, quote: char) -> &'a str {
        let rest = self.rest();
        match rest.find(quote) {
            Some(length) => {
                self.at += length + 1;
                &rest[..length]
            }
            None => {
                self.give_up();
                rest
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word<'a>) {
        self.at += 1;
        loop {
            let start = self.at;
            self.at += self.rest().bytes().take_while(|byte| !b"\"\\$`".contains(byte)).count();
            push(word, self.since(start));
            match (self.peek(0), self.peek(1)) {
                (b'"', _) => {
                    self.at += 1;
                    return;
                }
                (b'\\', b'"' | b'\\' | b'$' | b'`') => {
                    self.script.sure &= self.peek(1) != b'"' || !word.text.contains(":\\"); // `"C:\a\"` ends there in PowerShell
                    self.at += 2;
                    push(word, self.since(self.at - 1));
                }
                (b'\\', b'\n') => self.at += 2,
                (b'\\', _) => {
                    self.at += 1;
                    push(word, self.since(self.at - 1));
                }
                (b'$' | b'`', _) => self.expansion(word),
                _ => return self.give_up(),
            }
        }
    }

    /// `$'…'`; left as it is where it has escapes.
    fn ansi_quoted(&mut self, word: &mut Word<'a>) {
        let start = self.at;
        self.at += 2;
        let mut escaped = false;
        let length = self.rest().bytes().position(|byte| {
            let closes = byte == b'\'' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        });
        let Some(length) = length else { return self.give_up() };
        let quoted = self.rest().get(..length).unwrap_or("");
        self.at += length + 1;
        let literal = !quoted.contains('\\');
        word.literal &= literal;
        push(word, if literal { quoted } else { self.since(start) });
    }

    /// `$x`, `${x}`, `$(…)`, `$((…))` and backticks; the commands in them are read.
    fn expansion(&mut self, word: &mut Word<'a>) {
        let start = self.at;
        // `"end$"` expands nothing.
        word.literal &= self.peek(0) == b'$' && b"\0 \t\n\"')|/\\.,;".contains(&self.peek(1));
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (b'$', b'(', b'(') => self.skip("))"),
            (b'$', b'(', _) => {
                self.at += 2;
                self.substitution();
            }
            (b'$', b'{', _) => self.skip("}"),
            (b'`', ..) => {
                self.at += 1;
                let inner = self.until('`');
                self.script.substitutes = true;
                self.script.sure &= self.depth < DEEPEST && !inner.ends_with('\\');
                if self.depth < DEEPEST {
                    self.script.items.push(Item::Open);
                    let depth = self.depth + 1;
                    Lexer { text: inner, at: 0, depth, piped: false, pending: Vec::new(), script: self.script }.commands(false);
                    self.script.items.push(Item::Close);
                }
            }
            _ => self.at += 1,
        }
        push(word, self.since(start));
    }

    /// Over what holds no command that we read.
    fn skip(&mut self, end: &str) {
        let rest = self.rest();
        match rest.find(end) {
            Some(length) => {
                self.at += length + end.len();
                let inner = &rest[2.min(length)..length];
                self.script.sure &= !inner.contains("$(") && !inner.contains(['`', ';']);
            }
            None => self.give_up(),
        }
    }
}

/// Copies only where a word has several parts.
fn push<'a>(word: &mut Word<'a>, part: &'a str) {
    if word.text.is_empty() {
        word.text = Cow::Borrowed(part);
    } else if !part.is_empty() {
        word.text.to_mut().push_str(part);
    }
}
