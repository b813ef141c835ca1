//! What a shell command line does: read as commands, never run.
//!
//! One command that changes something makes the line a write; one that is not known makes it a run. Else it is what its commands do,
//! where filters behind a pipe leave what stands before them: `cargo test | tail` verifies, `nl f | sed -n 10,20p` reads lines 10 to 20.
//! One walk, and so one file: folder, pipe and what was shown pass through all of it.
//!
//! ```
//! use warmfold::history::{kinds::ToolKind, resources::Span, shell::Line};
//!
//! let line = Line::of("cd /repo && sed -n '10,20p' src/a.rs", "");
//! assert_eq!((line.kind, line.reads), (ToolKind::Read, vec!["/repo/src/a.rs".to_owned()]));
//! assert_eq!(line.resource.unwrap().span, Span::lines(10, 20));
//! assert_eq!(Line::of("cargo test 2>&1 | tail -20", "").kind, ToolKind::Verify);
//! assert_eq!(Line::of("bash -lc \"cat > a.txt <<'EOF'\nhello\nEOF\"", "").writes, ["a.txt"]);
//! ```

use super::kinds::ToolKind;
use super::patches;
use super::paths::{add, is_absolute, normalised};
use super::resources::{Resource, Span};
use crate::bytes;
use lex::{Command, Item, Script, Word};
use lines::Filter;

mod files;
mod lex;
mod lines;
mod looks;
mod one_liners;
mod programs;
mod rules;
mod scripts;
mod words;

/// Shells in shells, and programs that start programs, are read so deep.
const DEEPEST: usize = 8;

/// A line that reads more files than this is no read of files.
const MOST_FILES: usize = 256;

/// Nor is one whose files' paths are longer together, in bytes.
const LONGEST_FILES: usize = 64 << 10;

/// A folder's path that is longer is not followed further.
const LONGEST: usize = 4096;

/// What a command line does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its kind.
    pub kind: ToolKind,
    /// What it shows, where its kind has a source: one file and its lines where that is all it shows, else the line itself.
    pub resource: Option<Resource>,
    /// Files that it shows.
    pub reads: Vec<String>,
    /// Files that it changes.
    pub writes: Vec<String>,
}

impl Line {
    /// Reads a command line, or a script, that starts in `folder`.
    pub fn of(text: &str, folder: &str) -> Line {
        let mut walk = Walk::new(folder);
        walk.text(text);
        walk.line(text, folder)
    }

    /// Reads a command whose words are split already: `["bash", "-lc", "ls"]`.
    pub fn of_words(words: &[&str], folder: &str) -> Line {
        let mut walk = Walk::new(folder);
        let command = Command { words: words.iter().copied().map(literal).collect(), ..Command::default() };
        walk.command(&command, &[]);
        walk.end_pipe();
        match words {
            [_, flag, script] if flag.ends_with('c') && flag.starts_with('-') => walk.line(script, folder), // `bash -lc`
            words => walk.line(&words.join(" "), folder),
        }
    }
}

/// Whether a command line only looks, so that nothing changes where it is run again.
pub fn only_looks(text: &str) -> bool {
    looks::only_looks(text, 0)
}

/// The same of a command whose words are split already.
pub fn only_look(words: &[&str]) -> bool {
    let words: Vec<Word<'_>> = words.iter().copied().map(literal).collect();
    !words.is_empty() && looks::words_look(&words, 0)
}

fn literal(word: &str) -> Word<'_> {
    Word { text: word.into(), literal: true }
}

/// What one command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Shows nothing that matters and changes nothing: `cd`, `echo`, `test`.
    Quiet,
    /// Shows something of the machine or the session: `pwd`, `ps`.
    Speaks,
    /// Works on what comes through the pipe; without a pipe it waits.
    Filters,
    Does(ToolKind),
}

/// What has been shown so far.
enum Shown {
    Nothing,
    /// Lines of one file and nothing else.
    Lines(String, Span),
    /// Anything else.
    Other,
}

/// Where a command runs.
#[derive(Clone)]
struct Place {
    folder: String,
    /// Whether that is sure: not behind `cd $X`.
    known: bool,
}

/// A walk over the commands of a line.
struct Walk {
    place: Place,
    outer: Vec<Place>,
    /// What the commands of this pipe do.
    pipe: Option<ToolKind>,
    seen: [bool; ToolKind::NAMES.len()],
    shown: Shown,
    reads: Vec<String>,
    /// Of all paths that were read.
    read_bytes: usize,
    writes: Vec<String>,
    /// The heredoc that came into this pipe, if it did.
    fed: Option<String>,
    depth: usize,
}

