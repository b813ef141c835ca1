//! What a program does with its arguments: programs by name, and how each is read.

use super::files::{changes_in_place, copy, parameters, written};
use super::lex::Word;
use super::lines::{self, Filter};
use super::rules::{self, Outcome};
use super::scripts::{FINDERS, asks_for_itself, find, follow, own_script, python, shell};
use super::words::{from, has, operands, value};
use super::{Step, Walk, is_sink};
use crate::history::kinds::ToolKind::{Fetch, List, Read, Run, Search, Verify, Write};
use crate::history::names::{Names, listed};
use crate::history::resources::Span;

/// How a program is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    /// Does this, whatever its arguments.
    Always(Step),
    Cd,
    Shell,
    Eval,
    Source,
    Xargs,
    Find,
    Cat,
    Head,
    Tail,
    Sed,
    Perl,
    Awk,
    Grep,
    /// Shows its operands, behind so many that are no files.
    Filter(usize),
    /// Shows files, a pipe or not.
    Show,
    GetContent,
    Count,
    Git,
    Curl,
    Wget,
    Python,
    Patch,
    Copy,
    Dd,
    /// Changes its operands, behind so many that are no files.
    Change(usize),
    /// The same, and only the first.
    ChangeFirst,
}

use Program::{Always, Change, ChangeFirst};

/// Case does not matter, so that PowerShell's are found too.
const PROGRAMS: &[(Program, &str)] = &[
    (
        Always(Step::Quiet),
        "echo printf true false : test [ [[ ]] sleep export set unset shopt local declare typeset readonly let read shift return break continue exit wait for done fi } clear write-host write-output out-null start-sleep exec",
    ),
    (
        Always(Step::Speaks),
        "pwd which where whereis command hash whoami id groups hostname uname date printenv env ps df free uptime nproc lscpu lsof netstat ss history jobs man basename dirname realpath readlink seq expr bc nvidia-smi sw_vers locale ulimit umask test-path get-location get-command get-date get-process resolve-path pgrep tput",
    ),
    (
        Always(Step::Does(List)),
        "ls dir tree exa eza lsd du stat file locate md5sum sha1sum sha256sum shasum cksum get-childitem gci get-item get-filehash tokei cloc scc apt-cache nm objdump ldd zipinfo",
    ),
    (Always(Step::Does(Search)), "search_dir search_file find_file"),
    (
        Always(Step::Filters),
        "tr select-object where-object sort-object measure-object format-table format-list out-string convertfrom-json convertto-json",
    ),
    (Program::Cd, "cd pushd popd chdir set-location sl"),
    (Program::Shell, "bash sh zsh dash ksh powershell pwsh cmd"),
    (Program::Eval, "eval"),
    (Program::Source, "source ."),
    (Program::Xargs, "xargs parallel"),
    (Program::Find, FINDERS),
    (Program::Cat, "cat bat batcat nl less more open"),
    (Program::Head, "head"),
    (Program::Tail, "tail"),
    (Program::Sed, "sed gsed"),
    (Program::Perl, "perl"),
    (Program::Awk, "awk gawk mawk"),
    (Program::Grep, "grep egrep fgrep rg ag ack select-string sls"),
    (Program::Filter(0), "column tac rev fold fmt expand unexpand paste comm join sort uniq cut xxd hexdump od strings base64 iconv"),
    (Program::Filter(1), "jq yq xq"),
    (Program::Show, "diff colordiff zcat bzcat xzcat cmp"),
    (Program::GetContent, "get-content gc type"),
    (Program::Count, "wc"),
    (Program::Git, "git"),
    (Program::Curl, "curl"),
    (Program::Wget, "wget"),
    (Program::Python, "python python3 python2 py"),
    (Program::Patch, "patch apply_patch applypatch"),
    (Program::Copy, "mv cp rsync scp ln install copy move copy-item move-item rename-item"),
    (Program::Dd, "dd"),
    (Change(1), "chmod chown chgrp setfacl"),
    (
        Change(0),
        "rm rmdir unlink touch mkdir tee truncate shred gzip gunzip bzip2 bunzip2 xz unxz split mktemp sponge ed ex remove-item del clear-content rename expand-archive compress-archive",
    ),
    (ChangeFirst, "zip set-content add-content out-file new-item ni"),
];

/// Flags of searches that take a value.
const SEARCH_VALUES: &str = "-e -f -m -A -B -C -g -t -T -d -j -M --include --exclude --exclude-dir --glob --regexp";

fn program(name: &str) -> Option<Program> {
    static NAMES: Names = Names::new();
    NAMES.find(&mut PROGRAMS.iter().map(|(_, names)| *names), name).map(|at| PROGRAMS[at].0)
}

