//! `history::kinds`: what a tool call does and what it is about.

use warmfold::history::failures::{is_error, is_unchanged_stub};
use warmfold::history::kinds::ToolKind;
use warmfold::history::resources::Resource;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn names_tell_kinds() {
    use ToolKind::*;
    let table = [
        (Read, "read read_file Read ReadFile view cat open_file get_weather show_file load_document mcp__fs__read_text_file"),
        (Search, "grep Grep search_files codebase_search find_by_name rg ripgrep web_search query_db"),
        (List, "ls list_dir ListFiles glob Glob file_tree"),
        (Fetch, "fetch fetch_url WebFetch browser_navigate http_get download"),
        (
            Write,
            "write write_file Edit str_replace_editor apply_patch ApplyPatch create_file delete_file git_commit send_email update_reservation book_flight",
        ),
        (Verify, "run_tests test lint typecheck build get_diagnostics"),
        (Run, "bash Bash shell execute_command run_terminal_cmd python exec"),
        (Memory, "memory save_memory todo_write TodoWrite TodoRead load_skill think update_plan ask_user_question"),
        (Other, "frobnicate submarine  readable 深 __"),
    ];
    for (kind, names) in table {
        for name in names.split(' ') {
            assert_eq!(ToolKind::of_name(name), kind, "{name}");
        }
    }
}

/// Of an MCP name the tool's own part is asked first; the server's name only if that says nothing.
#[test]
fn a_server_does_not_decide_for_its_tools() {
    assert_eq!(ToolKind::of_name("mcp__memory__read_file"), ToolKind::Read);
    assert_eq!(ToolKind::of_name("mcp__memory__frobnicate"), ToolKind::Memory);
}

fn resource(kind: ToolKind, arguments: &str) -> Option<Resource> {
    Resource::of(kind, arguments, None)
}