impl Walk {
    fn new(folder: &str) -> Walk {
        Walk {
            place: Place { folder: folder.to_owned(), known: true },
            outer: Vec::new(),
            pipe: None,
            seen: Default::default(),
            shown: Shown::Nothing,
            reads: Vec::new(),
            read_bytes: 0,
            writes: Vec::new(),
            fed: None,
            depth: 0,
        }
    }

    /// What it came to.
    fn line(self, text: &str, folder: &str) -> Line {
        // The order is the rule: what changes something first, what is not known next, then what is most often quoted.
        let order = [ToolKind::Write, ToolKind::Run, ToolKind::Verify, ToolKind::Read, ToolKind::Search, ToolKind::Fetch, ToolKind::List];
        let kind = order.into_iter().find(|kind| self.seen[*kind as usize]).unwrap_or(ToolKind::Run);
        let resource = kind.has_source().then(|| match self.shown {
            Shown::Lines(path, span) if kind == ToolKind::Read => Resource { key: ["file", &path].join(":"), label: path, span },
            _ => Resource { key: ["command", folder, text.trim_ascii()].join(":"), label: one_line(text), span: Span::WHOLE },
        });
        Line { kind, resource, reads: self.reads, writes: self.writes }
    }

    /// The text of a shell within this one: its `cd` is its own.
    fn inner_text(&mut self, text: &str) {
        let (pipe, place) = (self.pipe.take(), self.place.clone());
        self.text(text);
        (self.pipe, self.place) = (pipe, place);
    }

    fn text(&mut self, text: &str) {
        if self.depth >= DEEPEST {
            return self.saw(ToolKind::Run);
        }
        if let Some(lines) = text.strip_prefix("edit ")
            && lines.starts_with(|first: char| first.is_ascii_digit())
        {
            return self.saw(ToolKind::Write); // SWE-agent's: what follows is no command
        }
        self.depth += 1;
        let script = Script::of(text);
        let levels = self.outer.len();
        for item in &script.items {
            match item {
                Item::Open => self.outer.push(self.place.clone()),
                Item::Close => self.place = self.outer.pop().unwrap_or_else(|| self.place.clone()),
                Item::Command(command) => self.command(command, &script.heredocs),
            }
        }
        self.outer.truncate(levels);
        self.end_pipe();
        if !script.sure {
            self.saw(ToolKind::Run);
        }
        if script.substitutes {
            self.shown = Shown::Other;
        }
        self.depth -= 1;
    }

    fn command(&mut self, command: &Command<'_>, heredocs: &[&str]) {
        if !command.piped {
            self.end_pipe();
        }
        if let Some(heredoc) = command.heredoc.and_then(|at| heredocs.get(at)) {
            // Copied only where it may be a patch, whose paths are wanted.
            self.fed = Some(heredoc)
                .filter(|text| ["*** ", "\n+++ "].iter().any(|sign| bytes::find(text.as_bytes(), sign.as_bytes()).is_some()))
                .map(|text| (*text).to_owned());
        }
        for redirect in &command.redirects {
            if redirect.writes && !is_sink(&redirect.target.text) {
                self.saw(ToolKind::Write);
                self.write(&redirect.target);
            }
        }
        let input = command.redirects.iter().find(|redirect| !redirect.writes).map(|redirect| &redirect.target);
        let piped = command.piped || command.heredoc.is_some();
        match input {
            // `sed -n 1,5p < f` shows what `sed -n 1,5p f` does; nobody else would look at a file named last.
            Some(input) if command.words.first().is_some_and(|program| programs::is_filter(&program.text)) => {
                let mut words = command.words.clone();
                words.push(input.clone());
                self.run(&words, piped);
            }
            _ => self.run(&command.words, piped || input.is_some()),
        }
    }