/// Whether a program works on what comes through a pipe, or on files named last.
pub(super) fn is_filter(name: &str) -> bool {
    use Program::{Awk, Cat, Count, Filter, Grep, Head, Sed, Tail};
    matches!(program(name), Some(Awk | Cat | Count | Filter(_) | Grep | Head | Sed | Tail | Always(Step::Filters)))
}

/// What a program does with its arguments.
pub(super) fn run(walk: &mut Walk, word: &Word<'_>, arguments: &[Word<'_>], piped: bool) -> Step {
    let name = name_of(&word.text);
    let name = name.as_str();
    let Some(program) = program(name) else {
        return match rules::outcome(name, arguments) {
            Some(_) if asks_for_itself(arguments) => Step::Speaks,
            Some((outcome, words)) => follow(walk, arguments, outcome, &words, piped),
            None => own_script(&word.text),
        };
    };
    match program {
        _ if listed("sort tree iconv", name) && has(arguments, "-o --output") => written(walk, value(arguments, "-o --output")),
        Always(step) => {
            if step == Step::Filters && piped {
                walk.narrow(None);
            }
            step
        }
        Program::Cd => {
            walk.go(arguments.iter().find(|word| !listed("-- -P -L /d", &word.text)).filter(|_| name != "popd"));
            Step::Quiet
        }
        Program::Shell => shell(walk, arguments, piped),
        Program::Eval => {
            let text: Vec<&str> = arguments.iter().map(|word| &*word.text).collect();
            walk.inner_text(&text.join(" "));
            Step::Quiet
        }
        Program::Source => {
            let script = arguments.first().map_or("", |word| &*word.text);
            let is_environment = ["activate", "nvm.sh", "rc", "profile", ".env"].iter().any(|end| script.ends_with(end));
            if is_environment { Step::Quiet } else { Step::Does(Run) }
        }
        Program::Xargs => {
            let inner = operands(arguments, "-n -I -P -L -d -a -s -E --max-args");
            inner.first().map_or(Step::Speaks, |start| walk.behind(from(arguments, start), true))
        }
        Program::Find => find(walk, arguments),
        Program::Cat => {
            let parts = if name == "cat" { "-s --squeeze-blank" } else { "-r --line-range -d -l" };
            let mut files = operands(arguments, if name == "cat" { "" } else { "-v -w -s -b -i -h -f -n -r --line-range --style -l" });
            let mut lines = Some(Span::WHOLE).filter(|_| !has(arguments, parts));
            if name == "open" {
                files.truncate(1); // SWE-agent's: a window of the file, around a line
                lines = None;
            }
            walk.passes(Filter { lines, files }, piped)
        }
        Program::Head => walk.passes(lines::head(arguments), piped),
        Program::Tail => walk.passes(lines::tail(arguments), piped),
        Program::Sed | Program::Perl if changes_in_place(name, arguments) => {
            let has_script = has(arguments, "-e -f --expression");
            let files = operands(arguments, "-e -f --expression");
            files.iter().skip(usize::from(!has_script)).for_each(|file| walk.write(file));
            Step::Does(Write)
        }
        Program::Sed => lines::sed(arguments).map_or(Step::Does(Run), |filter| walk.passes(filter, piped)),
        Program::Awk => lines::awk(arguments).map_or(Step::Does(Run), |filter| walk.passes(filter, piped)),
        Program::Grep => search(walk, name, arguments, piped),
        Program::Filter(skip) => {
            let files = operands(arguments, "-d -f -c -k -t -w -s -n -N -j -A -l -S --indent");
            if let [_, target, ..] = files.as_slice()
                && listed("uniq xxd", name)
            {
                walk.write(target);
                return Step::Does(Write);
            }
            if name == "yq" && has(arguments, "-i --inplace") {
                files.iter().skip(1).for_each(|file| walk.write(file));
                return Step::Does(Write);
            }
            walk.passes(Filter { lines: None, files: files.into_iter().skip(skip).collect() }, piped)
        }
        Program::Show => {
            walk.show(&operands(arguments, "-U -C -x --exclude"), None);
            Step::Does(Read)
        }
        Program::GetContent if name == "type" && !mentions(arguments, &["\\", "."]) => Step::Speaks,
        Program::GetContent => {
            let whole = arguments
                .iter()
                .all(|word| !word.text.starts_with('-') || listed("-path -literalpath -raw -encoding", &word.text.to_ascii_lowercase()));
            walk.show(&parameters(arguments), whole.then_some(Span::WHOLE));
            Step::Does(Read)
        }
        Program::Count => {
            let files = operands(arguments, "");
            if files.is_empty() && piped { walk.passes(Filter { lines: None, files }, piped) } else { Step::Does(List) }
        }
        Program::Git => git(walk, arguments),
        Program::Curl => curl(walk, arguments),
        Program::Wget => match value(arguments, "-O --output-document")
            .or_else(|| arguments.iter().find_map(|word| word.text.strip_prefix("-qO").filter(|rest| !rest.is_empty())))
        {
            Some(target) if target == "-" || is_sink(target) => Step::Does(Fetch),
            target => written(walk, target),
        },
        Program::Python => python(walk, arguments, piped),
        Program::Patch => {
            walk.fed_patch();
            arguments.iter().filter(|word| word.text.contains('\n')).for_each(|word| walk.patch(&word.text));
            if name == "patch" {
                operands(arguments, "-d -i -o").iter().take(1).for_each(|file| walk.write(file));
            }
            Step::Does(Write)
        }
        Program::Copy => copy(walk, name, arguments),
        Program::Dd => written(walk, arguments.iter().find_map(|word| word.text.strip_prefix("of="))),
        Change(_) | ChangeFirst => {
            let files = if name.contains('-') { parameters(arguments) } else { operands(arguments, "-m -s -t -o -d -r --mode --size --reference") };
            let (skip, most) = match program {
                Change(skip) => (skip, files.len()),
                _ => (0, 1),
            };
            files.iter().skip(skip).take(most).filter(|file| !is_sink(&file.text)).for_each(|file| walk.write(file));
            Step::Does(Write)
        }
        Program::Perl => {
            if has(arguments, "-c") {
                Step::Does(Verify)
            } else {
                Step::Does(Run)
            }
        }
    }
}

