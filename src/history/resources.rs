//! What a tool call is about.
//!
//! Two calls are about the same resource where the tool and all arguments agree, ranges and prose ("explanation") apart; whether the
//! later one shows all that the earlier one showed is a question to their [`Span`]s.
//!
//! ```
//! use warmfold::history::{kinds::ToolKind, resources::Resource};
//!
//! let whole = Resource::of(ToolKind::Read, r#"{"path": "a.rs"}"#, None).unwrap();
//! let part = Resource::of(ToolKind::Read, r#"{"path": "a.rs", "offset": 200, "limit": 50}"#, None).unwrap();
//! assert_eq!(whole.key, part.key);
//! assert!(whole.span.covers(part.span) && !part.span.covers(whole.span));
//! ```

use serde_json::{Map, Value};

use super::kinds::ToolKind;
use super::paths::normalised;
use crate::tape::{self, Kind, Node, Tape};

/// The lines of a resource that a call shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u64,
    /// One past the last line; `u64::MAX` for "to the end".
    end: u64,
}

impl Span {
    /// All of it.
    pub const WHOLE: Span = Span { start: 0, end: u64::MAX };

    /// The lines from `first` to `last`, counted from 1; `u64::MAX` for "to the end".
    pub const fn lines(first: u64, last: u64) -> Span {
        Span { start: first, end: last.saturating_add(1) }
    }

    /// Of these lines, the ones that stand at `lines` among them; `None` where there are none.
    pub(super) fn narrowed(self, lines: Span) -> Option<Span> {
        let before = self.start.max(1) - 1;
        let end = lines.end.saturating_add(before).min(self.end);
        let start = lines.start.saturating_add(before);
        (start < end).then_some(Span { start, end })
    }

    /// Whether everything of `other` is in it. A read "to the end" is trusted to show so many lines and no more, since tools have a limit.
    pub fn covers(self, other: Span) -> bool {
        const REACH: u64 = 2000;
        match (self.end, other.end) {
            (u64::MAX, u64::MAX) => self.start <= other.start && other.start - self.start < REACH,
            (u64::MAX, end) => self.start <= other.start && end <= self.start + REACH,
            (end, other_end) => self.start <= other.start && other_end <= end,
        }
    }
}

/// What a tool call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Equal for two calls about the same thing.
    pub key: String,
    /// The primary argument, for people.
    pub label: String,
    /// Which lines of it.
    pub span: Span,
}

/// Arguments that name a file.
pub(super) const FILES: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "file_name",
    "absolute_path",
    "AbsolutePath",
    "target_file",
    "TargetFile",
    "relative_path",
    "relative_workspace_path",
    "notebook_path",
];
/// Behind these, the arguments that name something else.
const PRIMARY: &[&str] =
    &["paths", "files", "uri", "url", "key", "directory", "dir", "dir_path", "target_directory", "folder", "pattern", "query", "id", "name"];
const PROSE: &[&str] = &["explanation", "description", "reason", "reasoning", "thought", "rationale", "justification", "purpose"];
const STARTS: &[&str] =
    &["offset", "line_offset", "start", "start_line", "startLine", "line_start", "lineStart", "from_line", "begin_line", "start_line_one_indexed"];
const ENDS: &[&str] = &["end", "end_line", "endLine", "line_end", "lineEnd", "to_line", "end_line_one_indexed_inclusive"];
const LENGTHS: &[&str] = &["limit", "line_limit", "num_lines", "line_count", "length", "count", "max_lines"];
const RANGES: &[&str] = &["view_range", "line_range", "lineRange", "range", "lines"];

impl Resource {
    /// Reads a call's arguments. `None` where they do not tell what it is about, or the kind shows nothing that can be shown again.
    /// `own` names the arguments that make the resource, where the host knows better.
    pub fn of(kind: ToolKind, arguments: &str, own: Option<&[String]>) -> Option<Resource> {
        let tape = Tape::from_json(arguments).ok()?;
        Resource::of_node(kind, tape.root(), own)
    }

