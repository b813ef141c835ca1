//! What a tool call does, as far as the tool's name tells; its arguments are asked by [`Action`](super::actions::Action).
//!
//! The tools of known agents stand in a table; other names are classed by their words.
//!
//! ```
//! use warmfold::history::kinds::ToolKind;
//!
//! assert_eq!(ToolKind::of_name("run_shell_command"), ToolKind::Run);
//! assert_eq!(ToolKind::of_name("mcp__files__read_text_file"), ToolKind::Read);
//! assert_eq!(ToolKind::of_name("getInvoiceById"), ToolKind::Read);
//! ```

use super::names::{Names, listed};

pub(super) mod tools;

/// What a tool call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads a file or record.
    Read,
    /// Searches.
    Search,
    /// Lists.
    List,
    /// Fetches from elsewhere.
    Fetch,
    /// Changes something.
    Write,
    /// Builds, tests, lints.
    Verify,
    /// Runs something.
    Run,
    /// Skill, memory, todo, plan, question: what it said cannot be had again, and steers the agent.
    Memory,
    /// Anything else.
    Other,
}

/// First match wins, so words that change something stand before words that look.
const WORDS: &[(ToolKind, &str)] = &[
    (ToolKind::Memory, "memory memories todo todos skill skills plan think ask question questions todowrite todoread note notes"),
    (
        ToolKind::Write,
        "write edit editor create update delete remove insert append patch apply replace move rename mkdir save set put send submit book cancel add commit click type press fill post deploy trigger restart start stop kill pay payment buy purchase out checkout push pull merge close notify notification upload install publish release approve assign drag hover select",
    ),
    (ToolKind::Verify, "test tests build lint check compile typecheck diagnostics"),
    (ToolKind::Run, "bash shell exec execute run command terminal python eval script request graphql sql"),
    (ToolKind::Fetch, "fetch browse browser url http download navigate"),
    (ToolKind::Search, "search grep rg find query ripgrep websearch lookup"),
    (ToolKind::List, "ls list glob tree dir directory"),
    (ToolKind::Read, "read cat view get show load open"),
];

/// Verbs that change something where a name begins with them; elsewhere in a name they may be nouns.
const VERBS: &str = "activate archive ban charge compress convert crop disable enable encrypt export extract format generate grant import index ingest invite launch lock make mark migrate modify optimize order process provision reboot record refund register render reopen reply reserve reset resolve restore resume revert revoke rollback scale schedule share shutdown sign subscribe suspend sync train transfer transform translate undo unlock unsubscribe";

impl ToolKind {
    /// All kinds by name.
    pub const NAMES: &[(&str, ToolKind); 9] = &[
        ("read", ToolKind::Read),
        ("search", ToolKind::Search),
        ("list", ToolKind::List),
        ("fetch", ToolKind::Fetch),
        ("write", ToolKind::Write),
        ("verify", ToolKind::Verify),
        ("run", ToolKind::Run),
        ("memory", ToolKind::Memory),
        ("other", ToolKind::Other),
    ];

    /// The kind that a tool's name tells. Of an MCP name (`mcp__server__tool`) the tool's own part is asked first.
    pub fn of_name(name: &str) -> ToolKind {
        tools::find(name).map(tools::Tool::kind).or_else(|| ToolKind::of_words(name)).unwrap_or(ToolKind::Other)
    }

    /// The kind that the words of a name tell.
    pub(super) fn of_words(name: &str) -> Option<ToolKind> {
        let own = name.rsplit("__").next().unwrap_or(name);
        of_words(own).or_else(|| of_words(name))
    }

    /// Whether calling the tool again with the same arguments is harmless and shows the same thing as it is by then.
    pub fn is_repeatable(self) -> bool {
        matches!(self, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch | ToolKind::Verify)
    }

    /// Whether the result shows something that exists outside the transcript.
    pub fn has_source(self) -> bool {
        matches!(self, ToolKind::Read | ToolKind::Search | ToolKind::List | ToolKind::Fetch)
    }
}

fn of_words(name: &str) -> Option<ToolKind> {
    static NAMES: Names = Names::new();
    let words = words(name);
    let lists = words.iter().filter_map(|word| NAMES.find(&mut WORDS.iter().map(|(_, names)| *names), word));
    let found = lists.min().map(|at| WORDS[at].0);
    let changes = found != Some(ToolKind::Memory) && words.first().is_some_and(|first| listed(VERBS, first));
    if changes { Some(ToolKind::Write) } else { found }
}

/// The words of a name, in lower case: `getUser`, `get_user`, `get-user`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (letter.is_ascii_uppercase() && lower) || words.is_empty() {
            words.push(String::new());
        }
        lower = letter.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}
