//! Source code: what a file declares and imports, then what stands right behind it. Lines are told by their first words, in any language;
//! a gap names the lines that it hides, in the text's own numbers where it has some.

use std::ops::Range;

use super::{BESIDE, Outline, Source, bare, lines, lines_gone, ranked, rest_of_result};
use crate::bytes;
use crate::history::failures;

/// First words of a line that brings names in.
const IMPORTS: &[&str] = &["import", "use", "from", "#include", "using", "package", "require", "require_relative", "extern", "source"];

/// First words of a declaration; what stands at the end of one may stand before it, too (`pub`, `async`).
const DECLARATIONS: &[&str] = &[
    "fn",
    "pub",
    "def",
    "class",
    "struct",
    "interface",
    "impl",
    "type",
    "enum",
    "trait",
    "mod",
    "module",
    "func",
    "function",
    "export",
    "abstract",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "async",
    "object",
    "record",
    "sealed",
    "fun",
    "macro_rules",
    "macro",
    "template",
    "typedef",
    "union",
    "namespace",
    "open",
    "override",
    "final",
    "virtual",
    "inline",
    "constexpr",
    "unsafe",
    "declare",
    "defmodule",
    "defp",
    "defmacro",
    "protocol",
    "extension",
    "sub",
    "data",
    "CREATE",
    "create",
    "describe",
    "it",
    "test",
    "resource",
    "service",
    "message",
];

/// First words of a declaration that stands at the margin; elsewhere they begin statements.
const VALUES: &[&str] = &["const", "let", "var", "val", "static", "define", "#define", "lazy", "module.exports", "exports"];

/// First words of what takes brackets and a block, and declares nothing.
const STATEMENTS: &[&str] = &[
    "if", "for", "while", "switch", "match", "catch", "else", "loop", "with", "return", "do", "try", "case", "await", "throw", "elif", "new", "when",
];

/// Of so many imports the first stay as long as declarations do.
const FIRST_IMPORTS: usize = 12;

/// What a line of code is, and how deep it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Import,
    Declaration(usize),
    Value,
    Body,
    Comment,
    Empty,
}

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let numbered = is_numbered(source.text);
    let mut imports = 0;
    let failed = failures::is_error(source.text);
    let rank = |at: usize, line: &str| {
        let line = bare(line);
        if (failed && at == 0) || rest_of_result(&line) {
            return Some(0);
        }
        Some(match told(if numbered { without_number(&line) } else { &line }) {
            Line::Import => {
                imports += 1;
                if imports <= FIRST_IMPORTS { 2 } else { 4 }
            }
            Line::Declaration(0) => 2,
            Line::Declaration(1) => 3,
            Line::Value => 4,
            Line::Declaration(_) => 5,
            Line::Body | Line::Comment => BESIDE,
            Line::Empty => BESIDE,
        })
    };
    let is_command = source.about.is_some_and(|about| about.contains(' '));
    Outline {
        stretches: ranked(source.text, rank),
        gap: match (numbered, is_command) {
            (true, _) => own_numbers,
            (false, true) => lines_gone, // of which part of a file is not known
            (false, false) => counted,
        },
    }
}

/// Tells a line by its first word.
pub(super) fn told(line: &str) -> Line {
    let (mut code, mut depth) = (line, 0_usize);
    // A tab of a JSON envelope is escaped.
    while let Some((rest, width)) = [(" ", 1), ("\t", 4), ("\\t", 4)].iter().find_map(|(space, width)| Some((code.strip_prefix(space)?, width))) {
        code = rest;
        depth += width;
    }
    let (code, depth) = (code.trim_end(), depth.div_ceil(4));
    if !code.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80) {
        return Line::Empty;
    }
    let word = first_word(code);
    if IMPORTS.contains(&word) || (depth == 0 && code.contains("= require(")) {
        return Line::Import;
    }
    if ["//", "/*", "*", "--", "<!--", "\"\"\"", "# ", "#!", "#[", "@", ";;"].iter().any(|sign| code.starts_with(sign)) {
        return Line::Comment;
    }
    let is_function = || code.ends_with('{') && code.contains('(') && !code.starts_with(['}', '(', '.']) && !STATEMENTS.contains(&word);
    if DECLARATIONS.contains(&word) || is_function() {
        return Line::Declaration(depth);
    }
    if depth == 0 && VALUES.contains(&word) { Line::Value } else { Line::Body }
}

fn first_word(code: &str) -> &str {
    let end = code.find(|letter: char| !(letter.is_ascii_alphanumeric() || "_#.".contains(letter))).unwrap_or(code.len());
    &code[..end]
}

/// Whether the lines have numbers of their own: two in a row that follow each other, near the start.
fn is_numbered(text: &str) -> bool {
    let mut last = None;
    lines(text).take(20).any(|range| {
        let number = number(&text[range]).map(|(number, _)| number);
        let follows = number.is_some_and(|number| last.is_some_and(|last: usize| last + 1 == number));
        last = number;
        follows
    })
}

/// The number that a line begins with, as `cat -n`, `nl` and tools write it, and where its text begins.
fn number(line: &str) -> Option<(usize, usize)> {
    let rest = line.trim_start_matches(' ');
    let digits = rest.bytes().take(8).take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let behind = &rest[digits..];
    let sign = ["\u{2192}", "\t", "\\t", ": ", ":", " | ", " |", "|"].iter().find(|sign| behind.starts_with(**sign))?;
    Some((number, line.len() - behind.len() + sign.len()))
}

fn without_number(line: &str) -> &str {
    number(line).map_or(line, |(_, start)| &line[start..])
}

/// "lines 40-80", as the text numbers them.
fn own_numbers(text: &str, gone: Range<usize>) -> String {
    let inside = &text[gone.clone()];
    let first = lines(inside).find_map(|range| number(&inside[range]));
    let last = inside.trim_end().rsplit('\n').find_map(number);
    match (first, last) {
        (Some((first, _)), Some((last, _))) if first <= last => said(first, last),
        _ => lines_gone(text, gone),
    }
}

/// "lines 40-80", counted from the first line of the text.
fn counted(text: &str, gone: Range<usize>) -> String {
    let ends = |range: Range<usize>| bytes::count(text[range].as_bytes(), b'\n') as usize;
    let (before, inside) = (ends(0..gone.start), ends(gone.clone()));
    let begins_line = gone.start == 0 || text[..gone.start].ends_with('\n');
    if inside < 2 || !begins_line {
        return lines_gone(text, gone);
    }
    said(before + 1, before + inside + usize::from(!text[gone].ends_with('\n')))
}

fn said(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}
