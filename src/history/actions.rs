//! What a tool call does, what it is about, and which files it reads and changes.
//!
//! The host's word goes first; then the table of known tools, the words of the name, and the arguments. A shell command is read as a
//! command ([`Line`]).
//!
//! ```
//! use warmfold::history::{actions::Action, kinds::ToolKind};
//!
//! let action = Action::of("bash", r#"{"command": "cd /repo && cat src/a.rs | head -50"}"#, None, None);
//! assert_eq!((action.kind, action.reads), (ToolKind::Read, vec!["/repo/src/a.rs".to_owned()]));
//!
//! let action = Action::of("Edit", r#"{"file_path": "/repo/src/a.rs", "old_string": "1", "new_string": "2"}"#, None, None);
//! assert_eq!((action.kind, action.writes), (ToolKind::Write, vec!["/repo/src/a.rs".to_owned()]));
//! ```

use super::arguments::{Arguments, CommandLine};
use super::kinds::ToolKind;
use super::kinds::tools::{self, Tool};
use super::patches;
use super::paths::{add, file_name, normalised};
use super::resources::Resource;
use super::shell::{Line, one_line};
use crate::tape::{Node, Tape};

pub use super::paths::same_file;

/// What a tool call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Its kind.
    pub kind: ToolKind,
    /// What it shows, for calls that can be compared. Keys tell calls of one tool apart; two tools may have the same.
    pub resource: Option<Resource>,
    /// Files that it shows, as normalised paths; empty where it is not about files, or not about named ones.
    pub reads: Vec<String>,
    /// Files that it changes.
    pub writes: Vec<String>,
}

impl Action {
    /// Reads a call. `kind` is the host's word on the tool, `own` the names of the arguments that the host says make its resource.
    pub fn of(tool: &str, arguments: &str, kind: Option<ToolKind>, own: Option<&[String]>) -> Action {
        let tape = Tape::from_json(arguments).ok();
        Action::read(tool, Arguments::of_text(arguments, tape.as_ref()), kind, own)
    }

    /// The same of arguments that are on a tape: JSON text, or the value itself where the format has it so.
    pub fn of_node(tool: &str, arguments: Node<'_>, kind: Option<ToolKind>, own: Option<&[String]>) -> Action {
        match arguments.text() {
            Some(text) => Action::of(tool, text, kind, own),
            None => Action::read(tool, Arguments::of(arguments), kind, own),
        }
    }

    fn read(tool: &str, arguments: Arguments<'_>, kind: Option<ToolKind>, own: Option<&[String]>) -> Action {
        let known = tools::find(tool).or_else(|| ToolKind::of_words(tool).map(Tool::Is));
        let told = told(known, arguments);
        let line = if told.is_shell && own.is_none() { line(arguments) } else { None };
        match line.filter(|line| kind.is_none_or(|kind| kind == line.kind)) {
            Some(Line { kind, resource, reads, writes }) => Action { kind, resource, reads, writes },
            None => plain(kind.unwrap_or(told.kind), arguments, own),
        }
    }
}

/// The command line that a call hands to a shell, on one line.
pub fn command_line(tool: &str, arguments: Node<'_>) -> Option<String> {
    let tape = arguments.text().and_then(|text| Tape::from_json(text).ok());
    let arguments = arguments.text().map_or_else(|| Arguments::of(arguments), |text| Arguments::of_text(text, tape.as_ref()));
    let known = tools::find(tool).or_else(|| ToolKind::of_words(tool).map(Tool::Is));
    match arguments.command().filter(|_| told(known, arguments).is_shell)? {
        CommandLine::Text(text) => Some(one_line(&text)),
        CommandLine::Words(words) => Some(one_line(&words.join(" "))),
    }
}

/// What name and arguments tell.
struct Told {
    kind: ToolKind,
    is_shell: bool,
}

fn told(known: Option<Tool>, arguments: Arguments<'_>) -> Told {
    let is = |kind| Told { kind, is_shell: false };
    let shell = Told { kind: ToolKind::Run, is_shell: true };
    match known {
        Some(Tool::Shell) if arguments.is_input() => is(ToolKind::Run),
        Some(Tool::Shell) => shell,
        Some(Tool::Is(ToolKind::Run)) if matches!(arguments, Arguments::Fields(_)) && arguments.command().is_some() => shell,
        Some(Tool::Editor) if arguments.verb() == Some("view") => is(ToolKind::Read),
        Some(Tool::Screen) => is(match arguments.verb() {
            Some("screenshot" | "launch" | "navigate" | "get_text" | "zoom" | "cursor_position" | "read_page" | "snapshot" | "goto") => {
                ToolKind::Fetch
            }
            Some(_) => ToolKind::Write,
            None if arguments.has_url() => ToolKind::Fetch,
            None => ToolKind::Run,
        }),
        Some(tool) => is(tool.kind()),
        None if matches!(arguments, Arguments::Fields(_)) && arguments.command().is_some() => shell,
        None if !arguments.files().is_empty() => is(if arguments.has_contents() { ToolKind::Write } else { ToolKind::Read }),
        None if arguments.has_wanted() => is(ToolKind::Search),
        None if arguments.has_url() => is(ToolKind::Fetch),
        None => is(ToolKind::Other),
    }
}

fn line(arguments: Arguments<'_>) -> Option<Line> {
    let folder = normalised("", arguments.folder());
    match arguments.command()? {
        CommandLine::Text(text) => Some(Line::of(&text, &folder)),
        CommandLine::Words(words) => Some(Line::of_words(&words, &folder)),
    }
}

/// A call that is what its kind says.
fn plain(kind: ToolKind, arguments: Arguments<'_>, own: Option<&[String]>) -> Action {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let files: Vec<String> = match own {
        Some(own) => arguments.named(own),
        None => arguments.files().into_iter().map(|file| normalised("", file)).collect(),
    };
    for path in files {
        match kind {
            ToolKind::Read => add(&mut reads, path),
            // The place that is searched is a file, or a folder.
            ToolKind::Search if file_name(&path).trim_start_matches('.').contains('.') => add(&mut reads, path),
            ToolKind::Write => add(&mut writes, path),
            _ => {}
        }
    }
    if let Some(patch) = arguments.patch().filter(|_| kind == ToolKind::Write) {
        patches::files(patch).for_each(|file| add(&mut writes, normalised("", file)));
    }
    let resource = match arguments {
        Arguments::Fields(fields) => Resource::of_node(kind, fields, own),
        _ => None,
    };
    Action { kind, resource, reads, writes }
}
