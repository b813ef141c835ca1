//! Programs that are told by their subcommands and flags: version control, builds, tests, linters, package managers, clients.

use super::lex::Word;
use super::words::{has, operands};
use crate::history::kinds::ToolKind::{self, Fetch, List, Read, Run, Search, Verify, Write};
use crate::history::names::{Names, listed};

/// What a rule comes to.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    Is(ToolKind),
    /// What the target or script of this place is for: `make test`, `npm run lint`.
    Goal(usize),
    /// The same of all targets.
    Goals,
    /// The program that stands at this place does it: `uv run pytest`.
    Behind(usize),
    /// A script of the project, or a program: `yarn lint`, `pnpm eslint`.
    Either,
}

use Outcome::{Behind, Either, Goal, Goals, Is};

/// Programs, flags whose value is no subcommand, rules, and what holds where none does.
///
/// A rule is a list of patterns and the first that fits wins: `add` is a subcommand, `stash/list` two of them, `branch/` one without
/// another, `fmt+--check` one with a flag, `*` any.
type Rules = (&'static str, &'static str, &'static [(Outcome, &'static str)], Outcome);

const RULES: &[Rules] = &[
    (
        // What shows content reads, since models quote it; what shows names and states lists.
        "git",
        "-C -c --git-dir --work-tree -n -U -S -G -L",
        &[
            (
                Is(Write),
                "*+--output branch+-d branch+-D branch+-m branch+-M branch+-f branch+-u branch+--delete branch+--set-upstream-to tag+-d config+--unset reflog/expire reflog/delete",
            ),
            (Is(Read), "diff show diff-tree range-diff cat-file blame annotate"),
            (Is(Search), "grep"),
            (
                Is(List),
                "status log shortlog rev-parse rev-list ls-files ls-tree ls-remote describe reflog merge-base name-rev for-each-ref count-objects check-ignore whatchanged show-ref show-branch cherry version help branch/ branch+-a branch+-v branch+-r branch+-l branch+--list branch+--show-current branch+--contains branch+--merged tag/ tag+-l tag+--list stash/list stash/show worktree/list remote/ remote/show remote/get-url submodule/status config+--get config+--list config+-l bisect/log notes/list notes/show",
            ),
            (Is(Verify), "apply+--check apply+--stat fsck"),
        ],
        Is(Write),
    ),
    (
        "gh glab",
        "-R --repo",
        &[
            (Is(Write), "api+-X api+--method api+-f api+-F api+--field api+--input"),
            (Is(Fetch), "api search status */view */list */diff */checks */status"),
        ],
        Is(Write),
    ),
    (
        "docker podman kubectl oc",
        "-n --namespace --context -f",
        &[
            (
                Is(List),
                "ps images logs inspect version info port get describe explain compose/ps compose/logs compose/ls compose/config image/ls container/ls volume/ls network/ls",
            ),
            (Is(Verify), "build buildx/build compose/build"),
        ],
        Is(Run),
    ),
    (
        "cargo",
        "--manifest-path -p --package",
        &[
            (Is(Verify), "test t build b check c nextest doc bench miri llvm-cov hack deny audit rustc fmt+--check"),
            (Is(Write), "clippy+--fix fmt add remove rm install uninstall update fix clean publish new init generate-lockfile fetch vendor"),
            (Is(Verify), "clippy"),
            (Is(List), "tree metadata search info"),
        ],
        Is(Run),
    ),
    (
        "go",
        "-C",
        &[
            (Is(Verify), "test build vet"),
            (Is(Write), "env+-w env+-u fmt get install mod generate work clean fix"),
            (Is(List), "list env version"),
            (Is(Read), "doc"),
        ],
        Is(Run),
    ),
    (
        "npm pnpm yarn bun",
        "--prefix -w --workspace --filter -F -C --dir --cwd",
        &[
            (Is(List), "run/ ls list outdated why explain root bin"),
            (
                Is(Write),
                "*+--fix *+--write audit/fix install i ci add remove rm uninstall update up upgrade link publish init create dedupe prune version set config rebuild cache pkg",
            ),
            (Goal(1), "run run-script"),
            (Goal(2), "workspace"),
            (Is(Verify), "test t build pack audit"),
            (Behind(1), "exec dlx x"),
            (Is(Fetch), "view info show search"),
        ],
        Either,
    ),
    (
        "pip pip3 uv poetry pipenv pdm rye hatch apt apt-get brew yum dnf apk pacman snap gem conda mamba choco winget composer bundle pod rustup nvm pyenv asdf mise",
        "-n -p --with",
        &[
            (Behind(1), "run exec"),
            (Is(List), "list show freeze search info policy outdated deps tree ls versions current pip/list pip/show pip/freeze"),
            (Is(Verify), "check build test lint validate"),
            (
                Is(Write),
                "install add remove update upgrade uninstall reinstall purge create require tap sync lock init publish pip venv download autoremove use default target component",
            ),
        ],
        Is(Run),
    ),
    (
        "dotnet swift flutter dart zig stack cabal dune mix lein sbt deno wasm-pack maturin forge vite next nuxt turbo nx playwright cypress mkdocs astro meson ng terraform tofu helm ruff",
        "",
        &[
            (
                Is(Verify),
                "fmt+--check format+--check fmt+-check format+--diff format+--verify-no-changes format+--set-exit-if-changed format+--check-formatted",
            ),
            (Is(Write), "*+--fix add restore format fmt publish new pub install clean create deps.get init remove package apply destroy"),
            (Is(Verify), "test build analyze compile check lint typecheck verify credo dialyzer bundle plan validate template"),
            (Is(List), "list info show output rule"),
        ],
        Is(Run),
    ),
    ("make gmake just task mvn mvnw gradle gradlew ant rake rails invoke scons", "-f -C -p -j", &[], Goals),
    ("npx bunx pnpx uvx pipx dotenv cross-env coverage", "-p --package", &[(Is(Verify), "report"), (Behind(1), "run -m")], Behind(0)),
    ("black isort rustfmt stylua dprint", "", &[(Is(Verify), "*+--check *+--diff *+--check-only check")], Is(Write)),
    (
        "prettier clang-format gofmt shfmt autopep8 yapf goimports",
        "",
        &[(Is(Write), "*+--write *+-w *+-i *+--in-place"), (Is(Verify), "*+--check *+-c *+-l *+-d *+--list-different *+--dry-run *+--diff")],
        Is(Read),
    ),
    (
        "pytest py.test tox nox nosetests ctest jest vitest mocha ava jasmine karma tsc tsgo vue-tsc svelte-check mypy pyright basedpyright pylint flake8 pyflakes pycodestyle bandit vulture eslint stylelint tslint oxlint biome shellcheck hadolint yamllint actionlint markdownlint golangci-lint staticcheck rubocop rspec phpunit phpstan psalm pest clang-tidy cppcheck gcc g++ cc c++ clang clang++ rustc javac kotlinc ninja webpack rollup esbuild tsup cmake bazel xcodebuild sphinx-build pre-commit msbuild swiftlint ktlint detekt py_compile compileall unittest doctest knip publint c8 nyc promtool",
        "",
        &[(Is(Write), "*+--fix *+--write *+--apply *+--autocorrect *+-A")],
        Is(Verify),
    ),
    ("node perl ruby php", "", &[(Is(Verify), "*+--test *+--check *+-c *+-l")], Is(Run)),
    ("tar 7z", "", &[(Is(List), "*+-tf *+-tvf *+-tzf *+-tvzf *+-tzvf *+-tjf *+-tJf *+--list tf tvf tzf tvzf tzvf l")], Is(Write)),
    ("unzip", "", &[(Is(List), "*+-l *+-Z")], Is(Write)),
    ("http https xh", "", &[(Is(Run), "POST PUT PATCH DELETE")], Is(Fetch)),
    ("lynx w3m dig nslookup whois", "", &[], Is(Fetch)),
    ("invoke-webrequest invoke-restmethod iwr irm", "", &[(Is(Run), "*+-Method *+-Body *+-OutFile")], Is(Fetch)),
];

