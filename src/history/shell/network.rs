//! Programs that talk to elsewhere.

use super::lex::Word;
use super::words::{has, operands, value};
use super::{Step, Walk, is_sink};
use crate::history::kinds::ToolKind;

/// What it does; `None` for a program that does not.
pub(super) fn run(walk: &mut Walk, name: &str, arguments: &[Word<'_>]) -> Option<Step> {
    let words = operands(arguments, &["-R", "--repo", "-n", "--namespace", "--context", "-H", "-f"]);
    let word = |at: usize| words.get(at).map_or("", |word| &*word.text);
    let kind = match name {
        "curl" => curl(walk, arguments),
        "http" | "https" | "xh" if matches!(word(0), "POST" | "PUT" | "PATCH" | "DELETE") || words.len() > 1 => ToolKind::Run,
        "http" | "https" | "xh" | "lynx" | "w3m" | "dig" | "nslookup" | "whois" => ToolKind::Fetch,
        "wget" => match value(arguments, &["-O", "-qO", "--output-document"]) {
            Some("-") => ToolKind::Fetch,
            Some(target) if is_sink(target) => ToolKind::Fetch,
            target => {
                target.into_iter().for_each(|target| walk.write(&Word { text: target.into(), literal: true }));
                ToolKind::Write
            }
        },
        "invoke-webrequest" | "invoke-restmethod" | "iwr" | "irm" => {
            let asks = arguments.iter().all(|word| !matches!(word.text.to_ascii_lowercase().as_str(), "-method" | "-body" | "-outfile"));
            if asks { ToolKind::Fetch } else { ToolKind::Run }
        }
        "gh" | "glab" => match (word(0), word(1)) {
            ("api", _) if has(arguments, &["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"]) => ToolKind::Write,
            ("api" | "search" | "status", _) => ToolKind::Fetch,
            ("run", "download") | ("release", "download") => ToolKind::Write,
            (_, "view" | "list" | "diff" | "checks" | "status" | "ls") => ToolKind::Fetch,
            _ => ToolKind::Write,
        },
        "docker" | "podman" => match (word(0), word(1)) {
            ("ps" | "images" | "logs" | "inspect" | "version" | "info" | "stats" | "top" | "port", _) => ToolKind::List,
            ("compose" | "image" | "container" | "volume" | "network", "ps" | "logs" | "ls" | "config" | "inspect") => ToolKind::List,
            ("build" | "buildx", _) | ("compose", "build") => ToolKind::Verify,
            _ => ToolKind::Run,
        },
        "kubectl" | "oc" => match word(0) {
            "get" | "describe" | "logs" | "explain" | "version" | "top" | "api-resources" => ToolKind::List,
            _ => ToolKind::Run,
        },
        _ => return None,
    };
    Some(Step::Does(kind))
}

/// A request that only asks; a file that it is saved to is a write.
fn curl(walk: &mut Walk, arguments: &[Word<'_>]) -> ToolKind {
    let sends = ["-d", "-F", "-T", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--json", "--form", "--upload-file"];
    let method = value(arguments, &["-X", "--request"]);
    let gets = has(arguments, &["-G", "--get"]) && method.is_none();
    let asks = (method.is_none_or(|method| matches!(method, "GET" | "HEAD" | "OPTIONS")) && !has(arguments, &sends)) || gets;
    let saved = value(arguments, &["-o", "--output"]).or_else(|| clustered_output(arguments)).filter(|target| !is_sink(target) && *target != "-");
    if let Some(target) = saved {
        walk.write(&Word { text: target.into(), literal: !target.contains('$') });
    }
    match asks {
        _ if saved.is_some() || has(arguments, &["-O", "--remote-name"]) => ToolKind::Write,
        true => ToolKind::Fetch,
        false => ToolKind::Run,
    }
}

/// `-sSLo file`.
fn clustered_output<'w>(arguments: &'w [Word<'_>]) -> Option<&'w str> {
    let is_cluster = |word: &Word<'_>| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('o');
    arguments.iter().position(is_cluster).and_then(|at| arguments.get(at + 1)).map(|word| &*word.text)
}
