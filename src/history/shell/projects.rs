//! Builds, tests, linters, formatters, package managers, interpreters.

use super::lex::Word;
use super::lines::Filter;
use super::words::{has, operands, value};
use super::{Step, Walk};
use crate::history::kinds::ToolKind::{self, Fetch, List, Read, Run, Verify, Write};

/// Programs that check or build whatever they are told to.
const CHECKERS: &[&str] = &[
    "pytest",
    "py.test",
    "tox",
    "nox",
    "nosetests",
    "ctest",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "jasmine",
    "karma",
    "tsc",
    "vue-tsc",
    "svelte-check",
    "mypy",
    "pyright",
    "basedpyright",
    "pylint",
    "flake8",
    "pyflakes",
    "pycodestyle",
    "bandit",
    "vulture",
    "eslint",
    "stylelint",
    "tslint",
    "oxlint",
    "biome",
    "shellcheck",
    "hadolint",
    "yamllint",
    "actionlint",
    "markdownlint",
    "golangci-lint",
    "staticcheck",
    "rubocop",
    "rspec",
    "phpunit",
    "phpstan",
    "psalm",
    "pest",
    "clang-tidy",
    "cppcheck",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "rustc",
    "javac",
    "kotlinc",
    "ninja",
    "webpack",
    "rollup",
    "esbuild",
    "tsup",
    "cmake",
    "bazel",
    "xcodebuild",
    "sphinx-build",
    "pre-commit",
    "msbuild",
    "swiftlint",
    "ktlint",
    "detekt",
    "py_compile",
    "compileall",
    "unittest",
    "doctest",
    "knip",
    "publint",
    "unbuild",
    "trunk",
    "gradle-test",
    "c8",
    "nyc",
    "html-validate",
    "lychee",
    "ajv",
    "promtool",
];

/// Programs by subcommand; one that is not listed runs.
const COMMANDS: &[(&[&str], &[(ToolKind, &[&str])])] = &[
    (
        &["cargo"],
        &[
            (
                Verify,
                &["test", "t", "build", "b", "check", "c", "clippy", "nextest", "doc", "bench", "miri", "llvm-cov", "hack", "deny", "audit", "rustc"],
            ),
            (
                Write,
                &[
                    "fmt",
                    "add",
                    "remove",
                    "rm",
                    "install",
                    "uninstall",
                    "update",
                    "fix",
                    "clean",
                    "publish",
                    "new",
                    "init",
                    "generate-lockfile",
                    "fetch",
                    "vendor",
                ],
            ),
            (List, &["tree", "metadata", "search", "info", "locate-project", "version"]),
        ],
    ),
    (
        &["go"],
        &[
            (Verify, &["test", "build", "vet"]),
            (Write, &["fmt", "get", "install", "mod", "generate", "work", "clean", "fix"]),
            (List, &["list", "env", "version"]),
            (Read, &["doc"]),
        ],
    ),
    (
        &["pip", "pip3"],
        &[(Write, &["install", "uninstall", "download", "wheel"]), (List, &["list", "show", "freeze", "index", "search"]), (Verify, &["check"])],
    ),
    (
        &["uv", "poetry", "pipenv", "pdm", "rye", "hatch"],
        &[
            (Write, &["add", "remove", "sync", "lock", "install", "uninstall", "update", "init", "publish", "pip", "venv"]),
            (Verify, &["check", "build", "test", "lint"]),
            (List, &["show", "tree", "graph"]),
        ],
    ),
    (
        &["apt", "apt-get", "brew", "yum", "dnf", "apk", "pacman", "snap", "gem", "conda", "mamba", "choco", "winget", "composer", "bundle", "pod"],
        &[
            (
                Write,
                &[
                    "install",
                    "add",
                    "remove",
                    "update",
                    "upgrade",
                    "uninstall",
                    "reinstall",
                    "purge",
                    "create",
                    "require",
                    "tap",
                    "del",
                    "autoremove",
                ],
            ),
            (List, &["list", "search", "show", "info", "policy", "outdated", "deps", "query"]),
            (Verify, &["validate", "check"]),
        ],
    ),
    (
        &[
            "dotnet",
            "swift",
            "flutter",
            "dart",
            "zig",
            "stack",
            "cabal",
            "dune",
            "mix",
            "lein",
            "sbt",
            "deno",
            "wasm-pack",
            "maturin",
            "forge",
            "vite",
            "next",
            "nuxt",
            "turbo",
            "nx",
            "playwright",
            "cypress",
            "mkdocs",
            "astro",
            "meson",
            "ng",
        ],
        &[
            (Verify, &["test", "build", "analyze", "compile", "check", "lint", "typecheck", "verify", "credo", "dialyzer", "bundle"]),
            (
                Write,
                &["add", "restore", "format", "fmt", "publish", "new", "pub", "install", "clean", "create", "deps.get", "init", "remove", "package"],
            ),
            (List, &["list", "--version", "info"]),
        ],
    ),
    (
        &["terraform", "tofu", "helm"],
        &[
            (Verify, &["plan", "validate", "lint", "template"]),
            (List, &["show", "list", "output", "state"]),
            (Write, &["fmt", "apply", "destroy", "init", "install"]),
        ],
    ),
    (&["ruff"], &[(Verify, &["check"]), (Write, &["format", "clean"]), (List, &["rule", "linter"])]),
    (
        &["rustup", "nvm", "pyenv", "asdf", "mise"],
        &[
            (Write, &["install", "uninstall", "update", "target", "component", "default", "use"]),
            (List, &["show", "list", "ls", "versions", "current"]),
        ],
    ),
];

