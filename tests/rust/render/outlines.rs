//! `render::outline`: cases that a person can read, one a file in `tests/fixtures/outlines/<content kind>/`, and properties of any text.
//!
//! A case is a line on what it shows, what is known of the call (`tool`, one of the tool kinds; `about`), the `room` in bytes, and then the
//! input and its outline, each behind a line of its own. With `escaped: yes` both are written with `\e`, `\r`, `\0` and `\\`, and a `\` at
//! the end of a line says that no line ends there. `WARMFOLD_BLESS=1 cargo test --test rust outlines` writes the outlines down anew.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use warmfold::history::kinds::ToolKind;
use warmfold::plan::Piece;
use warmfold::render;
use warmfold::render::outline::{self, ContentKind, Source};

const INPUT: &str = "=== input ===\n";
const OUTLINE: &str = "=== outline ===\n";

/// Cases that there are of each kind at the least, so that none is lost on the way.
const LEAST: &[(&str, usize)] = &[("code", 16), ("diff", 6), ("json", 7), ("listing", 6), ("log", 14), ("prose", 6), ("search", 7), ("table", 6)];

struct Case {
    path: PathBuf,
    content: String,
    head: String,
    tool: ToolKind,
    about: Option<String>,
    room: usize,
    is_escaped: bool,
    input: String,
    outline: String,
}

impl Case {
    fn read(path: PathBuf) -> Case {
        let file = fs::read_to_string(&path).expect("a case can be read");
        let shown = path.display().to_string();
        let (head, rest) = file.split_once(INPUT).unwrap_or_else(|| panic!("{shown} has no input"));
        let (input, outline) = rest.split_once(OUTLINE).unwrap_or_else(|| panic!("{shown} has no outline"));
        let field = |name: &str| head.lines().skip(1).find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let tool = field("tool").unwrap_or_else(|| panic!("{shown} names no tool kind"));
        let is_escaped = field("escaped") == Some("yes");
        let decode = |text: &str| if is_escaped { unescape(text) } else { text.to_owned() };
        Case {
            content: path.parent().and_then(Path::file_name).expect("it lies in a folder").to_string_lossy().into_owned(),
            tool: ToolKind::NAMES.iter().find(|(name, _)| *name == tool).unwrap_or_else(|| panic!("{shown}: no tool kind {tool}")).1,
            about: field("about").map(str::to_owned),
            room: field("room").and_then(|room| room.parse().ok()).unwrap_or_else(|| panic!("{shown} has no room")),
            is_escaped,
            input: decode(input),
            outline: decode(outline),
            head: head.to_owned(),
            path,
        }
    }

    fn source(&self) -> Source<'_> {
        Source { text: &self.input, kind: self.tool, about: self.about.as_deref() }
    }

    fn write(&self, outline: &str) {
        let encode = |text: &str| if self.is_escaped { escape(text) } else { text.to_owned() };
        let file = [&self.head, INPUT, &encode(&self.input), OUTLINE, &encode(outline)].concat();
        fs::write(&self.path, file).expect("a case can be written");
    }
}

fn escape(text: &str) -> String {
    let plain = text.replace('\\', "\\\\").replace('\r', "\\r").replace('\0', "\\0").replace('\u{1b}', "\\e");
    if plain.is_empty() || plain.ends_with('\n') { plain } else { plain + "\\\n" }
}

fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('e') => plain.push('\u{1b}'),
            Some('r') => plain.push('\r'),
            Some('0') => plain.push('\0'),
            Some('\\') => plain.push('\\'),
            Some('\n') => {}
            other => panic!("no escape: \\{other:?}"),
        }
    }
    plain
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/outlines");
    let inside = |folder: &Path| fs::read_dir(folder).expect("a folder can be read").map(|entry| entry.expect("an entry can be read").path());
    let mut paths: Vec<PathBuf> = inside(&root).flat_map(|kind| inside(&kind).collect::<Vec<_>>()).collect();
    paths.sort();
    paths.into_iter().map(Case::read).collect()
}

/// What holds for the outline of any text. Returns how it reads.
fn checked(source: &Source<'_>, room: usize) -> String {
    let pieces = outline::of(source, room);
    let length = render::length(&pieces);
    assert!(length <= room, "{length} bytes in a room of {room}");
    assert!(length <= source.text.len(), "{length} bytes of {}", source.text.len());
    let mut at = 0;
    let mut begins_line = true;
    for piece in &pieces {
        let text = match piece {
            Piece::Span(from, to) => {
                let (from, to) = (*from as usize, *to as usize);
                assert!(at <= from && from < to, "{from}..{to} after {at}");
                at = to;
                source.text.get(from..to).expect("a span parts no character")
            }
            Piece::Text(text) => {
                let line = text.strip_prefix('\n').filter(|_| !begins_line).unwrap_or(text);
                assert!(line.len() < text.len() || begins_line, "{text:?} does not begin a line");
                let words = line.strip_prefix('[').and_then(|line| line.strip_suffix("]\n")).unwrap_or_else(|| panic!("no generated line: {text:?}"));
                assert!(words.bytes().all(|byte| (b' '..0x7f).contains(&byte) && byte != b'[' && byte != b']'), "{words:?}");
                text
            }
        };
        begins_line = text.ends_with('\n');
    }
    assert_eq!(outline::of(source, room), pieces, "twice, and not the same");
    render::text(source.text, &pieces)
}

