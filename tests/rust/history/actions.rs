//! `history::actions`: what a call does, over a table of calls written for it, and what must hold for any input.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;
use warmfold::history::actions::{Action, same_file};
use warmfold::history::kinds::ToolKind;
use warmfold::history::paths::{file_name, normalised};
use warmfold::history::resources::Span;

const TABLE: &str = include_str!("../../fixtures/calls.tsv");

struct Row<'a> {
    tool: &'a str,
    arguments: String,
    /// The command, where it is one.
    command: Option<String>,
    expected: Vec<&'a str>,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 7, "{line}");
        let command = cells[1].strip_prefix("$ ").map(|command| command.replace('⏎', "\n"));
        let arguments = match &command {
            Some(command) => json!({ "command": command }).to_string(),
            None => cells[1].replace('⏎', "\n"),
        };
        Row { tool: cells[0], arguments, command, expected: cells[2..].to_vec() }
    })
}

fn span_of(text: &str) -> Span {
    let number = |text: &str| text.parse().unwrap_or(u64::MAX);
    text.split_once('-').map_or(Span::WHOLE, |(first, last)| Span::lines(number(first), number(last)))
}

fn kind_name(kind: ToolKind) -> &'static str {
    ToolKind::NAMES.iter().find(|(_, named)| *named == kind).expect("every kind has a name").0
}

#[test]
fn calls_are_what_the_table_says() {
    let (mut count, mut wrong) = (0, Vec::new());
    for Row { tool, arguments, command, expected } in rows() {
        count += 1;
        let action = Action::of(tool, &arguments, None, None);
        let shown = command.or_else(|| Some(serde_json::from_str::<serde_json::Value>(&arguments).ok()?.get("command")?.as_str()?.to_owned()));
        let label = action.resource.as_ref().map_or("-", |resource| &resource.label);
        let expected_label = if expected[1] == "=" { shown.as_deref().unwrap_or("") } else { expected[1] };
        let span = action.resource.as_ref().map_or(Span::WHOLE, |resource| resource.span);
        let found = (kind_name(action.kind), label, span, action.reads.join(","), action.writes.join(","));
        let wanted = (expected[0], expected_label, span_of(expected[2]), expected[3].to_owned(), expected[4].to_owned());
        // The offset of a read tool starts where the tool says; only shell lines are counted from 1 for sure.
        if found != wanted {
            wrong.push(format!("{tool} {arguments}\n   found {found:?}\n  wanted {wanted:?}"));
        }
    }
    println!("{} of {count} calls as the table says", count - wrong.len());
    assert!(count >= 150 && wrong.is_empty(), "{}", wrong.join("\n"));
}
