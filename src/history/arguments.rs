//! The arguments of a tool call, as far as they tell what it does: what is written to a file is passed over, not copied.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::resources::FILES;
use crate::tape;

/// A longer text is known by its fingerprint, unless it is one that is read: a command or a patch.
const LONG: usize = 8192;

/// Arguments that hold a command line.
const COMMANDS: &[&str] = &["command", "cmd", "commands", "script", "CommandLine", "command_line"];
/// Arguments that hold a patch.
const PATCHES: &[&str] = &["input", "patch", "patchText", "patch_text", "diff", "args"];
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
    "old_text",
    "file_text",
    "text",
    "newString",
    "oldString",
    "code_edit",
    "new_source",
    "insert_text",
    "replacement",
    "replace",
    "replacements",
    "edits",
    "file_content",
];
/// Arguments that say where a command runs.
const FOLDERS: &[&str] = &["workdir", "cwd", "working_directory", "workingDirectory", "working_dir", "directory", "dir_path", "Cwd"];
/// Arguments that say what is looked for.
const WANTED: &[&str] = &["pattern", "query", "regex", "search_term", "q", "search_query"];

/// The arguments of one call.
pub(super) enum Arguments {
    Fields(Map<String, Value>),
    /// A tool that takes one text.
    Text(String),
    /// Nothing that can be read.
    None,
}

impl Arguments {
    /// Reads them; `skim` passes over what is written to files.
    pub(super) fn read(text: &str, skim: bool) -> Arguments {
        let mut json = serde_json::Deserializer::from_str(text);
        let value = Seed { skim, longest: LONG }.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
        match value {
            Ok(Value::Object(fields)) => Arguments::Fields(fields),
            Ok(Value::String(text)) => Arguments::Text(text),
            Err(_) if !text.trim_ascii_start().starts_with(['{', '[']) => Arguments::Text(text.to_owned()),
            _ => Arguments::None,
        }
    }

    fn text_of(&self, names: &[&str]) -> Option<&str> {
        let Arguments::Fields(fields) = self else { return None };
        names.iter().find_map(|name| fields.get(*name)?.as_str())
    }

    pub(super) fn has_contents(&self) -> bool {
        matches!(self, Arguments::Fields(fields) if CONTENTS.iter().any(|name| fields.contains_key(*name)))
    }

    pub(super) fn has_url(&self) -> bool {
        self.text_of(&["url", "uri"]).is_some()
    }

    pub(super) fn has_wanted(&self) -> bool {
        self.text_of(WANTED).is_some()
    }

    /// The command of an editor, the action of a browser.
    pub(super) fn verb(&self) -> Option<&str> {
        self.text_of(&["command", "action"])
    }

    /// The command line: a text, or its words.
    pub(super) fn command(&self) -> Option<CommandLine<'_>> {
        let fields = match self {
            Arguments::Fields(fields) => fields,
            Arguments::Text(text) => return Some(CommandLine::Text(text)),
            Arguments::None => return None,
        };
        let value = COMMANDS.iter().find_map(|name| fields.get(*name));
        match value.or_else(|| fields.get("action")?.get("command"))? {
            Value::String(text) => Some(CommandLine::Text(text)),
            Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>().map(CommandLine::Words),
            _ => None,
        }
    }

    /// Whether the command goes to a program that runs already.
    pub(super) fn is_input(&self) -> bool {
        matches!(self, Arguments::Fields(fields) if fields.get("is_input").is_some_and(|value| value == true || value == "true"))
    }

    /// Where the command runs.
    pub(super) fn folder(&self) -> &str {
        self.text_of(FOLDERS).unwrap_or("")
    }

    /// The patch.
    pub(super) fn patch(&self) -> Option<&str> {
        match self {
            Arguments::Text(text) => Some(text),
            _ => self.text_of(PATCHES).or_else(|| self.text_of(COMMANDS)),
        }
    }

    /// The files that are named, in order, in lists and in lists of edits too.
    pub(super) fn files(&self) -> Vec<&str> {
        let Arguments::Fields(fields) = self else { return Vec::new() };
        let mut files = Vec::new();
        let pairs = ["source", "destination", "old_path", "new_path", "source_path", "destination_path"];
        files_of(fields, &mut files, 0);
        files.extend(pairs.iter().filter_map(|name| fields.get(*name)?.as_str()));
        files.retain(|file| !file.is_empty());
        files
    }
}

/// What a command is handed over as.
pub(super) enum CommandLine<'a> {
    Text(&'a str),
    Words(Vec<&'a str>),
}

fn files_of<'a>(fields: &'a Map<String, Value>, files: &mut Vec<&'a str>, depth: usize) {
    files.extend(FILES.iter().filter_map(|name| fields.get(*name)?.as_str()));
    for value in ["paths", "files", "edits", "file_paths", "replacements", "operations"].iter().filter_map(|name| fields.get(*name)) {
        for item in value.as_array().into_iter().flatten() {
            match item {
                Value::String(path) => files.push(path),
                Value::Object(fields) if depth < 3 => files_of(fields, files, depth + 1),
                _ => {}
            }
        }
    }
}

/// Reads a value without its long texts.
#[derive(Clone, Copy)]
struct Seed {
    skim: bool,
    longest: usize,
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(if text.len() <= self.longest { text.to_owned() } else { format!("#{}", tape::hex(tape::fingerprint(text))) }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let is_read = COMMANDS.contains(&name.as_str()) || PATCHES.contains(&name.as_str());
            let value = if self.skim && name != "edits" && name != "replacements" && CONTENTS.contains(&name.as_str()) {
                fields.next_value::<IgnoredAny>()?;
                Value::Null
            } else {
                fields.next_value_seed(Seed { longest: if is_read { usize::MAX } else { self.longest }, ..self })?
            };
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}
