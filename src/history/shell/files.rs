//! Which files a program changes.

use super::lex::Word;
use super::words::operands;
use super::{Step, Walk};
use crate::history::kinds::ToolKind::Write;
use crate::history::names::listed;

pub(super) fn copy(walk: &mut Walk, name: &str, arguments: &[Word<'_>]) -> Step {
    let files = if name.contains('-') { parameters(arguments) } else { operands(arguments, "-m -t -o -e --mode --exclude --include") };
    let Some((target, sources)) = files.split_last() else { return Step::Does(Write) };
    if name.starts_with(['m', 'r']) && name != "rsync" {
        sources.iter().for_each(|source| walk.write(source));
    }
    if sources.len() == 1 && !target.text.ends_with(['/', '.']) {
        walk.write(target);
        return Step::Does(Write);
    }
    for source in sources {
        let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let path = [&*target.text, base].join("/");
        walk.write(&Word { text: path.into(), literal: target.literal && source.literal });
    }
    Step::Does(Write)
}

/// A write to the file that a flag names.
pub(super) fn written(walk: &mut Walk, target: Option<&str>) -> Step {
    if let Some(target) = target {
        walk.write(&Word { text: target.into(), literal: !target.contains(['$', '*', '`']) });
    }
    Step::Does(Write)
}

/// PowerShell: values of parameters that name files, and what stands alone.
pub(super) fn parameters<'w, 'a>(arguments: &'w [Word<'a>]) -> Vec<&'w Word<'a>> {
    let mut files = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if !word.text.starts_with('-') {
            files.extend(Some(word).filter(|word| word.text != "}"));
            continue;
        }
        let name = word.text.to_ascii_lowercase();
        if listed("-path -literalpath -filepath -destination", &name) {
            files.extend(words.next());
        } else if !listed("-raw -force -recurse -append -nonewline -wait", &name) {
            words.next();
        }
    }
    files
}

/// `sed -i`, `-i.bak`, `-ni`, `--in-place`; `perl -pi`.
pub(super) fn changes_in_place(name: &str, arguments: &[Word<'_>]) -> bool {
    arguments.iter().take_while(|word| word.text != "--").any(|word| {
        let Some(flag) = word.text.strip_prefix('-') else { return false };
        let letters = flag.bytes().take_while(|byte| byte.is_ascii_alphabetic() && !b"efIM".contains(byte));
        flag.starts_with("-in-place") || letters.take(if name == "perl" { 20 } else { 5 }).any(|byte| byte == b'i')
    })
}
