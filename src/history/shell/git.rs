//! `git` by its subcommand. What shows content (`diff`, `show`, `blame`) reads, since models quote it; what shows names and states
//! (`status`, `log`, `branch`) lists.

use super::lex::Word;
use super::words::{has, operands};
use super::{Step, Walk};
use crate::history::kinds::ToolKind;

pub(super) fn run(walk: &mut Walk, arguments: &[Word<'_>]) -> Step {
    let words = operands(arguments, &["-C", "-c", "--git-dir", "--work-tree"]);
    let Some((command, _)) = words.split_first() else { return Step::Speaks };
    let at = arguments.iter().position(|word| std::ptr::eq(word, *command)).unwrap_or(0);
    let rest = &arguments[at + 1..];
    let rest_words = operands(rest, &["-n", "-m", "-U", "-S", "-G", "-L", "-s", "-b", "--author", "--since", "--until", "--format", "--sort"]);
    if has(rest, &["--output"]) || (command.text == "format-patch") {
        return Step::Does(ToolKind::Write);
    }
    let first = rest_words.first().map_or("", |word| &*word.text);
    let kind = match &*command.text {
        "diff" | "show" | "diff-tree" | "range-diff" | "cat-file" => ToolKind::Read,
        "blame" | "annotate" => {
            rest_words.last().and_then(|file| walk.path(file)).into_iter().for_each(|file| walk.reads.push(file));
            ToolKind::Read
        }
        "grep" => ToolKind::Search,
        "status" | "log" | "shortlog" | "rev-parse" | "rev-list" | "ls-files" | "ls-tree" | "ls-remote" | "describe" | "reflog" | "merge-base"
        | "name-rev" | "for-each-ref" | "count-objects" | "check-ignore" | "whatchanged" | "show-ref" | "symbolic-ref" | "diff-index" | "var"
        | "version" | "help" | "show-branch" | "cherry" | "diff-files" | "check-attr" | "fsck" => ToolKind::List,
        "branch" | "tag" => {
            let asks = has(rest, &["-a", "-v", "-r", "-l", "--list", "--show-current", "--contains", "--merged", "--no-merged"]);
            let changes = has(rest, &["-d", "-D", "-m", "-M", "-f", "-u", "--delete", "--set-upstream-to"]);
            if (asks || rest_words.is_empty()) && !changes { ToolKind::List } else { ToolKind::Write }
        }
        "stash" | "worktree" | "remote" | "submodule" | "notes" | "bisect" => match (&*command.text, first) {
            ("remote" | "submodule" | "notes", "") | (_, "list" | "show" | "get-url" | "status" | "log") => ToolKind::List,
            _ => ToolKind::Write,
        },
        "config" => {
            let asks = has(rest, &["--get", "--list", "-l", "--get-all", "--get-regexp"]) || (rest_words.len() == 1 && !has(rest, &["--unset"]));
            if asks { ToolKind::List } else { ToolKind::Write }
        }
        "apply" if has(rest, &["--check", "--stat", "--numstat", "--summary"]) => ToolKind::Verify,
        "apply" => {
            let fed = walk.fed.take();
            fed.iter().for_each(|text| walk.patch(text));
            ToolKind::Write
        }
        "checkout" | "reset" | "rm" | "mv" | "restore" => {
            let named = rest.iter().position(|word| word.text == "--").map(|at| &rest[at + 1..]);
            match named {
                Some(files) => files.iter().for_each(|file| walk.write(file)),
                None if matches!(&*command.text, "rm" | "mv" | "restore") => rest_words.iter().for_each(|file| walk.write(file)),
                None => {}
            }
            ToolKind::Write
        }
        _ => ToolKind::Write,
    };
    Step::Does(kind)
}
