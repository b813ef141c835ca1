//! Whether a call may be made again: it only looks, so nothing changes and its source is as it was.
//!
//! This is asked when a line is written that says "call it again", and answered from what is allowed: tools that are known, command
//! lines of which every program only looks, and names that begin with a word for looking.
//!
//! ```
//! use warmfold::history::repeats::is_harmless;
//!
//! assert!(is_harmless("bash", r#"{"command": "cd /repo && cat src/a.rs | head -50"}"#));
//! assert!(!is_harmless("bash", r#"{"command": "cat src/a.rs > b.rs"}"#));
//! assert!(is_harmless("get_user", r#"{"id": 7}"#) && !is_harmless("get_or_create_user", r#"{"id": 7}"#));
//! ```

use super::arguments::{Arguments, CommandLine};
use super::kinds::tools::{self, Tool};
use super::kinds::{ToolKind, words};
use super::names::listed;
use super::shell;
use crate::tape::{Kind, Node, Tape};

/// Words that a name of a tool that looks begins with.
const LOOKS: &str = "read get list search find view show grep cat fetch query lookup ls glob describe count";
/// Words behind it that say that it does more.
const CHANGES: &str = "and or then next new pop take claim acquire lock unlock mark reset clear consume ack purge drop generate activate enable disable revoke restore refresh refund reserve provision sync sale unsubscribe otp token secret message dialog notification";
/// Known tools that show another place each time, or leave the one that they were at.
const MOVES: &str =
    "goto scroll_up scroll_down web_browser_go browser_navigate browser_navigate_back puppeteer_navigate navigate navigate_page new_page launch";

/// Words of switches that do more than look.
const SWITCHES: &str = "mark ack acknowledge delete remove write fix update apply create save replace commit send consume clear reset archive move overwrite force install";

/// Words that a query to a database begins with, where it is one.
const QUERIES: &str = "query select match with explain show describe desc pragma";
/// Words of queries that change something.
const STATEMENTS: &str = "nextval setval insert update delete drop alter create truncate merge replace upsert grant revoke call exec execute do begin copy load lock vacuum set into detach remove mutation subscription";

/// Whether a call may be made again, as far as tool and arguments tell: of what kinds somebody is told so is another question.
pub fn is_harmless(tool: &str, arguments: &str) -> bool {
    let tape = Tape::from_json(arguments).ok();
    harmless(tool, Arguments::of_text(arguments, tape.as_ref()))
}

/// The same of arguments that are on a tape: JSON text, or the value itself where the format has it so.
pub(super) fn is_harmless_node(tool: &str, arguments: Option<Node<'_>>) -> bool {
    match arguments.map(|node| (node, node.text())) {
        Some((node, None)) => harmless(tool, Arguments::of(node)),
        Some((_, Some(text))) => is_harmless(tool, text),
        None => is_harmless(tool, ""),
    }
}

fn harmless(tool: &str, arguments: Arguments<'_>) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool).rsplit(['.', '/', ':']).next().unwrap_or(tool);
    match tools::find(tool) {
        Some(Tool::Shell) => own != "cmd" && line_looks(arguments), // its quotes are not a shell's
        Some(Tool::Editor) => arguments.verb() == Some("view"),
        Some(Tool::Screen) => arguments.verb().is_some_and(|verb| !listed(MOVES, verb)),
        Some(Tool::Patch) => false,
        Some(Tool::Is(_)) => !listed(MOVES, own) && arguments_look(arguments, true),
        None if words(tool).iter().any(|word| listed("bash shell terminal powershell", word)) => line_looks(arguments),
        None => {
            let words = words(own);
            let looks = words.split_first().is_some_and(|(first, rest)| listed(LOOKS, first) && !rest.iter().any(|word| listed(CHANGES, word)));
            // What a database of any kind is asked may be an order.
            let asks = words.first().is_none_or(|first| first != "query") || arguments.texts().all(is_query);
            looks && asks && arguments_look(arguments, false)
        }
    }
}

fn line_looks(arguments: Arguments<'_>) -> bool {
    arguments.is_plain_command()
        && match arguments.command() {
            Some(CommandLine::Text(text)) => shell::only_looks(&text),
            Some(CommandLine::Words(words)) => shell::only_look(&words),
            None => false,
        }
}

/// Whether no argument says that something is changed. What a known tool is asked for may be any text.
fn arguments_look(arguments: Arguments<'_>, known: bool) -> bool {
    match arguments {
        Arguments::Fields(fields) => fields.subtree().skip(1).all(|field| {
            let (name, text) = (field.key().unwrap_or("").to_ascii_lowercase(), field.text());
            let is_set = !matches!(field.kind(), Kind::Null | Kind::False) && text != Some("");
            let acts = |kind| matches!(kind, Some(ToolKind::Write | ToolKind::Run | ToolKind::Memory));
            match name.as_str() {
                _ if name.ends_with("method") => text.is_none_or(|method| listed("get head", &method.to_ascii_lowercase())),
                _ if text.is_some_and(|text| listed("POST PUT PATCH DELETE", text)) => false,
                // What is to be done beside looking.
                _ if field.kind() == Kind::True && words(field.key().unwrap_or("")).iter().any(|word| listed(SWITCHES, word)) => false,
                "body" | "data" | "payload" | "json" | "form" | "replace" | "replacement" => !is_set,
                "command" | "cmd" | "script" | "code" => known || !is_set,
                "action" | "operation" | "op" | "mode" => text.is_none_or(|action| !acts(ToolKind::of_words(action))),
                "sql" | "statement" | "cypher" => text.is_none_or(|query| is_query(query) && only_asks(query)),
                _ => known || text.is_none_or(only_asks),
            }
        }),
        Arguments::Text(text) => known || only_asks(text),
        Arguments::None => false,
    }
}

fn first_word(text: &str) -> String {
    text.trim_ascii_start().split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or("").to_ascii_lowercase()
}

fn is_query(text: &str) -> bool {
    listed(QUERIES, &first_word(text))
}

/// Whether a text is no statement that changes something: neither it, nor one behind another, nor one inside of a query.
fn only_asks(text: &str) -> bool {
    let changes = |part: &str| {
        let mut words = part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
        let changes = |word: &str| listed(STATEMENTS, &word.to_ascii_lowercase());
        if is_query(text) { words.any(changes) } else { words.next().is_some_and(changes) }
    };
    let begins = text.trim_ascii_start();
    let is_comment = begins.starts_with("/*") || begins.starts_with("--"); // a statement may follow
    let calls = text.contains("pg_") || (first_word(text) == "pragma" && text.contains('='));
    !is_comment && !calls && !text.split(['\n', ';', '}']).any(changes)
}
