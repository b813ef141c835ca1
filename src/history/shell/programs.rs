//! Programs that read, list, search and change files, and what of their arguments is a file.

use super::lex::Word;
use super::lines::{self, Filter};
use super::words::{has, operands, value};
use super::{Step, Walk, git, network, projects};
use crate::history::kinds::ToolKind;
use crate::history::resources::Span;

/// Names that tell all. Case does not matter, so that PowerShell's are found too.
const NAMES: &[(Step, &[&str])] = &[
    (
        Step::Quiet,
        &[
            "echo",
            "printf",
            "true",
            "false",
            ":",
            "test",
            "[",
            "[[",
            "]]",
            "sleep",
            "export",
            "set",
            "unset",
            "shopt",
            "local",
            "declare",
            "typeset",
            "readonly",
            "let",
            "read",
            "shift",
            "return",
            "break",
            "continue",
            "exit",
            "wait",
            "trap",
            "for",
            "done",
            "fi",
            "}",
            "clear",
            "popd",
            "write-host",
            "write-output",
            "out-null",
            "start-sleep",
            "exec",
        ],
    ),
    (
        Step::Speaks,
        &[
            "pwd",
            "which",
            "where",
            "whereis",
            "type",
            "command",
            "hash",
            "whoami",
            "id",
            "groups",
            "hostname",
            "uname",
            "date",
            "printenv",
            "env",
            "ps",
            "df",
            "free",
            "uptime",
            "nproc",
            "lscpu",
            "lsof",
            "netstat",
            "ss",
            "history",
            "alias",
            "jobs",
            "man",
            "basename",
            "dirname",
            "realpath",
            "readlink",
            "seq",
            "expr",
            "bc",
            "nvidia-smi",
            "sw_vers",
            "locale",
            "ulimit",
            "umask",
            "test-path",
            "get-location",
            "get-command",
            "get-date",
            "get-process",
            "resolve-path",
            "pgrep",
            "cal",
            "tput",
        ],
    ),
    (
        Step::Filters,
        &[
            "tr",
            "column",
            "tac",
            "rev",
            "fold",
            "fmt",
            "expand",
            "unexpand",
            "paste",
            "comm",
            "join",
            "sort",
            "uniq",
            "cut",
            "jq",
            "yq",
            "xq",
            "xxd",
            "hexdump",
            "od",
            "strings",
            "base64",
            "iconv",
            "head",
            "tail",
            "sed",
            "awk",
            "gawk",
            "mawk",
            "cat",
            "bat",
            "batcat",
            "nl",
            "less",
            "more",
            "grep",
            "egrep",
            "fgrep",
            "rg",
            "ag",
            "ack",
            "wc",
            "select-object",
            "where-object",
            "sort-object",
            "measure-object",
            "format-table",
            "format-list",
            "out-string",
            "select-string",
            "convertfrom-json",
            "convertto-json",
        ],
    ),
    (
        Step::Does(ToolKind::List),
        &[
            "ls",
            "dir",
            "tree",
            "exa",
            "eza",
            "lsd",
            "du",
            "stat",
            "file",
            "locate",
            "md5sum",
            "sha1sum",
            "sha256sum",
            "shasum",
            "cksum",
            "get-childitem",
            "gci",
            "get-item",
            "get-filehash",
            "tokei",
            "cloc",
            "scc",
            "apt-cache",
            "nm",
            "objdump",
            "ldd",
            "zipinfo",
        ],
    ),
    (Step::Does(ToolKind::Search), &["search_dir", "search_file", "find_file"]),
    (
        Step::Does(ToolKind::Write),
        &[
            "rm",
            "rmdir",
            "unlink",
            "touch",
            "mkdir",
            "tee",
            "truncate",
            "shred",
            "ln",
            "zip",
            "gzip",
            "gunzip",
            "bzip2",
            "bunzip2",
            "xz",
            "unxz",
            "split",
            "mktemp",
            "sponge",
            "ed",
            "ex",
            "set-content",
            "add-content",
            "out-file",
            "new-item",
            "ni",
            "remove-item",
            "del",
            "clear-content",
            "rename-item",
            "expand-archive",
            "compress-archive",
            "rename",
            "install",
            "chmod",
            "chown",
            "chgrp",
            "rsync",
            "scp",
            "copy-item",
            "move-item",
            "copy",
            "move",
            "mv",
            "cp",
            "dd",
            "patch",
            "apply_patch",
            "applypatch",
            "setfacl",
            "xdg-open",
        ],
    ),
];

