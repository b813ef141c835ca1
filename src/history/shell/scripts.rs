//! Programs that start others, and scripts: what the line does is what these do.

use super::lex::Word;
use super::lines::Filter;
use super::rules::{self, Outcome};
use super::words::{from, has, operands};
use super::{Step, Walk};
use crate::history::kinds::ToolKind::{List, Run, Verify, Write};
use crate::history::names::listed;

/// The programs that [`find`] reads.
pub(super) const FINDERS: &str = "find fd fdfind";

pub(super) fn asks_for_itself(arguments: &[Word<'_>]) -> bool {
    arguments.len() == 1 && listed("--version -V -version --help", &arguments[0].text)
}

/// A script of the project's own whose name says that it tests, lints or builds: `./run_tests.sh`, `bin/test`.
pub(super) fn own_script(path: &str) -> Step {
    let base = path.rsplit_once('/').map_or("", |(_, base)| base);
    let name = base.strip_suffix(".sh").unwrap_or(base);
    let checks = runs_tests(name) || (!name.contains('.') && rules::goal(name) == Some(Verify));
    Step::Does(if checks { Verify } else { Run })
}

/// Scripts that run a project's tests: others with "test" in their name may be anything.
pub(super) fn runs_tests(script: &str) -> bool {
    listed("runtests.py run_tests.py runtests", script)
}

/// Does what a rule came to.
pub(super) fn follow(walk: &mut Walk, arguments: &[Word<'_>], outcome: Outcome, words: &[&Word<'_>], piped: bool) -> Step {
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let behind = |walk: &mut Walk, at: usize| words.get(at).map_or(Step::Does(Run), |start| walk.behind(from(arguments, start), piped));
    match outcome {
        Outcome::Is(kind) => Step::Does(kind),
        Outcome::Goal(at) => Step::Does(rules::goal(word(at)).filter(|kind| *kind == Verify).unwrap_or(Run)),
        Outcome::Goals => Step::Does(rules::goals(words)),
        Outcome::Behind(at) => behind(walk, at),
        Outcome::Either if word(0).is_empty() => {
            if arguments.is_empty() {
                Step::Does(Write)
            } else {
                Step::Speaks
            }
        } // `yarn` installs
        Outcome::Either if rules::goal(word(0)) == Some(Verify) => Step::Does(Verify),
        Outcome::Either if word(0).contains('.') => Step::Does(Run),
        Outcome::Either => behind(walk, 0),
    }
}

/// `bash -lc "…"`, a script on the way in, or a script file.
pub(super) fn shell(walk: &mut Walk, arguments: &[Word<'_>], piped: bool) -> Step {
    let at = arguments.iter().position(|word| {
        let text = word.text.to_ascii_lowercase();
        listed("/c -command", &text) || (text.len() < 6 && !text.starts_with("--") && text.starts_with('-') && text.contains('c'))
    });
    match at.and_then(|at| arguments.get(at + 1)) {
        Some(script) => {
            walk.inner_text(&script.text);
            Step::Quiet
        }
        None if asks_for_itself(arguments) && !piped => Step::Speaks,
        None if has(arguments, "-n") => Step::Does(Verify),
        None => operands(arguments, "").first().map_or(Step::Does(Run), |script| own_script(&script.text)),
    }
}

pub(super) fn find(walk: &mut Walk, arguments: &[Word<'_>]) -> Step {
    let begins = |word: &Word<'_>, starts: &str| starts.split(' ').any(|start| word.text.starts_with(start));
    if arguments.iter().any(|word| begins(word, "-delete -fprint -fls")) {
        return Step::Does(Write);
    }
    walk.does(List);
    if arguments.iter().any(|word| begins(word, "--exec= --exec-batch=")) {
        return Step::Does(Run);
    }
    let is_start = |word: &&Word<'_>| listed("-exec -execdir -ok -okdir -x -X --exec --exec-batch", &word.text);
    for (at, start) in arguments.iter().filter(is_start).enumerate() {
        let inner = from(arguments, start).get(1..).unwrap_or_default();
        let is_find = inner.first().is_some_and(|word| listed(FINDERS, &word.text.to_ascii_lowercase()));
        if at >= 3 || is_find {
            return Step::Does(Run); // nobody writes that
        }
        let end = inner.iter().position(|word| listed("; +", &word.text)).unwrap_or(inner.len());
        if let Step::Does(kind) = walk.behind(&inner[..end], true) {
            walk.saw(kind);
        }
    }
    Step::Does(List)
}

pub(super) fn python(walk: &mut Walk, arguments: &[Word<'_>], piped: bool) -> Step {
    if asks_for_itself(arguments) {
        return Step::Speaks;
    }
    let words = operands(arguments, "-c -W -X");
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    if has(arguments, "-m") {
        return match words.first() {
            Some(module) if module.text == "json.tool" => walk.passes(Filter { lines: None, files: words[1..].to_vec() }, piped),
            Some(module) => walk.behind(from(arguments, module), piped),
            None => Step::Does(Run),
        };
    }
    let script = word(0).rsplit('/').next().unwrap_or("");
    let is_task = listed("manage.py setup.py", script) && listed("test check build", word(1));
    Step::Does(if !has(arguments, "-c") && (is_task || runs_tests(script)) { Verify } else { Run })
}