#[test]
fn cases_read_as_they_did() {
    let is_blessed = std::env::var_os("WARMFOLD_BLESS").is_some();
    let mut different = Vec::new();
    for case in cases() {
        let source = case.source();
        assert_eq!(format!("{:?}", ContentKind::of(&source)).to_lowercase(), case.content, "{}", case.path.display());
        let now = checked(&source, case.room);
        assert!(!now.is_empty(), "{} shows nothing", case.path.display());
        if is_blessed {
            case.write(&now);
        } else if now != case.outline {
            different.push(format!("{}\n{now}", case.path.display()));
        }
    }
    assert!(different.is_empty(), "if this is meant: WARMFOLD_BLESS=1 cargo test --test rust outlines\n\n{}", different.join("\n"));
}

#[test]
fn there_are_cases_of_each_kind() {
    let cases = cases();
    for (kind, least) in LEAST {
        let found = cases.iter().filter(|case| case.content == *kind).count();
        assert!(found >= *least, "{found} cases of {kind}");
    }
}

/// Whatever the room, not only the one that a case shows.
#[test]
fn cases_fit_any_room() {
    for case in cases() {
        for room in [0, 1, 10, 47, 48, 49, 60, 100, 200, 400, 1000, 5000, usize::MAX] {
            checked(&case.source(), room);
        }
    }
}

#[test]
fn a_case_is_written_as_it_was_read() {
    let text = "a\\n\r\n\u{1b}[1mb\0\nc";
    assert_eq!(unescape(&escape(text)), text);
    assert_eq!(escape(text), "a\\\\n\\r\n\\e[1mb\\0\nc\\\n");
}

/// Lines of every kind of content, and what breaks lines, kinds and characters.
const LINES: &[&str] = &[
    "use std::fmt;",
    "pub fn a_name(of: &str) -> String {",
    "    let body = 1;",
    "}",
    "",
    "    12→\tdef method(self):",
    "   40\tclass A:",
    "src/a.rs:12:    found here",
    "src/a.rs",
    "./docs/guide/",
    "Found 12 files",
    "No matches found",
    "total 48",
    "-rw-r--r-- 1 me me 120 Jan  1 10:00 a.rs",
    "├── src",
    "diff --git a/a.rs b/a.rs",
    "--- a/a.rs",
    "+++ b/a.rs",
    "@@ -1,4 +1,5 @@ fn a()",
    "+added",
    "-removed",
    " context",
    "error: it failed",
    "# Heading",
    "a,b,c",
    "{\"key\": [1, 2",
    "\"escaped\\nlines\\n",
    "深海の魚 e\u{301} 👩\u{200d}🚀",
    "\u{1b}[31mred\u{1b}[0m",
    "nul\0nul",
    "carriage\r",
];

fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => proptest::sample::select(LINES).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => (proptest::sample::select(LINES), 1..200_usize).prop_map(|(line, times)| line.repeat(times)),
    ];
    let end = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\\n"), 1 => Just("")];
    proptest::collection::vec((line, end), 0..60).prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.to_owned()]).collect())
}

fn any_kind() -> impl Strategy<Value = ToolKind> {
    (0..ToolKind::NAMES.len()).prop_map(|at| ToolKind::NAMES[at].1)
}

fn any_about() -> impl Strategy<Value = Option<&'static str>> {
    proptest::sample::select(
        &[None, Some("a.rs"), Some("a.csv"), Some("a.md"), Some("a.log"), Some("a.json"), Some("a.patch"), Some("git diff"), Some("ls -la")][..],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_text_is_outlined_in_any_room(text in any_text(), kind in any_kind(), about in any_about(), room in 0..3000_usize) {
        checked(&Source { text: &text, kind, about }, room);
    }
}

/// Lines that must not be missed, and such as may.
const FAILED: &[&str] = &[
    "error: no water in pot",
    "test pour::fills_cup ... FAILED",
    "FAIL src/pot.test.ts",
    "ValueError: no leaf",
    "--- FAIL: TestSip",
    "fatal: lid is lost",
];
const WENT_ON: &[&str] = &[
    "poured another cup of it",
    "test pour::is_hot ... ok",
    "PASS src/cup.test.ts",
    "warning: it steams",
    "Compiling leaf v0.1.0",
    "0 errors so far",
];

proptest! {
    #[test]
    fn what_failed_is_shown_if_it_fits(at in proptest::collection::btree_map(0..200_usize, 0..FAILED.len(), 1..4), seed in 0..100_usize, room in 200..900_usize) {
        let lines: Vec<&str> = (0..200).map(|line| at.get(&line).map_or(WENT_ON[(line * 7 + seed) % WENT_ON.len()], |failed| FAILED[*failed])).collect();
        let text = lines.join("\n");
        let shown = checked(&Source { text: &text, kind: ToolKind::Verify, about: None }, room);
        let failed: std::collections::BTreeSet<&str> = at.values().map(|failed| FAILED[*failed]).collect();
        // Each with the longest of lines for the gap before it.
        if failed.iter().map(|line| line.len() + 49).sum::<usize>() + 48 <= room {
            for line in failed {
                prop_assert!(shown.contains(line), "{line} is not in {shown}");
            }
        }
    }
}