/// What a name tells, arguments aside.
pub(super) fn step_of(name: &str) -> Option<Step> {
    NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(step, _)| *step)
}

/// What a program does with its arguments.
pub(super) fn run(walk: &mut Walk, program: &Word<'_>, arguments: &[Word<'_>], piped: bool) -> Step {
    let name = name_of(&program.text);
    let name = name.as_str();
    match name {
        "cd" | "pushd" | "chdir" | "set-location" | "sl" => {
            walk.go(arguments.iter().find(|word| !matches!(&*word.text, "--" | "-P" | "-L" | "/d")));
            return Step::Quiet;
        }
        "popd" => walk.go(None),
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "powershell" | "pwsh" | "cmd" => return shell(walk, arguments, piped),
        "eval" => {
            let text = arguments.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ");
            walk.inner_text(&text);
            return Step::Quiet;
        }
        "source" | "." => {
            let is_environment = |word: &Word<'_>| ["activate", "nvm.sh", "rc", "profile", ".env"].iter().any(|end| word.text.ends_with(end));
            return if arguments.first().is_some_and(is_environment) { Step::Quiet } else { Step::Does(ToolKind::Run) };
        }
        "xargs" | "parallel" => {
            let inner = operands(arguments, &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E", "--max-args"]);
            return walk.behind(arguments, inner.first().copied(), true);
        }
        "find" | "fd" | "fdfind" => return find(walk, arguments),
        "git" => return git::run(walk, arguments),
        "cat" | "bat" | "batcat" | "nl" | "less" | "more" => {
            let whole = !has(arguments, if name == "cat" { &["-s", "--squeeze-blank"] } else { &["-r", "--line-range", "-d", "-l"] });
            let files = operands(arguments, &["-v", "-w", "-s", "-b", "-i", "-h", "-f", "-n", "-r", "--line-range", "--style", "-l"]);
            // Only `nl` has flags with values of their own; for the others these are switches.
            let files = if name == "cat" { operands(arguments, &[]) } else { files };
            return walk.passes(Filter { lines: whole.then_some(Span::WHOLE), files }, piped);
        }
        "head" => return walk.passes(lines::head(arguments), piped),
        "tail" => return walk.passes(lines::tail(arguments), piped),
        "sed" | "gsed" | "perl" if changes_in_place(name, arguments) => {
            let scripts =
                has(arguments, &["-e", "-f", "--expression"]) || (name == "perl" && arguments.iter().any(|word| ends_in_script(&word.text)));
            let files = operands(arguments, &["-e", "-f", "--expression"]);
            let files = if name == "perl" { operands(arguments, &["-e"]) } else { files };
            files.iter().skip(usize::from(!scripts)).for_each(|file| walk.write(file));
            return Step::Does(ToolKind::Write);
        }
        "sed" | "gsed" if has_sed_write(arguments) => return Step::Does(ToolKind::Write),
        "sed" | "gsed" => return walk.passes(lines::sed(arguments), piped),
        "awk" | "gawk" | "mawk" => {
            let script = arguments.iter().find(|word| word.text.contains("print >") || word.text.contains("system(") || word.text.contains("| \""));
            let opaque = script.is_some() || arguments.iter().any(|word| has_redirection(&word.text)) || has(arguments, &["-f", "-i"]);
            return if opaque { Step::Does(ToolKind::Run) } else { walk.passes(lines::awk(arguments), piped) };
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "select-string" | "sls" => return search(walk, name, arguments, piped),
        "wc" => {
            let files = operands(arguments, &[]);
            if files.is_empty() && piped {
                return walk.passes(Filter { lines: None, files }, piped);
            }
            return Step::Does(ToolKind::List);
        }
        "sort" if has(arguments, &["-o", "--output"]) => {
            let target = value(arguments, &["--output", "-o"]).map(|target| Word { text: target.into(), literal: true });
            target.iter().for_each(|target| walk.write(target));
            return Step::Does(ToolKind::Write);
        }
        "yq" if has(arguments, &["-i", "--inplace"]) => {
            operands(arguments, &[]).iter().skip(1).for_each(|file| walk.write(file));
            return Step::Does(ToolKind::Write);
        }
        "tr" => return walk.passes(Filter { lines: None, files: Vec::new() }, piped),
        "jq" | "yq" | "xq" => {
            let files = operands(arguments, &["--indent", "-L"]).into_iter().skip(1).collect();
            return walk.passes(Filter { lines: None, files }, piped);
        }
        "diff" | "colordiff" | "zcat" | "bzcat" | "xzcat" | "cmp" => {
            walk.show(&operands(arguments, &["-U", "-C", "-x", "--exclude"]), None);
            return Step::Does(ToolKind::Read);
        }
        "get-content" | "gc" | "type" if !arguments.is_empty() && (name != "type" || arguments[0].text.contains(['\\', '.'])) => {
            let whole =
                arguments.iter().all(|word| !word.text.starts_with('-') || is_any(&word.text, &["-path", "-literalpath", "-raw", "-encoding"]));
            walk.show(&parameters(arguments), whole.then_some(Span::WHOLE));
            return Step::Does(ToolKind::Read);
        }
        _ => {}
    }
    match step_of(name) {
        Some(Step::Does(ToolKind::Write)) => return change(walk, name, arguments),
        Some(Step::Filters) => {
            let files = operands(arguments, &["-d", "-f", "-c", "-k", "-t", "-w", "-s", "-n", "-N", "-j", "-A", "-l", "-S"]);
            let files = if name.contains('-') { Vec::new() } else { files };
            return walk.passes(Filter { lines: None, files }, piped);
        }
        Some(step) => return step,
        None => {}
    }
    let known = network::run(walk, name, arguments).or_else(|| projects::run(walk, name, arguments, piped));
    known.or_else(|| projects::own_script(&program.text)).unwrap_or(Step::Does(ToolKind::Run))
}

/// The program's name: without its folder where that holds programs only, and without `.exe`.
fn name_of(program: &str) -> String {
    let (folder, base) = program.rsplit_once(['/', '\\']).unwrap_or(("", program));
    let holds_programs =
        folder.ends_with("bin") && (folder.starts_with('/') || folder.contains(".bin") || folder.contains("env")) || folder.ends_with("Scripts");
    let name = if holds_programs || base.ends_with("mvnw") || base.starts_with("gradlew") { base } else { program };
    let name = name.to_ascii_lowercase();
    [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).map_or(name.clone(), str::to_owned)
}

/// `bash -lc "…"`, a script on the way in, or a script file.
fn shell(walk: &mut Walk, arguments: &[Word<'_>], piped: bool) -> Step {
    let at = arguments.iter().position(|word| {
        let text = word.text.to_ascii_lowercase();
        text == "/c" || text == "-command" || (text.starts_with('-') && !text.starts_with("--") && text.len() < 6 && text.contains('c'))
    });
    match at.and_then(|at| arguments.get(at + 1)) {
        Some(script) => {
            walk.inner_text(&script.text);
            Step::Quiet
        }
        None if has(arguments, &["--version", "--help"]) && !piped => Step::Speaks,
        None if has(arguments, &["-n"]) => Step::Does(ToolKind::Verify),
        None => operands(arguments, &[]).first().and_then(|script| projects::own_script(&script.text)).unwrap_or(Step::Does(ToolKind::Run)),
    }
}

fn find(walk: &mut Walk, arguments: &[Word<'_>]) -> Step {
    if has_any(arguments, &["-delete", "-fprint", "-fprintf", "-fls"]) {
        return Step::Does(ToolKind::Write);
    }
    walk.does(ToolKind::List);
    let starts = ["-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch"];
    for (at, _) in arguments.iter().enumerate().filter(|(_, word)| starts.contains(&&*word.text)).take(8) {
        let inner = &arguments[at + 1..];
        let end = inner.iter().position(|word| matches!(&*word.text, ";" | "+")).unwrap_or(inner.len());
        match walk.behind(&inner[..end], inner[..end].first(), true) {
            Step::Does(kind) => walk.saw(kind),
            _ => walk.showed_other(),
        }
    }
    Step::Does(ToolKind::List)
}

fn search(walk: &mut Walk, name: &str, arguments: &[Word<'_>], piped: bool) -> Step {
    if name == "rg" && has(arguments, &["--files", "--type-list"]) {
        return Step::Does(ToolKind::List);
    }
    if name == "rg" && has(arguments, &["--pre"]) {
        return Step::Does(ToolKind::Run);
    }
    const VALUED: &[&str] =
        &["-e", "-f", "-m", "-A", "-B", "-C", "-g", "-t", "-T", "-d", "-j", "-M", "--include", "--exclude", "--exclude-dir", "--glob"];
    let places = if name.starts_with("sel") || name == "sls" { Vec::new() } else { operands(arguments, VALUED) };
    let places = &places[usize::from(!has(arguments, &["-e", "-f", "--regexp"])).min(places.len())..];
    let is_file = |word: &&&Word<'_>| word.text.rsplit('/').next().is_some_and(|base| base.contains('.') && !base.starts_with('.'));
    let files: Vec<String> = places.iter().filter(is_file).filter_map(|place| walk.path(place)).collect();
    walk.reads.extend(files);
    walk.showed_other();
    match walk.pipe {
        // Of a listing, a build or a run it shows a part.
        Some(kind) if piped && places.is_empty() && kind != ToolKind::Read => Step::Filters,
        None if piped && places.is_empty() => Step::Filters,
        _ => Step::Does(ToolKind::Search),
    }
}

/// A program that changes files: which.
fn change(walk: &mut Walk, name: &str, arguments: &[Word<'_>]) -> Step {
    const VALUED: &[&str] = &["-m", "-s", "-t", "-o", "-d", "-r", "--mode", "--size", "--reference"];
    let files = if name.contains('-') { parameters(arguments) } else { operands(arguments, VALUED) };
    match name {
        "apply_patch" | "applypatch" | "patch" => {
            let fed = walk.fed.take();
            fed.iter().for_each(|text| walk.patch(text));
            arguments.iter().filter(|word| word.text.contains('\n')).for_each(|word| walk.patch(&word.text));
            if name == "patch" {
                files.iter().take(1).for_each(|file| walk.write(file));
            }
        }
        "mv" | "cp" | "rsync" | "scp" | "ln" | "install" | "copy" | "move" | "copy-item" | "move-item" | "rename-item" => {
            let Some((target, sources)) = files.split_last() else { return Step::Does(ToolKind::Write) };
            if name.starts_with("m") || name.starts_with("ren") {
                sources.iter().for_each(|source| walk.write(source));
            }
            if sources.len() > 1 || target.text.ends_with(['/', '.']) {
                for source in sources {
                    let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
                    walk.write(&Word { text: format!("{}/{base}", target.text).into(), literal: target.literal && source.literal });
                }
            } else {
                walk.write(target);
            }
        }
        "dd" => {
            let targets = arguments.iter().filter_map(|word| word.text.strip_prefix("of="));
            let targets: Vec<Word<'_>> = targets.map(|target| Word { text: target.into(), literal: true }).collect();
            targets.iter().for_each(|target| walk.write(target));
        }
        "chmod" | "chown" | "chgrp" | "setfacl" => files.iter().skip(1).for_each(|file| walk.write(file)),
        "zip" => files.iter().take(1).for_each(|file| walk.write(file)),
        "set-content" | "add-content" | "out-file" | "new-item" | "ni" => files.iter().take(1).for_each(|file| walk.write(file)),
        _ => files.iter().filter(|file| !super::is_sink(&file.text)).for_each(|file| walk.write(file)),
    }
    Step::Does(ToolKind::Write)
}

/// PowerShell: values of parameters that name files, and what stands alone.
fn parameters<'w, 'a>(arguments: &'w [Word<'a>]) -> Vec<&'w Word<'a>> {
    let mut files = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') {
            files.push(word);
        } else if is_any(&word.text, &["-path", "-literalpath", "-filepath", "-destination"]) {
            files.extend(words.next());
        } else if !is_any(&word.text, &["-raw", "-force", "-recurse", "-append", "-nonewline", "-wait"]) {
            words.next();
        }
    }
    files
}

fn is_any(word: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Exactly one of these words.
fn has_any(arguments: &[Word<'_>], words: &[&str]) -> bool {
    arguments.iter().any(|word| words.contains(&&*word.text))
}

/// `sed -i`, `-i.bak`, `-ni`, `--in-place`; `perl -pi`.
fn changes_in_place(name: &str, arguments: &[Word<'_>]) -> bool {
    arguments.iter().take_while(|word| word.text != "--").any(|word| {
        let flag = word.text.strip_prefix('-').unwrap_or("");
        let cluster = flag.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or("");
        let before = cluster.split(['e', 'f', 'I', 'M']).next().unwrap_or("");
        flag.starts_with("-in-place") || (!flag.starts_with('-') && before.contains('i') && (name == "perl" || before.len() <= 5))
    })
}

fn ends_in_script(flag: &str) -> bool {
    flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('e')
}

/// Sed's `w file`, or its `e`, at the end of a script.
fn has_sed_write(arguments: &[Word<'_>]) -> bool {
    arguments.iter().any(|word| word.text.contains("/w ") || word.text.contains("p;w ") || word.text.starts_with("w "))
}

/// `> "file"` in an awk script.
fn has_redirection(script: &str) -> bool {
    script.contains("> \"") || script.contains(">\"") || script.contains(">> ")
}