/// What a program does, and its operands; `None` for one that is not known.
pub(super) fn outcome<'w, 'a>(name: &str, arguments: &'w [Word<'a>]) -> Option<(Outcome, Vec<&'w Word<'a>>)> {
    static NAMES: Names = Names::new();
    let (_, valued, rules, otherwise) = &RULES[NAMES.find(&mut RULES.iter().map(|(names, ..)| *names), name)?];
    let mut words = operands(arguments, valued);
    words.retain(|word| !word.text.starts_with('+')); // cargo +nightly
    let found = rules.iter().find(|(_, patterns)| patterns.split(' ').any(|pattern| fits(pattern, &words, arguments)));
    Some((found.map_or(*otherwise, |(outcome, _)| *outcome), words))
}

fn fits(pattern: &str, words: &[&Word<'_>], arguments: &[Word<'_>]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let (pattern, flag) = pattern.split_once('+').unwrap_or((pattern, ""));
    let (first, second) = pattern.split_once('/').map_or((pattern, None), |(first, second)| (first, Some(second)));
    (first == "*" || first == word(0)) && second.is_none_or(|second| second == word(1)) && (flag.is_empty() || has(arguments, flag))
}

/// What a target or script is for, told by its words.
pub(super) fn goal(name: &str) -> Option<ToolKind> {
    let name = name.to_ascii_lowercase();
    let has = |known: &str| name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| listed(known, word));
    let checks = has(
        "test tests build lint check checks typecheck tsc e2e unit coverage compile verify vet ci validate package all spec assemble types unittest runtests",
    ) || name.contains("test");
    match () {
        () if has("check") => Some(Verify),
        () if has("fix write deploy publish install update migrate push release generate seed format fmt") => Some(Write),
        () if checks => Some(Verify),
        () => None,
    }
}

/// `make test`, `mvn -q clean verify`: one goal that changes something makes it a write, one that is not known a run.
pub(super) fn goals(words: &[&Word<'_>]) -> ToolKind {
    let only_clean = !words.is_empty() && words.iter().all(|word| word.text.ends_with("clean"));
    let mut kind = if only_clean { Write } else { Verify };
    for word in words.iter().filter(|word| !word.text.contains('=') && !word.text.ends_with("clean")) {
        match goal(&word.text) {
            Some(Write) => kind = Write,
            None if kind == Verify => kind = Run,
            _ => {}
        }
    }
    kind
}