/// The program's name: without its folder where that holds programs only, and without `.exe`.
fn name_of(program: &str) -> String {
    let (folder, base) = program.rsplit_once(['/', '\\']).unwrap_or(("", program));
    let holds_programs =
        (folder.ends_with("bin") && (folder.starts_with('/') || folder.contains(".bin") || folder.contains("env"))) || folder.ends_with("Scripts");
    let is_wrapper = base.ends_with("mvnw") || base.starts_with("gradlew");
    let mut name = (if holds_programs || is_wrapper { base } else { program }).to_ascii_lowercase();
    if name.starts_with("python3.") {
        name.truncate("python3".len());
    }
    for end in [".exe", ".cmd", ".bat"] {
        name.truncate(name.strip_suffix(end).unwrap_or(&name).len());
    }
    name
}

fn search(walk: &mut Walk, name: &str, arguments: &[Word<'_>], piped: bool) -> Step {
    if name == "rg" && has(arguments, "--files --type-list --pre") {
        return Step::Does(if has(arguments, "--pre") { Run } else { List });
    }
    let mut places = if name.starts_with('s') { parameters(arguments) } else { operands(arguments, SEARCH_VALUES) };
    if !has(arguments, "-e -f --regexp") && !places.is_empty() {
        places.remove(0);
    }
    for place in &places {
        // A place is a file or a folder.
        if place.text.rsplit('/').next().is_some_and(|base| base.contains('.') && !base.starts_with('.')) {
            walk.read(place);
        }
    }
    walk.showed_other();
    // Of a listing, a build or a run it shows a part.
    let shows_part = piped && places.is_empty() && walk.pipe != Some(Read);
    if shows_part { Step::Filters } else { Step::Does(Search) }
}

fn git(walk: &mut Walk, arguments: &[Word<'_>]) -> Step {
    let Some((Outcome::Is(kind), words)) = rules::outcome("git", arguments) else { return Step::Speaks };
    let Some((command, rest)) = words.split_first() else { return Step::Speaks };
    match &*command.text {
        "blame" | "annotate" => rest.iter().rev().take(1).for_each(|file| walk.read(file)),
        "apply" => walk.fed_patch(),
        "rm" | "mv" | "restore" => rest.iter().for_each(|file| walk.write(file)),
        // A branch, or files.
        "checkout" | "reset" => {
            let named = arguments.iter().any(|word| word.text == "--");
            rest.iter().filter(|file| named || file.text.contains('.')).for_each(|file| walk.write(file));
        }
        _ => {}
    }
    Step::Does(kind)
}

/// A request that only asks; a file that it is saved to is a write.
fn curl(walk: &mut Walk, arguments: &[Word<'_>]) -> Step {
    let method = value(arguments, "-X --request");
    let sends =
        has(arguments, "-d -F -T --data --data-raw --data-binary --data-urlencode --json --form --upload-file") && !has(arguments, "-G --get");
    match value(arguments, "-o --output").filter(|target| !is_sink(target) && *target != "-") {
        Some(target) => written(walk, Some(target)),
        None if has(arguments, "-O --remote-name") => Step::Does(Write),
        None if sends || method.is_some_and(|method| !listed("GET HEAD OPTIONS", method)) => Step::Does(Run),
        None => Step::Does(Fetch),
    }
}

/// Whether an argument has one of these in it.
fn mentions(arguments: &[Word<'_>], parts: &[&str]) -> bool {
    arguments.iter().any(|word| parts.iter().any(|part| word.text.contains(part)))
}
