//! Whether a command line only looks, so that nothing changes where it is run again.
//!
//! A list of what is allowed: each program of the line stands on it, and so does the shape of its arguments. What is not surely
//! harmless in every shell that may run it, is not. Far more is read as a read or a listing ([`Line`](super::Line)): that decides how
//! long a result stays, this what somebody is told to do.

use super::lex::{Command, Item, Script, Word};
use super::one_liners::{awk_shows, sed_shows};
use crate::history::names::listed;

/// Shells in shells are read so deep.
const DEEPEST: usize = 3;

/// Nobody needs a longer line to look at something.
const LONGEST: usize = 8192;

/// What shells do not agree on, or what may hold code that the lexer passes over.
const UNSURE: [&str; 9] = ["`", "<<", "${", "((", "$[", "\r", "[[", "@\"", "@'"];

/// Programs that show, whatever their arguments.
const ANY: &str = "cat head tail nl wc ls dir pwd grep egrep fgrep cut tac rev fold fmt paste comm join expand unexpand tr column basename dirname realpath readlink stat du df diff cmp cksum md5sum sha1sum sha256sum sha512sum shasum seq od hexdump jq echo true false : type which whoami id ps sleep cd pushd popd break continue done fi } search_dir search_file find_file nproc gc gci sls get-content get-childitem get-item get-location get-filehash select-string select-object measure-object format-table format-list out-string test-path resolve-path write-output set-location";

/// Programs that show with these flags only: flags of one letter, those that take a value, and how many operands there may be.
const GUARDED: &[(&str, &str, &str, usize)] = &[
    ("rg", "abcFHhiIlLNnoPpqsSUuvwx0", "ABCdEefgjmMrtT", MANY),
    ("fd fdfind", "HIusigFaLp01q", "detESc", MANY),
    ("sort", "bcCdfghiMnrRsuVz", "kSt", MANY),
    ("uniq", "cdDiuz", "fsw", 1),
    ("base64", "dD", "w", 1),
    ("iconv", "cl", "ft", MANY),
    ("tree", "adfiFhsDpugCnvtrUJX", "LIP", MANY),
    ("file", "bihLkr", "", MANY),
    ("yq", "rCMPe", "op", MANY),
    ("uname", "amnprsv", "", 0),
    ("set", "eux", "o", MANY),
    ("printf", "", "", MANY),
    ("sort-object", "", "", MANY),
];

const MANY: usize = usize::MAX;

/// Programs that show with these subcommands only, then as above.
const SUBCOMMANDS: &[(&str, &str, &str, &str, usize)] = &[
    (
        "git",
        "diff log show status blame annotate ls-files ls-tree grep rev-parse rev-list cat-file describe shortlog merge-base diff-tree show-ref for-each-ref check-ignore count-objects name-rev version stash/show reflog/show",
        "abcdeghilmopqrstuvwzABCEFHIMPRW0123456789",
        "SGLUn",
        MANY,
    ),
    (
        "git",
        "branch/--list branch/--contains branch/--merged branch/--no-merged tag/-l tag/--list config/--get worktree/list remote/get-url remote/show",
        "",
        "",
        MANY,
    ),
    (
        "git",
        "branch branch/-a branch/-r branch/-v branch/-vv branch/-av branch/-avv branch/--show-current branch/--all tag stash/list remote remote/-v reflog config/-l config/--list",
        "",
        "",
        0,
    ),
    (
        "gh",
        "pr/view pr/list pr/diff pr/checks pr/status issue/view issue/list issue/status run/list run/view repo/view release/list release/view api",
        "c",
        "RLsq",
        MANY,
    ),
    ("docker podman", "ps images logs inspect version info", "aqst", "n", MANY),
    ("kubectl oc", "get describe logs explain version", "Ap", "nolc", MANY),
    ("npm", "ls list view info outdated", "ag", "", MANY),
    ("pip pip3", "list show freeze", "", "", MANY),
    ("unzip", "-l -v -lv -Z", "", "", MANY),
];

/// Long flags that act in none of these programs.
const LONG: &str = "abbrev-ref abbrev-commit after after-context all author before before-context branch brief cached check color column comments context count date decorate deleted diff-filter dirsfirst exact exclude exclude-standard extension files files-with-matches files-without-match first-parent fixed-strings follow format full-history gitignore glob graph grep heading hidden iglob ignore-case ignored include is-inside-work-tree job jq json key level limit line-number line-regexp log-failed max-columns max-count max-depth maxdepth merge-base merges mime mime-type modified multiline multiline-dotall name-only name-status name-with-owner namespace no-color no-filename no-heading no-ignore no-ignore-vcs no-index no-merges no-messages no-patch noreport null numeric-sort numstat oneline only-matching others patch patch-with-stat pcre2 porcelain pretty quiet regexp repo reverse selector shortstat short show-toplevel since smart-case sort sortr staged stat state summary tags tail text topo-order trim type type-list type-not unified unique until untracked-files unrestricted verify with-filename word-diff word-regexp";

