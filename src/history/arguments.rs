//! The arguments of a tool call, as far as they tell what it does.

use std::borrow::Cow;

use super::paths::normalised;
use super::resources::FILES;
use crate::tape::{Kind, Node, Tape};

/// Arguments that hold a command line.
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine"];
/// Arguments that hold the words behind a program.
const WORDS: &[&str] = &["args", "arguments", "argv"];
/// What is more than a word where a host joins words to a line.
const OPERATORS: &[char] = &['|', '&', ';', '<', '>', '$', '`', '(', '\n'];
/// Arguments that hold a patch.
const PATCHES: &[&str] = &["input", "patch", "patchText", "diff", "args", "command"];
/// Arguments that hold what a file becomes.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "new_string",
    "old_string",
    "newText",
    "oldText",
    "new_str",
    "old_str",
    "new_text",
    "file_text",
    "text",
    "newString",
    "code_edit",
    "new_source",
    "insert_text",
    "replacement",
    "edits",
];
/// Arguments that say where a command runs.
const FOLDERS: &[&str] = &["workdir", "cwd", "working_directory", "working_dir", "directory", "dir_path", "Cwd"];
/// Arguments that say what is looked for.
const WANTED: &[&str] = &["pattern", "query", "regex", "search_term", "q"];

/// The arguments of one call.
#[derive(Clone, Copy)]
pub(super) enum Arguments<'t> {
    /// An object.
    Fields(Node<'t>),
    /// A tool that takes one text.
    Text(&'t str),
    /// Nothing that can be read.
    None,
}

/// What a command is handed over as.
pub(super) enum CommandLine<'t> {
    Text(Cow<'t, str>),
    Words(Vec<&'t str>),
}

impl<'t> Arguments<'t> {
    pub(super) fn of(node: Node<'t>) -> Arguments<'t> {
        match (node.kind(), node.text()) {
            (Kind::Object, _) => Arguments::Fields(node),
            (_, Some(text)) => Arguments::Text(text),
            _ => Arguments::None,
        }
    }

    /// Arguments that came as text: JSON, as far as it was one, or the one text that the tool takes.
    pub(super) fn of_text(text: &'t str, tape: Option<&'t Tape>) -> Arguments<'t> {
        match tape {
            Some(tape) => Arguments::of(tape.root()),
            None if text.trim_ascii_start().starts_with(['{', '[']) => Arguments::None,
            None => Arguments::Text(text),
        }
    }

    /// All texts that are in fields, however deep.
    pub(super) fn texts(self) -> impl Iterator<Item = &'t str> {
        let fields = if let Arguments::Fields(fields) = self { Some(fields) } else { None };
        fields.into_iter().flat_map(Node::subtree).filter_map(Node::text)
    }

    /// The first of these that is there.
    fn get(self, names: &[&str]) -> Option<Node<'t>> {
        let Arguments::Fields(fields) = self else { return None };
        names.iter().find_map(|name| fields.get(name))
    }

    fn text_of(self, names: &[&str]) -> Option<&'t str> {
        self.get(names)?.text()
    }

    pub(super) fn has_contents(self) -> bool {
        self.get(CONTENTS).is_some()
    }

    pub(super) fn has_url(self) -> bool {
        self.text_of(&["url", "uri"]).is_some()
    }

    pub(super) fn has_wanted(self) -> bool {
        self.text_of(WANTED).is_some()
    }

    /// The command of an editor, the action of a browser.
    pub(super) fn verb(self) -> Option<&'t str> {
        self.text_of(&["command", "action"])
    }

    /// The command line: a text, several of them, or its words.
    pub(super) fn command(self) -> Option<CommandLine<'t>> {
        if let Arguments::Text(text) = self {
            return Some(CommandLine::Text(text.into()));
        }
        let value = self.get(COMMANDS)?;
        let texts = |list: Node<'t>| list.children().map(Node::text).collect::<Option<Vec<_>>>();
        if value.kind() == Kind::Array {
            let lines = value.key() == Some("commands"); // of their own: none goes on in the next
            return texts(value).map(|texts| if lines { CommandLine::Text(texts.join("\n\n").into()) } else { CommandLine::Words(texts) });
        }
        let command = value.text()?;
        Some(match self.get(WORDS).map(|words| (words, words.text())) {
            Some((_, Some(words))) => CommandLine::Text([command, words].join(" ").into()),
            Some((words, None)) if !words.is_empty() => CommandLine::Words([vec![command], texts(words)?].concat()),
            _ => CommandLine::Text(command.into()),
        })
    }

    /// Whether a command line is all that says what is run, and where it is run is a shell that we read.
    pub(super) fn is_plain_command(self) -> bool {
        let Arguments::Fields(fields) = self else { return true };
        let commands = COMMANDS.iter().filter(|name| fields.get(name).is_some()).count();
        // Where a host joins them to a line, a word with a space is two.
        let is_word = |word: Node<'_>| word.text().is_some_and(|word| !word.contains(OPERATORS) && !word.contains(' '));
        let starts_shell = |words: Node<'_>| {
            words.len() == 3 && words.children().nth(1).and_then(Node::text).is_some_and(|flag| flag.starts_with('-') && flag.ends_with('c'))
        };
        let are_words = |words: Node<'_>| words.key() == Some("commands") || starts_shell(words) || words.children().all(is_word);
        commands == 1
            && self.get(COMMANDS).is_some_and(are_words)
            && self.get(WORDS).is_none_or(|words| words.children().all(is_word))
            && self.get(&["env", "environment", "language", "interpreter"]).is_none()
            && self.get(&["restart"]).is_none_or(|restart| restart.kind() == Kind::False)
            && self.text_of(&["shell"]).is_none_or(|shell| !shell.to_ascii_lowercase().contains("cmd"))
    }

    /// Whether the command goes to a program that runs already.
    pub(super) fn is_input(self) -> bool {
        self.get(&["is_input"]).is_some_and(|value| value.kind() == Kind::True || value.text() == Some("true"))
    }

    /// Where the command runs.
    pub(super) fn folder(self) -> &'t str {
        const LONGEST: usize = 4096; // no system takes a longer one, and each file of a line is told from it
        self.text_of(FOLDERS).filter(|folder| folder.len() <= LONGEST).unwrap_or("")
    }

    /// The patch.
    pub(super) fn patch(self) -> Option<&'t str> {
        match self {
            Arguments::Text(text) => Some(text),
            _ => self.text_of(PATCHES),
        }
    }

    /// What the arguments of these names name: files, or whatever else the host says that a call is about, told apart by the argument.
    pub(super) fn named(self, names: &[String]) -> Vec<String> {
        let value = |name: &String| {
            let text = self.text_of(&[name]).filter(|text| !text.is_empty())?;
            Some(if FILES.contains(&name.as_str()) { normalised("", text) } else { [name, ":", text].concat() })
        };
        names.iter().filter_map(value).collect()
    }

    /// The files that are named, in lists and in lists of edits too.
    pub(super) fn files(self) -> Vec<&'t str> {
        let mut files = Vec::new();
        if let Arguments::Fields(fields) = self {
            files_of(fields, &mut files, 0);
        }
        files.retain(|file| !file.is_empty());
        files
    }
}

fn files_of<'t>(fields: Node<'t>, files: &mut Vec<&'t str>, depth: usize) {
    for field in fields.children() {
        let name = field.key().unwrap_or("");
        match field.text() {
            Some(path) if FILES.contains(&name) || ["source", "destination", "old_path", "new_path"].contains(&name) => files.push(path),
            None if ["paths", "files", "edits", "file_paths", "replacements"].contains(&name) => {
                for item in field.children() {
                    files.extend(item.text());
                    if item.kind() == Kind::Object && depth < 3 {
                        files_of(item, files, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}
