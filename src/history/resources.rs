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

use std::borrow::Cow;

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
        Resource::of_node(kind, Tape::from_json(arguments).ok()?.root(), own)
    }

    /// The same of arguments that are on a tape.
    pub(super) fn of_node(kind: ToolKind, arguments: Node<'_>, own: Option<&[String]>) -> Option<Resource> {
        if arguments.kind() != Kind::Object || (own.is_none() && !kind.has_source()) {
            return None;
        }
        let mut fields = fields_of(arguments);
        fields.retain(|(name, _)| own.is_some() || !PROSE.contains(name));
        let (span, names) = if kind == ToolKind::Read { read_span(&fields) } else { None }.unwrap_or((Span::WHOLE, [None; 3]));
        if let Some(own) = own {
            let label = get(&fields, own.first()?).map(text_of)?;
            fields.retain(|(name, _)| own.iter().any(|own| own == name));
            return Some(Resource { key: key_of(&fields, &[]), label, span });
        }
        fields.retain(|(name, _)| !names.contains(&Some(name)));
        let primary = FILES
            .iter()
            .chain(PRIMARY)
            .find_map(|name| get(&fields, name))
            .or_else(|| fields.iter().map(|(_, field)| *field).find(looks_like_a_name));
        let label = match primary {
            Some(value) => text_of(value),
            None if fields.is_empty() && kind == ToolKind::List => String::new(),
            None => return None,
        };
        Some(Resource { key: key_of(&fields, FILES), label, span })
    }
}

fn get<'t>(fields: &[(&str, Node<'t>)], name: &str) -> Option<Node<'t>> {
    fields.iter().find(|(known, _)| *known == name).map(|(_, field)| *field)
}

/// The fields of an object: keys ascend, and of those that are there twice the last one counts.
fn fields_of(object: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let mut fields: Vec<(usize, &str, Node<'_>)> = object.children().enumerate().map(|(at, field)| (at, field.key().unwrap_or(""), field)).collect();
    fields.sort_unstable_by(|(at, key, _), (other_at, other, _)| key.cmp(other).then(other_at.cmp(at)));
    fields.dedup_by(|(_, later, _), (_, earlier, _)| later == earlier);
    fields.into_iter().map(|(_, key, field)| (key, field)).collect()
}

/// What tells these fields from others; those that are `paths` count normalised.
fn key_of(fields: &[(&str, Node<'_>)], paths: &[&str]) -> String {
    const UNIT: char = '\u{1f}'; // ASCII's own separators
    const RECORD: char = '\u{1e}';
    let mut key = String::new();
    for (name, field) in fields {
        key.push_str(name);
        key.push(UNIT);
        match short(*field) {
            Some(path) if paths.contains(name) => key.push_str(&normalised("", &path)),
            Some(text) => key.push_str(&text),
            None => key.extend([UNIT.to_string(), field.to_json().to_string()]),
        }
        key.push(RECORD);
    }
    key
}

/// Its text; a long one is known by its fingerprint.
fn short(field: Node<'_>) -> Option<Cow<'_, str>> {
    const LONG: usize = 8192;
    field.text().map(|text| if text.len() > LONG { tape::hex(tape::fingerprint(text)).into() } else { text.into() })
}

fn text_of(field: Node<'_>) -> String {
    if let Some(text) = short(field) {
        return text.into_owned();
    }
    let texts = || field.children().map(Node::text).collect::<Option<Vec<&str>>>();
    let list = if field.kind() == Kind::Array { texts() } else { None };
    list.map_or_else(|| field.to_json().to_string(), |texts| texts.join(", "))
}

fn looks_like_a_name(field: &Node<'_>) -> bool {
    short(*field).is_some_and(|text| text.contains(['/', '.', '\\']) && !text.contains(char::is_whitespace))
}

/// The lines, and the arguments that say so, which are then no part of the resource: what cannot be read as lines stays, and must be
/// equal. A negative number, which some tools count from the end, is not read.
fn read_span(fields: &[(&str, Node<'_>)]) -> Option<(Span, [Option<&'static str>; 3])> {
    if let Some((name, span)) = RANGES.iter().find_map(|name| Some((*name, get(fields, name).and_then(range_of)?))) {
        return Some((span, [Some(name), None, None]));
    }
    let find = |names: &'static [&'static str]| names.iter().find_map(|name| Some((*name, get(fields, name).and_then(number_of)?)));
    let (start, end, length) = (find(STARTS), find(ENDS), find(LENGTHS));
    let names = [start, end, length].map(|found| found.map(|(name, _)| name));
    let first = u64::try_from(start.map_or(0, |(_, start)| start)).ok()?;
    let past = match (end, length) {
        (None, None) => u64::MAX,
        (Some((_, end)), None) => past_end(first, end)?,
        (None, Some((_, length))) => u64::try_from(length).ok().filter(|length| *length > 0)?.saturating_add(first),
        (Some(_), Some(_)) => return None,
    };
    // Behind a start, a number that we do not know may be a length.
    let unknown = || fields.iter().any(|(name, field)| !names.contains(&Some(name)) && number_of(*field).is_some());
    (!(past == u64::MAX && first > 0 && unknown())).then_some((Span { start: first, end: past }, names))
}

/// One past the last line; -1 says "to the end".
fn past_end(first: u64, end: i64) -> Option<u64> {
    match u64::try_from(end) {
        Ok(end) => (end >= first).then(|| end.saturating_add(1)),
        Err(_) => (end == -1).then_some(u64::MAX),
    }
}

fn range_of(field: Node<'_>) -> Option<Span> {
    let (start, end) = match short(field) {
        Some(text) => {
            let (start, end) = text.split_once(['-', ':', ','])?;
            (start.trim_ascii().parse().ok()?, end.trim_ascii().parse().ok()?)
        }
        None if field.kind() == Kind::Array && field.len() == 2 => {
            let mut ends = field.children().map(number_of);
            (ends.next()??, ends.next()??)
        }
        None => return None,
    };
    let start = u64::try_from(start).ok()?;
    Some(Span { start, end: past_end(start, end)? })
}

fn number_of(field: Node<'_>) -> Option<i64> {
    match short(field) {
        Some(text) => text.trim_ascii().parse().ok(),
        None => field.number().filter(|number| number.is_finite()).map(|number| number as i64),
    }
}