/// What `find` tests and prints.
const TESTS: &str = "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -maxdepth -mindepth -depth -size -empty -newer -newermt -mtime -mmin -ctime -cmin -atime -amin -daystart -perm -user -group -links -inum -samefile -executable -readable -writable -not -o -or -a -and -prune -quit -follow -L -H -P -xdev -mount -print -print0 -printf -ls -true -false";

/// Variables of a command's own that change how it shows, not what it does.
const HARMLESS_VARIABLES: &str = "LC_ALL LC_CTYPE LANG TZ IFS NO_COLOR COLUMNS";

/// Whether a command line only looks.
pub(super) fn only_looks(text: &str, depth: usize) -> bool {
    // In PowerShell a backslash escapes no quote: the line must be harmless in both readings.
    reads_harmless(text, depth) && (!text.contains("\\\"") || reads_harmless(&text.replace("\\\"", "\\\\\""), depth))
}

fn reads_harmless(text: &str, depth: usize) -> bool {
    let odd_quotes = |letter: char| ('\u{2018}'..='\u{201f}').contains(&letter); // quotes to PowerShell alone
    if depth >= DEEPEST || text.len() > LONGEST || UNSURE.iter().any(|part| text.contains(part)) || text.contains(odd_quotes) {
        return false;
    }
    let script = Script::of(text);
    let mut commands = script.items.iter().filter_map(|item| match item {
        Item::Command(command) => Some(command),
        _ => None,
    });
    script.sure && !script.items.is_empty() && commands.all(|command| harmless(command, depth))
}

fn harmless(command: &Command<'_>, depth: usize) -> bool {
    let nowhere = |target: &str| listed("/dev/null /dev/stdout /dev/stderr", target);
    command.redirects.iter().all(|redirect| !redirect.writes || nowhere(&redirect.target.text)) && words_look(&command.words, depth)
}