    /// The same of arguments that are on a tape.
    pub(super) fn of_node(kind: ToolKind, arguments: Node<'_>, own: Option<&[String]>) -> Option<Resource> {
        if arguments.kind() != Kind::Object || (own.is_none() && !kind.has_source()) {
            return None;
        }
        let mut fields = Map::new();
        for field in arguments.children() {
            fields.insert(field.key().unwrap_or("").to_owned(), short(field));
        }
        if let Some(own) = own {
            let label = own.first().and_then(|name| fields.get(name)).map(text_of)?;
            let mut mine = Map::new();
            for name in own {
                mine.extend(fields.get(name).map(|value| (name.clone(), value.clone())));
            }
            let span = if kind == ToolKind::Read { take_span(&mut fields) } else { Span::WHOLE };
            return Some(Resource { key: Value::Object(mine).to_string(), label, span });
        }
        fields.retain(|name, _| !PROSE.contains(&name.as_str()));
        let span = if kind == ToolKind::Read { take_span(&mut fields) } else { Span::WHOLE };
        let primary =
            FILES.iter().chain(PRIMARY).find_map(|name| fields.get(*name)).or_else(|| fields.values().find(|value| looks_like_a_name(value)));
        let label = match primary {
            Some(value) => text_of(value),
            None if fields.is_empty() && kind == ToolKind::List => String::new(),
            None => return None,
        };
        for (name, value) in &mut fields {
            if let Value::String(path) = value
                && FILES.contains(&name.as_str())
            {
                *path = normalised("", path);
            }
        }
        Some(Resource { key: Value::Object(fields).to_string(), label, span })
    }
}

/// A long text is known by its fingerprint.
fn short(field: Node<'_>) -> Value {
    const LONG: usize = 8192;
    field.text().filter(|text| text.len() > LONG).map_or_else(|| field.to_json(), |text| Value::String(tape::hex(tape::fingerprint(text))))
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) if values.iter().all(Value::is_string) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

fn looks_like_a_name(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(['/', '.', '\\']) && !text.contains(char::is_whitespace))
}

/// Takes the arguments that say which lines out of the call; what cannot be read as lines stays, and must then be equal.
fn take_span(fields: &mut Map<String, Value>) -> Span {
    read_span(fields).map_or(Span::WHOLE, |(span, names)| {
        names.iter().for_each(|name| _ = fields.remove(*name));
        span
    })
}

/// The lines, and the arguments that say so. A negative number, which some tools count from the end, is not read.
fn read_span(fields: &Map<String, Value>) -> Option<(Span, Vec<&'static str>)> {
    if let Some((name, span)) = RANGES.iter().find_map(|name| Some((*name, fields.get(*name).and_then(range_of)?))) {
        return Some((span, vec![name]));
    }
    let find = |names: &'static [&'static str]| names.iter().find_map(|name| Some((*name, fields.get(*name).and_then(number_of)?)));
    let (start, end, length) = (find(STARTS), find(ENDS), find(LENGTHS));
    let names: Vec<&'static str> = [start, end, length].into_iter().flatten().map(|(name, _)| name).collect();
    let first = u64::try_from(start.map_or(0, |(_, start)| start)).ok()?;
    let past = match (end, length) {
        (None, None) => u64::MAX,
        (Some((_, end)), None) => past_end(first, end)?,
        (None, Some((_, length))) => u64::try_from(length).ok().filter(|length| *length > 0)?.saturating_add(first),
        (Some(_), Some(_)) => return None,
    };
    // Behind a start, a number that we do not know may be a length.
    let unknown = fields.iter().any(|(name, value)| !names.contains(&name.as_str()) && number_of(value).is_some());
    (!(past == u64::MAX && first > 0 && unknown)).then_some((Span { start: first, end: past }, names))
}

/// One past the last line; -1 says "to the end".
fn past_end(first: u64, end: i64) -> Option<u64> {
    match u64::try_from(end) {
        Ok(end) => (end >= first).then(|| end.saturating_add(1)),
        Err(_) => (end == -1).then_some(u64::MAX),
    }
}

fn range_of(value: &Value) -> Option<Span> {
    let (start, end) = match value {
        Value::Array(ends) if ends.len() == 2 => (number_of(&ends[0])?, number_of(&ends[1])?),
        Value::String(text) => {
            let (start, end) = text.split_once(['-', ':', ','])?;
            (start.trim_ascii().parse().ok()?, end.trim_ascii().parse().ok()?)
        }
        _ => return None,
    };
    let start = u64::try_from(start).ok()?;
    Some(Span { start, end: past_end(start, end)? })
}

fn number_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)),
        Value::String(text) => text.trim_ascii().parse().ok(),
        _ => None,
    }
}