    /// One program and its arguments; `piped` says that it is fed.
    fn run(&mut self, words: &[Word<'_>], piped: bool) {
        let words = words::unwrapped(words);
        let Some((program, arguments)) = words.split_first() else { return };
        if self.depth >= DEEPEST || !program.literal {
            return self.does(ToolKind::Run);
        }
        self.depth += 1;
        match programs::run(self, program, arguments, piped) {
            Step::Quiet => {}
            Step::Speaks => self.showed_other(),
            Step::Filters if piped => {}
            Step::Filters => self.showed_other(),
            Step::Does(kind) => self.does(kind),
        }
        self.depth -= 1;
    }

    /// What comes through the pipe or from the files is shown, or these lines of it.
    fn passes(&mut self, filter: Filter<'_, '_>, piped: bool) -> Step {
        match (filter.files.as_slice(), piped) {
            ([], true) => {
                self.narrow(filter.lines);
                Step::Filters
            }
            ([], false) => Step::Filters,
            (files, _) => {
                self.show(files, filter.lines);
                Step::Does(ToolKind::Read)
            }
        }
    }

    /// Runs a command that another one starts. Its files may come from elsewhere, so what it shows of them is not known.
    fn behind(&mut self, inner: &[Word<'_>], piped: bool) -> Step {
        let Some(program) = inner.first() else { return Step::Speaks };
        let filters = piped && programs::is_filter(&program.text);
        self.run(inner, piped);
        self.showed_other();
        match &*program.text {
            _ if !filters => Step::Quiet,
            "grep" | "egrep" | "rg" | "ag" => Step::Does(ToolKind::Search),
            "wc" => Step::Does(ToolKind::List),
            _ => Step::Does(ToolKind::Read),
        }
    }

    /// A command of this kind came, at the head of its pipe or behind one that it outranks.
    fn does(&mut self, kind: ToolKind) {
        let search = kind == ToolKind::Search && self.pipe == Some(ToolKind::Read);
        if self.pipe.is_none() || search {
            self.pipe = Some(kind);
        } else {
            self.saw(kind);
        }
        if kind != ToolKind::Read {
            self.shown = Shown::Other;
        }
    }

    fn saw(&mut self, kind: ToolKind) {
        self.seen[kind as usize] = true;
    }

    fn end_pipe(&mut self) {
        self.fed = None;
        if let Some(kind) = self.pipe.take() {
            self.saw(kind);
        }
    }

    /// Files are shown, each of them from end to end or, with a span, the lines of it; `None` where that is not sure.
    fn show(&mut self, files: &[&Word<'_>], span: Option<Span>) {
        files.iter().for_each(|file| self.read(file));
        let only = files.first().filter(|file| files.len() == 1 && (self.place.known || is_absolute(&file.text)));
        self.shown = match (&self.shown, only.and_then(|file| self.path(file)), span) {
            (Shown::Nothing, Some(path), Some(span)) => Shown::Lines(path, span),
            _ => Shown::Other,
        };
    }

    /// A filter lets only some lines through.
    fn narrow(&mut self, lines: Option<Span>) {
        self.shown = match (std::mem::replace(&mut self.shown, Shown::Other), lines) {
            (Shown::Nothing, _) => Shown::Nothing,
            (Shown::Lines(path, span), Some(lines)) => span.narrowed(lines).map_or(Shown::Other, |span| Shown::Lines(path, span)),
            _ => Shown::Other,
        };
    }

    fn showed_other(&mut self) {
        self.shown = Shown::Other;
    }

    /// A file is looked at.
    fn read(&mut self, file: &Word<'_>) {
        if self.reads.len() == MOST_FILES || self.read_bytes > LONGEST_FILES {
            return self.saw(ToolKind::Run);
        }
        if let Some(path) = self.path(file) {
            self.read_bytes += path.len();
            add(&mut self.reads, path);
        }
    }

    /// A file is changed.
    fn write(&mut self, file: &Word<'_>) {
        if let Some(path) = self.path(file) {
            add(&mut self.writes, path);
        }
    }

    /// The patch that came through the pipe is applied.
    fn fed_patch(&mut self) {
        if let Some(text) = self.fed.take() {
            self.patch(&text);
        }
    }

    /// The files that a patch names are changed.
    fn patch(&mut self, text: &str) {
        for path in patches::files(text) {
            add(&mut self.writes, normalised(&self.place.folder, path));
        }
    }

    fn path(&self, file: &Word<'_>) -> Option<String> {
        (file.literal && !file.text.is_empty() && file.text != "-").then(|| normalised(&self.place.folder, &file.text))
    }

    /// `cd`.
    fn go(&mut self, to: Option<&Word<'_>>) {
        match to {
            Some(to) if to.literal && to.text != "-" && !to.text.is_empty() && self.place.folder.len() < LONGEST => {
                self.place.folder = normalised(&self.place.folder, &to.text);
                self.place.known |= is_absolute(&to.text);
            }
            _ => self.place = Place { folder: String::new(), known: false },
        }
    }
}

/// Whether what is written there is gone, or shown.
fn is_sink(target: &str) -> bool {
    matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "$null" | "NUL" | "nul")
}

/// A command, for people: on one line, not longer than anybody would read.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_ascii_whitespace() {
        if line.len() + word.len() > 200 {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