/// Formatters, and whether they write without being told to.
const FORMATTERS: &[(&str, bool)] = &[
    ("black", true),
    ("isort", true),
    ("rustfmt", true),
    ("stylua", true),
    ("dprint", true),
    ("prettier", false),
    ("clang-format", false),
    ("gofmt", false),
    ("goimports", false),
    ("autopep8", false),
    ("yapf", false),
    ("shfmt", false),
];

/// Programs that run the program behind them.
const RUNNERS: &[&str] = &["npx", "bunx", "pnpx", "uvx", "pipx", "dotenv", "dotenvx", "cross-env", "coverage"];

pub(super) fn run(walk: &mut Walk, name: &str, arguments: &[Word<'_>], piped: bool) -> Option<Step> {
    let words = operands(
        arguments,
        &["--prefix", "-w", "--workspace", "--filter", "-F", "-C", "--dir", "--cwd", "--manifest-path", "-p", "--package", "--with", "-f"],
    );
    let words: Vec<&Word<'_>> = words.into_iter().filter(|word| !word.text.starts_with('+')).collect(); // cargo +nightly
    let first = words.first().map_or("", |word| &*word.text);
    let asks = arguments.len() == 1 && matches!(&*arguments[0].text, "--version" | "-V" | "-v" | "-version" | "--help" | "-h" | "version");
    let kind = match name {
        "npm" | "pnpm" | "yarn" | "bun" if !asks => return Some(package(walk, name, arguments, &words)),
        "python" | "python3" | "py" if !asks => return Some(python(walk, arguments, piped)),
        _ if (name.starts_with("python3.") || name.starts_with("python2")) && !asks => return Some(python(walk, arguments, piped)),
        "make" | "gmake" | "just" | "task" | "mvn" | "mvnw" | "gradle" | "gradlew" | "./gradlew" | "./mvnw" | "ant" | "rake" | "rails" | "invoke"
        | "scons" => goals(&words),
        _ if asks && is_known(name) => return Some(Step::Speaks),
        "node" | "nodejs" if has(arguments, &["--test", "--check", "-c"]) => Verify,
        "perl" | "ruby" if has(arguments, &["-c"]) => Verify,
        "php" if has(arguments, &["-l"]) => Verify,
        "tar" | "unzip" | "7z" => archive(name, arguments),
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "bundle" | "conda" if matches!(first, "run" | "exec") => {
            return Some(behind_word(walk, arguments, words.get(1).copied(), piped));
        }
        "uv" if first == "pip" && matches!(words.get(1).map(|word| &*word.text), Some("list" | "show" | "freeze")) => List,
        "cargo" if first == "fmt" && has(arguments, &["--check"]) => Verify,
        "terraform" | "dotnet" | "deno" | "ruff" | "dart" | "mix" if matches!(first, "fmt" | "format") && has(arguments, &CHECK_FLAGS) => Verify,
        "ruff" if first == "check" && has(arguments, &["--fix"]) => Write,
        "coverage" if first == "report" => Verify,
        "sphinx-build" | "rustc" if asks => return Some(Step::Speaks),
        _ if RUNNERS.contains(&name) => {
            let start = if matches!(first, "run" | "-m") { words.get(1) } else { words.first() };
            return Some(behind_word(walk, arguments, start.copied(), piped));
        }
        _ if CHECKERS.contains(&name) => {
            if has(arguments, &["--fix", "--write", "--apply", "--autocorrect", "--fix-type"]) || (name == "rubocop" && has(arguments, &["-a", "-A"]))
            {
                Write
            } else {
                Verify
            }
        }
        _ => {
            if let Some((_, by_default)) = FORMATTERS.iter().find(|(formatter, _)| *formatter == name) {
                format(arguments, *by_default)
            } else {
                let (_, commands) = COMMANDS.iter().find(|(names, _)| names.contains(&name))?;
                let found = commands.iter().find(|(_, names)| names.contains(&first)).map_or(Run, |(kind, _)| *kind);
                if found == Verify && has(arguments, &["--fix"]) { Write } else { found }
            }
        }
    };
    Some(Step::Does(kind))
}

/// Scripts that run a project's tests: others with "test" in their name may be anything.
const RUN_TESTS: [&str; 2] = ["runtests", "run_tests"];

const CHECK_FLAGS: [&str; 6] = ["--check", "-check", "--verify-no-changes", "--set-exit-if-changed", "--check-formatted", "--diff"];

/// A script of the project's own whose name says that it tests, lints or builds: `./run_tests.sh`, `bin/test`.
pub(super) fn own_script(path: &str) -> Option<Step> {
    let base = path.rsplit_once('/').map(|(_, base)| base)?;
    let name = base.strip_suffix(".sh").unwrap_or(base);
    let name = name.strip_suffix(".py").filter(|name| RUN_TESTS.contains(name)).unwrap_or(name);
    (!name.contains('.') && goal(name) == Some(Verify)).then_some(Step::Does(Verify))
}

fn is_known(name: &str) -> bool {
    CHECKERS.contains(&name)
        || COMMANDS.iter().any(|(names, _)| names.contains(&name))
        || FORMATTERS.iter().any(|(formatter, _)| *formatter == name)
        || ["node", "npm", "pnpm", "yarn", "bun", "python", "python3", "java", "ruby", "perl", "php", "deno", "make"].contains(&name)
}

/// What a target or script is for, told by its words.
fn goal(name: &str) -> Option<ToolKind> {
    const CHANGES: &[&str] =
        &["fix", "write", "deploy", "publish", "install", "clean", "update", "migrate", "push", "release", "generate", "seed", "format", "fmt"];
    const STAYS: &[&str] = &["dev", "start", "serve", "watch", "preview", "run", "up"];
    const CHECKS: &[&str] = &[
        "test",
        "tests",
        "build",
        "lint",
        "check",
        "checks",
        "typecheck",
        "tsc",
        "e2e",
        "unit",
        "coverage",
        "compile",
        "verify",
        "vet",
        "ci",
        "validate",
        "package",
        "all",
        "spec",
        "assemble",
        "types",
        "unittest",
        "ut",
        "it",
        "testclasses",
        "assembledebug",
        "runtests",
    ];
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let has = |known: &[&str]| words.clone().any(|word| known.contains(&word));
    if has(&["check"]) && has(&["format", "fmt", "generate"]) {
        return Some(Verify);
    }
    let checks = has(CHECKS) || words.clone().any(|word| word.starts_with("test") || word.starts_with("compile") || word.ends_with("test"));
    match () {
        () if has(CHANGES) => Some(Write),
        () if has(STAYS) && !checks => None,
        () if checks => Some(Verify),
        () => None,
    }
}

/// `make test`, `mvn -q verify`: one goal that changes something makes it a write, one that is not known a run.
fn goals(words: &[&Word<'_>]) -> ToolKind {
    let kinds = words.iter().filter(|word| !word.text.contains('=') && !word.text.chars().all(|letter| letter.is_ascii_digit()));
    let kinds: Vec<Option<ToolKind>> =
        kinds.map(|word| if word.text == "clean" || word.text == ":clean" { Some(Verify) } else { goal(&word.text) }).collect();
    let only_clean = words.len() == 1 && words[0].text == "clean";
    match () {
        () if only_clean || kinds.contains(&Some(Write)) => Write,
        () if kinds.contains(&None) => Run,
        () => Verify,
    }
}

/// npm and its like.
fn package(walk: &mut Walk, name: &str, arguments: &[Word<'_>], words: &[&Word<'_>]) -> Step {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let of_script = |script: &str| Step::Does(goal(script).filter(|kind| *kind == Verify).unwrap_or(Run));
    let kind = match word(0) {
        "" => {
            if name == "yarn" || has(arguments, &["install"]) {
                Write
            } else {
                List
            }
        }
        "run" | "run-script" if words.len() == 1 => List,
        "run" | "run-script" | "workspace" => {
            let script = if word(0) == "workspace" { word(2) } else { word(1) };
            if has(arguments, &["--fix", "--write"]) {
                Write
            } else {
                return of_script(script);
            }
        }
        "test" | "t" | "tst" | "build" | "pack" => Verify,
        "exec" | "dlx" | "x" => return behind_word(walk, arguments, words.get(1).copied(), false),
        "install" | "i" | "ci" | "add" | "remove" | "rm" | "uninstall" | "update" | "up" | "upgrade" | "link" | "publish" | "init" | "create"
        | "dedupe" | "prune" | "version" | "set" | "config" | "rebuild" | "cache" | "pkg" => Write,
        "ls" | "list" | "outdated" | "why" | "explain" | "root" | "bin" | "prefix" => List,
        "view" | "info" | "show" | "search" => Fetch,
        "audit" => {
            if word(1) == "fix" {
                Write
            } else {
                Verify
            }
        }
        _ if name == "npm" => Run,
        // yarn, pnpm and bun take a script or a program of the project.
        script => match goal(script) {
            Some(Verify) => Verify,
            _ if script.contains('.') => Run,
            _ => return behind_word(walk, arguments, words.first().copied(), false),
        },
    };
    Step::Does(kind)
}

fn python(walk: &mut Walk, arguments: &[Word<'_>], piped: bool) -> Step {
    if let Some(module) = value(arguments, &["-m"]) {
        if module == "json.tool" {
            let files = operands(arguments, &["-m", "--indent"]);
            return walk.passes(Filter { lines: None, files }, piped);
        }
        let at = arguments.iter().position(|word| word.text == module);
        return behind_word(walk, arguments, at.map(|at| &arguments[at]), piped);
    }
    let words = operands(arguments, &["-c", "-W", "-X"]);
    let script = words.first().map_or("", |word| &*word.text).rsplit('/').next().unwrap_or("");
    let argument = words.get(1).map_or("", |word| &*word.text);
    let checks = match script {
        "manage.py" => matches!(argument, "test" | "check"),
        "setup.py" => matches!(argument, "test" | "check" | "build"),
        script => RUN_TESTS.contains(&script.strip_suffix(".py").unwrap_or(script)),
    };
    Step::Does(if checks && !has(arguments, &["-c"]) { Verify } else { Run })
}

/// The program behind a runner: one that we know, or a run.
fn behind_word(walk: &mut Walk, arguments: &[Word<'_>], start: Option<&Word<'_>>, piped: bool) -> Step {
    match start {
        Some(_) => walk.behind(arguments, start, piped),
        None => Step::Does(Run),
    }
}

fn format(arguments: &[Word<'_>], by_default: bool) -> ToolKind {
    let checks = has(arguments, &CHECK_FLAGS) || has(arguments, &["--check-only", "-c", "-l", "-d", "--list-different", "--dry-run", "--list"]);
    let writes = has(arguments, &["--write", "-w", "-i", "--in-place"]);
    match () {
        () if checks && !(writes && !by_default) => Verify,
        () if writes || by_default => Write,
        () => Read,
    }
}

fn archive(name: &str, arguments: &[Word<'_>]) -> ToolKind {
    let first = arguments.first().map_or("", |word| &*word.text);
    let lists = match name {
        "tar" => first == "--list" || (!first.starts_with("--") && first.contains('t')),
        "7z" => first == "l",
        _ => has(arguments, &["-l", "-v", "-Z"]),
    };
    if lists { List } else { Write }
}
