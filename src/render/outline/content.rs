//! Which kind of content a result is, told from the call and from its first lines.

use super::{Source, diff, search};
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
        if start.starts_with(['{', '[']) && !super::has_escaped_lines(source.text) {
            return ContentKind::Json;
        }
        match source.kind {
            ToolKind::Search => ContentKind::Search,
            ToolKind::List => ContentKind::Listing,
            ToolKind::Fetch => ContentKind::Prose,
            ToolKind::Read => by_name(source.about.unwrap_or("")),
            ToolKind::Run | ToolKind::Other if search::is_search(source.text) => ContentKind::Search,
            _ => ContentKind::Log,
        }
    }
}

fn by_name(name: &str) -> ContentKind {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "md" | "txt" | "rst" | "adoc" => ContentKind::Prose,
        "csv" | "tsv" => ContentKind::Table,
        "diff" | "patch" => ContentKind::Diff,
        "log" => ContentKind::Log,
        _ => ContentKind::Code,
    }
}