/// Whether a program and its arguments only look.
pub(super) fn words_look(words: &[Word<'_>], depth: usize) -> bool {
    let own = words.iter().take_while(|word| is_harmless_variable(&word.text)).count();
    let Some((program, arguments)) = words.get(own..).and_then(<[Word<'_>]>::split_first) else { return true };
    if depth >= DEEPEST || !program.literal || arguments.iter().any(|word| is_block(word, program.text.contains('-'))) {
        return false;
    }
    let name = program.text.strip_prefix("/usr/bin/").or_else(|| program.text.strip_prefix("/bin/")).unwrap_or(&program.text);
    let lower = if name.contains('-') { name.to_ascii_lowercase() } else { name.to_owned() };
    let name = lower.as_str();
    match name {
        _ if listed(ANY, name) => true,
        "bash" | "sh" | "zsh" | "dash" => matches!(arguments, [flag, script] if listed("-c -lc", &flag.text) && shell_looks(script, depth)),
        "powershell" | "pwsh" | "powershell.exe" | "pwsh.exe" => arguments.split_last().is_some_and(|(script, flags)| {
            let told = flags.last().is_some_and(|flag| listed("-command -c", &flag.text.to_ascii_lowercase()));
            told && flags.iter().all(|flag| listed("-command -c -noprofile -nologo", &flag.text.to_ascii_lowercase())) && shell_looks(script, depth)
        }),
        "command" => arguments.first().is_some_and(|flag| listed("-v -V", &flag.text)),
        "for" => matches!(arguments, [name, within, ..] if is_own_name(name) && within.text == "in"),
        "read" => behind_flags(arguments, "r", "").is_some_and(|names| names.iter().all(is_own_name)),
        "test" => tests(arguments),
        "[" => arguments.split_last().is_some_and(|(last, tested)| last.text == "]" && tests(tested)),
        // Flags may come out of a variable.
        _ if arguments.iter().any(|word| !word.literal && word.text.contains('$')) => false,
        "timeout" => behind_flags(arguments, "", "ks").and_then(<[Word<'_>]>::split_first).is_some_and(|(_, inner)| words_look(inner, depth + 1)),
        "xargs" => behind_flags(arguments, "0rt", "nILPds").is_some_and(starts_any),
        "find" => find(arguments),
        "sed" | "gsed" => sed(arguments),
        "awk" | "gawk" | "mawk" => awk(arguments),
        "date" => arguments.iter().all(|word| word.text.starts_with('+') || word.text == "-u"),
        "git" => subcommand(name, behind_place(arguments)),
        _ => subcommand(name, arguments),
    }
}

fn is_harmless_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    listed(HARMLESS_VARIABLES, name) || listed("PAGER=cat GIT_PAGER=cat", word)
}

/// Braces that begin a word or a value are blocks of code to PowerShell, and flags may come out of them elsewhere.
fn is_block(word: &Word<'_>, is_cmdlet: bool) -> bool {
    let Some((before, _)) = word.text.split_once('{').filter(|_| !word.literal && word.text != "{}") else { return false };
    is_cmdlet || matches!(before, "" | "@") || before.ends_with([':', '=', ',']) || !word.text.contains('}')
}

/// A script in a shell of its own.
fn shell_looks(script: &Word<'_>, depth: usize) -> bool {
    script.literal && only_looks(&script.text, depth + 1)
}

/// A name that means nothing to a shell: theirs are in capitals, or end in "path".
fn is_own_name(word: &Word<'_>) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    word.text.bytes().all(plain) && !word.text.ends_with("path")
}

/// Tests of files and texts. Those of numbers and of array elements may evaluate code.
fn tests(arguments: &[Word<'_>]) -> bool {
    let is_plain = |word: &Word<'_>| word.literal && !word.text.contains(['[', '$', '(']);
    arguments.iter().all(|word| is_plain(word) && (!word.text.starts_with('-') || listed("-f -d -e -s -r -w -x -n -z -L -h", &word.text)))
}

fn starts_any(words: &[Word<'_>]) -> bool {
    words.first().is_some_and(|program| program.literal && listed(ANY, &program.text))
}

fn find(arguments: &[Word<'_>]) -> bool {
    let mut words = arguments;
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        let is_number = || word.text.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        if listed("-exec -execdir", &word.text) && starts_any(rest) {
            let end = rest.iter().position(|word| listed("; +", &word.text)).unwrap_or(rest.len());
            words = &rest[end..];
        } else if word.text.starts_with('-') && !listed(TESTS, &word.text) && !is_number() {
            return false;
        }
    }
    true
}

fn sed(arguments: &[Word<'_>]) -> bool {
    let (mut wanted, mut seen) = (false, false);
    for word in arguments {
        match word.text.strip_prefix('-') {
            Some(flags) if !wanted && flags.bytes().all(|byte| b"nErsuze".contains(&byte)) => wanted = flags.ends_with('e'),
            None if wanted || !seen => {
                if !word.literal || !sed_shows(&word.text) {
                    return false;
                }
                (wanted, seen) = (false, true);
            }
            Some(_) => return false,
            None => {}
        }
    }
    seen
}

/// Long flags load code, or write what was read.
fn awk(arguments: &[Word<'_>]) -> bool {
    let script = behind_flags(arguments, "", "Fv").and_then(<[Word<'_>]>::first);
    !arguments.iter().any(|word| word.text.starts_with("--")) && script.is_some_and(|script| script.literal && awk_shows(&script.text))
}

/// What git is to do, without where and how it is shown.
fn behind_place<'w, 'a>(mut arguments: &'w [Word<'a>]) -> &'w [Word<'a>] {
    loop {
        arguments = match arguments {
            [flag, rest @ ..] if flag.text == "--no-pager" => rest,
            [flag, _, rest @ ..] if flag.text == "-C" => rest,
            _ => return arguments,
        }
    }
}

/// Programs of which the first words or the flags tell.
fn subcommand(name: &str, arguments: &[Word<'_>]) -> bool {
    if let Some((_, letters, valued, most)) = GUARDED.iter().find(|(names, ..)| listed(names, name)) {
        return guarded(arguments, letters, valued, *most);
    }
    let word = |at: usize| arguments.get(at).map_or("", |word| &*word.text);
    let two = [word(0), "/", word(1)].concat();
    SUBCOMMANDS.iter().filter(|(names, ..)| listed(names, name)).any(|(_, known, letters, valued, most)| {
        let rest = match () {
            () if listed(known, &two) => arguments.get(2..),
            () if listed(known, word(0)) => arguments.get(1..),
            () => None,
        };
        rest.is_some_and(|rest| guarded(rest, letters, valued, *most))
    })
}

fn guarded(arguments: &[Word<'_>], letters: &str, valued: &str, most: usize) -> bool {
    let (mut words, mut operands) = (arguments, 0);
    loop {
        match behind_flags(words, letters, valued) {
            None => return false,
            Some([]) => return operands <= most,
            Some([_, rest @ ..]) => words = rest,
        }
        operands += 1;
    }
}

/// The words from the first operand on; `None` where a flag before it is not known.
fn behind_flags<'w, 'a>(words: &'w [Word<'a>], letters: &str, valued: &str) -> Option<&'w [Word<'a>]> {
    let mut words = words;
    while let Some((word, rest)) = words.split_first() {
        let Some(flag) = word.text.strip_prefix('-').filter(|flag| !flag.is_empty()) else { break };
        words = rest;
        if let Some(long) = flag.strip_prefix('-') {
            let name = long.split('=').next().unwrap_or("");
            if !long.is_empty() && !listed(LONG, name) {
                return None;
            }
            continue;
        }
        let value = flag.trim_start_matches(|letter| letters.contains(letter));
        match value.chars().next() {
            None => {}
            Some(letter) if !valued.contains(letter) => return None,
            Some(_) if value.len() > 1 => {}
            Some(_) => words = rest.split_first().filter(|(value, _)| !value.text.starts_with('-'))?.1,
        }
    }
    Some(words)
}
