//! Which kind of content a result is, told from the call and from its first lines.

use super::{Source, diff, search, table};
use crate::history::kinds::ToolKind;

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// Source code.
    Code,
    /// Changes to files.
    Diff,
    /// JSON.
    Json,
    /// Names of files.
    Listing,
    /// What a command prints.
    Log,
    /// Text for people.
    Prose,
    /// Hits in files.
    Search,
    /// Rows and columns.
    Table,
}

impl ContentKind {
    /// What the call says goes first, then how the text begins.
    pub fn of(source: &Source<'_>) -> ContentKind {
        let start = source.text.trim_ascii_start();
        if diff::is_diff(source.text) {
            return ContentKind::Diff;
        }
        if super::is_envelope(source.text) {
            return ContentKind::Log;
        }
        if is_json(start) {
            return ContentKind::Json;
        }
        match source.kind {
            ToolKind::Search if search::is_web(source.text) => ContentKind::Prose,
            ToolKind::Search => ContentKind::Search,
            ToolKind::List => ContentKind::Listing,
            ToolKind::Fetch if is_table(start) => ContentKind::Table,
            ToolKind::Fetch => ContentKind::Prose,
            ToolKind::Read => by_name(source.about.unwrap_or("")),
            ToolKind::Run | ToolKind::Other if search::is_search(source.text) => ContentKind::Search,
            _ if is_table(start) => ContentKind::Table,
            _ if is_prose(start) => ContentKind::Prose,
            _ => ContentKind::Log,
        }
    }
}

/// Whether a text begins as JSON does, and no log does: not as in `[INFO] it runs` or `[1/5] it runs`.
fn is_json(start: &str) -> bool {
    let inside = |open: char| start.strip_prefix(open).map(str::trim_ascii_start);
    let begins = |text: &str, with: &str| text.starts_with(|first: char| with.contains(first));
    if let Some(rest) = inside('[') {
        let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || "-.eE+".contains(letter)).trim_ascii_start();
        let words = ["true", "false", "null"].iter().any(|word| rest.starts_with(word));
        return begins(rest, "{[\"") || words || (number.len() < rest.len() && begins(number, ","));
    }
    inside('{').is_some_and(|rest| begins(rest, "\"}"))
}

/// Whether a table begins: ruled under its first line or around it, tabs or capitals at equal places.
fn is_table(start: &str) -> bool {
    let mut lines = start.lines();
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    let tabs = |line: &str| line.matches('\t').count();
    let is_cell = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase() || b"_-%()/#".contains(&byte));
    let cells = || first.split("  ").map(str::trim_ascii).filter(|cell| !cell.is_empty());
    (table::is_rule(second) && first.contains('|'))
        || (table::is_rule(first) && first.starts_with(['+', '\u{250c}']))
        || (tabs(first) >= 2 && lines.take(3).chain([second]).all(|line| tabs(line) == tabs(first)))
        || (cells().count() >= 3 && cells().all(|cell| cell.split(' ').all(is_cell)))
}

/// Whether a text begins with a heading of Markdown.
fn is_prose(start: &str) -> bool {
    start.starts_with("# ") && start.lines().any(|line| line.starts_with("## "))
}

fn by_name(name: &str) -> ContentKind {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "md" | "txt" | "rst" | "adoc" | "html" => ContentKind::Prose,
        "csv" | "tsv" => ContentKind::Table,
        "diff" | "patch" => ContentKind::Diff,
        "log" => ContentKind::Log,
        _ => ContentKind::Code,
    }
}