#[test]
fn the_primary_argument_names_the_resource() {
    for arguments in
        [r#"{"path":"src/a.rs"}"#, r#"{"file_path":"src/a.rs"}"#, r#"{"target_file":"src/a.rs","explanation":"x"}"#, r#"{"whatever":"src/a.rs"}"#]
    {
        assert_eq!(resource(ToolKind::Read, arguments).unwrap().label, "src/a.rs", "{arguments}");
    }
    assert_eq!(resource(ToolKind::Search, r#"{"pattern":"fn main","path":"src"}"#).unwrap().label, "src");
    assert!(resource(ToolKind::Read, r#"{"question":"what is it?"}"#).is_none(), "a sentence is no name");
    assert!(resource(ToolKind::List, "{}").is_some() && resource(ToolKind::Read, "{}").is_none());
}

#[test]
fn what_is_not_json_is_about_nothing() {
    for arguments in ["", "{", "null", "[]", "\"a.rs\"", "{\"path\":"] {
        assert_eq!(resource(ToolKind::Read, arguments), None, "{arguments}");
    }
}

#[test]
fn kinds_without_a_source_are_about_nothing() {
    for (_, kind) in ToolKind::NAMES {
        assert_eq!(resource(*kind, r#"{"path":"a"}"#).is_some(), kind.has_source(), "{kind:?}");
    }
}

#[test]
fn the_host_may_name_the_arguments() {
    let own = ["city".to_owned()];
    let of = |arguments| Resource::of(ToolKind::Run, arguments, Some(&own));
    let (one, other) = (of(r#"{"city":"Oslo","unit":"C"}"#).unwrap(), of(r#"{"unit":"F","city":"Oslo"}"#).unwrap());
    assert_eq!((one.key, one.label.as_str()), (other.key, "Oslo"));
    assert!(of(r#"{"unit":"C"}"#).is_none());
}

/// The order of arguments is the model's whim; any other difference makes another resource.
#[test]
fn all_arguments_make_the_key() {
    let key = |arguments| resource(ToolKind::Search, arguments).unwrap().key;
    assert_eq!(key(r#"{"path":"a","glob":"*.rs"}"#), key(r#"{"glob":"*.rs","path":"a"}"#));
    assert_ne!(key(r#"{"path":"a","glob":"*.rs"}"#), key(r#"{"path":"a","glob":"*.ts"}"#));
    assert_ne!(key(r#"{"path":"a"}"#), key(r#"{"path":"a","limit":5}"#), "a search has no lines to range over");
}

#[test]
fn spans_cover() {
    let span = |arguments: &str| resource(ToolKind::Read, &format!(r#"{{"path":"a"{arguments}}}"#)).unwrap().span;
    let whole = span("");
    // (wider, narrower): the first covers the second, and not the other way round unless they are equal.
    let pairs = [
        ("", r#","offset":1,"limit":20"#),
        (r#","offset":10,"limit":100"#, r#","offset":20,"limit":10"#),
        (r#","offset":"10","limit":"100""#, r#","offset":20,"limit":10"#),
        (r#","start_line":10,"end_line":90"#, r#","start_line":20,"end_line":30"#),
        (r#","view_range":[10,90]"#, r#","view_range":[20,30]"#),
        (r#","view_range":[10,-1]"#, r#","view_range":[20,30]"#),
        (r#","lines":"10-90""#, r#","lines":"20-30""#),
        (r#","offset":20"#, r#","offset":30"#),
    ];
    for (wide, narrow) in pairs {
        let (wide, narrow) = (span(wide), span(narrow));
        assert!(wide.covers(narrow) && !narrow.covers(wide), "{wide:?} and {narrow:?}");
        assert!(whole.covers(wide) && wide.covers(wide));
    }
    let (zero, one) = (span(r#","offset":0,"limit":50"#), span(r#","offset":1,"limit":49"#));
    assert!(zero.covers(one) && !one.covers(zero), "whether the first line is 0 or 1, a read from 0 has it");
    assert!(
        whole.covers(span(r#","offset":1900,"limit":100"#)) && !whole.covers(span(r#","offset":2500,"limit":100"#)),
        "tools have a limit of their own"
    );
    assert_eq!(span(r#","offset":null"#), whole);
    assert!(!span(r#","offset":10,"limit":10"#).covers(span(r#","offset":15,"limit":10"#)), "overlapping is not covering");
    for odd in [
        r#","offset":1000,"page_size":100"#,
        r#","offset":-50"#,
        r#","view_range":[-50,-1]"#,
        r#","start_line":-50"#,
        r#","limit":0"#,
        r#","view_range":[1,-5]"#,
    ] {
        let arguments = format!(r#"{{"path":"a"{odd}}}"#);
        assert_ne!(
            resource(ToolKind::Read, &arguments).unwrap().key,
            resource(ToolKind::Read, r#"{"path":"a"}"#).unwrap().key,
            "{odd} is no range that we read"
        );
    }
    for length in ["limit", "length", "count", "max_lines"] {
        let page = |offset: u32| span(&format!(r#","offset":{offset},"{length}":100"#));
        assert!(!page(0).covers(page(1000)) && !page(1000).covers(page(0)), "{length}");
    }
    for odd in [r#","offset":-5"#, r#","offset":1e300"#, r#","offset":9223372036854775807,"limit":9223372036854775807"#, r#","end_line":-7"#] {
        assert!(span(odd).covers(span(odd)), "{odd}");
    }
}

#[test]
fn errors_are_told_by_their_first_words() {
    for text in [
        "Error: no",
        "error",
        "  ERROR x",
        "Traceback (most recent call last):",
        "fatal: not a repository",
        "Failed to read",
        "{\"error\":1}",
        "❌ no",
        "<error>x",
    ] {
        assert!(is_error(text), "{text}");
    }
    for text in ["", "No errors.", "fn error() {}", "The error is handled", "深", "x".repeat(100).as_str()] {
        assert!(!is_error(text), "{text}");
    }
}

#[test]
fn stubs_are_short_and_say_so() {
    for text in ["File unchanged since last read", "(not modified)", "Identical to the result above"] {
        assert!(is_unchanged_stub(text), "{text}");
    }
    let long = format!("unchanged {}", "x".repeat(400));
    for text in ["", "fn main() {}", long.as_str()] {
        assert!(!is_unchanged_stub(text), "{text}");
    }
}
