//! The arguments of a tool call, as far as they tell what it does.

use crate::tape::{Kind, Node};

use super::resources::FILES;

/// Arguments that hold a command line.
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine"];
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
    Text(&'t str),
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

    /// The command line: a text, or its words.
    pub(super) fn command(self) -> Option<CommandLine<'t>> {
        if let Arguments::Text(text) = self {
            return Some(CommandLine::Text(text));
        }
        let value = self.get(COMMANDS)?;
        if value.kind() == Kind::Array {
            return value.children().map(Node::text).collect::<Option<_>>().map(CommandLine::Words);
        }
        value.text().map(CommandLine::Text)
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
