//! The module arrows of DESIGN.md, read from the source: they go one way, one module knows providers, one is unsafe.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Source files by module path (`plan::carry`), without comments and without their own tests.
fn modules() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |path: &PathBuf| {
        let inside = path.strip_prefix(&root).expect("it lies in src").with_extension("");
        let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        parts.join("::")
    };
    let code = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a source file can be read");
        let own = text.split("#[cfg(test)]").next().unwrap_or("");
        own.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    };
    let modules: BTreeMap<String, String> = files.iter().map(|path| (name(path), code(path))).filter(|(name, _)| name != "lib").collect();
    assert!(modules.contains_key("planner") && modules.contains_key("wire::patch"), "src is not where it was");
    modules
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The paths that a module names, from the crate on: `use crate::a::{b, c::d}` gives `a::b` and `a::c::d`.
fn named(module: &str, code: &str) -> BTreeSet<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut named = BTreeSet::new();
    for (start, base) in [("crate::", ""), ("super::", parent)] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':') {
                continue;
            }
            for path in expand(&code[at + start.len()..]) {
                named.insert([base, path.as_str()].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("::"));
            }
        }
    }
    named
}

/// The paths of a use tree at the start of `text`.
fn expand(text: &str) -> Vec<String> {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter)).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let Some(inner) = rest.strip_prefix('{').filter(|_| path.ends_with("::")) else {
        return vec![path.trim_end_matches(':').to_owned()];
    };
    let mut paths = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let item = inner[start..at].trim();
                paths.extend(expand(item).into_iter().filter(|item| !item.is_empty()).map(|item| format!("{path}{item}")));
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    paths.iter().map(|path| path.trim_end_matches("::self").to_owned()).collect()
}

/// Which modules each module uses. A path belongs to the longest module that begins it.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules();
    let owner = |path: &str| {
        let candidates = (1..=path.split("::").count()).rev();
        candidates.map(|parts| path.split("::").take(parts).collect::<Vec<_>>().join("::")).find(|module| modules.contains_key(module))
    };
    let of = |(module, code): (&String, &String)| {
        let used = named(module, code).iter().filter_map(|path| owner(path)).filter(|used| used != module).collect();
        (module.clone(), used)
    };
    modules.iter().map(of).collect()
}

fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or(module)
}

#[test]
fn use_trees_are_read_whole() {
    let code = "use crate::a::{self, b, c::{D, e}};\nuse super::f;\nlet x = crate::g::H::new();";
    let expected = ["a", "a::b", "a::c::D", "a::c::e", "g::H::new", "outer::f"].map(str::to_owned);
    assert_eq!(named("outer::inner", code), BTreeSet::from(expected));
}

#[test]
fn arrows_between_top_modules_go_one_way() {
    let mut between: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, used) in arrows() {
        let others = used.iter().map(|used| top(used).to_owned()).filter(|used| used != top(&module));
        between.entry(top(&module).to_owned()).or_default().extend(others);
    }
    assert!(between["fold"].contains("wire") && between["planner"].contains("plan"), "nothing was read: {between:?}");
    assert_eq!(cycle(&between), None);
}

/// Files inside one folder may use what their parent holds; siblings may not use each other in a circle.
#[test]
fn arrows_between_siblings_go_one_way() {
    let arrows = arrows();
    let parents: BTreeSet<&str> = arrows.keys().filter_map(|module| module.rsplit_once("::")).map(|(parent, _)| parent).collect();
    for parent in parents {
        let is_child = |module: &str| module.rsplit_once("::").is_some_and(|(of, _)| of == parent);
        let siblings: BTreeMap<String, BTreeSet<String>> = arrows
            .iter()
            .filter(|(module, _)| is_child(module))
            .map(|(module, used)| (module.clone(), used.iter().filter(|used| is_child(used)).cloned().collect()))
            .collect();
        assert_eq!(cycle(&siblings), None, "in {parent}");
    }
}

/// A path that comes back to where it began.
fn cycle(arrows: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn walk<'a>(at: &'a str, arrows: &'a BTreeMap<String, BTreeSet<String>>, path: &mut Vec<&'a str>, done: &mut BTreeSet<&'a str>) -> bool {
        if path.contains(&at) {
            path.push(at);
            return true;
        }
        if !done.insert(at) {
            return false;
        }
        path.push(at);
        let found = arrows.get(at).into_iter().flatten().any(|next| walk(next, arrows, path, done));
        if !found {
            path.pop();
        }
        found
    }
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|start| {
        let mut path = Vec::new();
        walk(start, arrows, &mut path, &mut done).then(|| path.iter().map(|module| (*module).to_owned()).collect())
    })
}

/// What the design puts below may not reach up.
#[test]
fn lower_modules_do_not_know_higher_ones() {
    let layers: [&[&str]; 7] = [
        &["bytes", "error", "fields", "format", "tape"],
        &["history", "tokens", "cache", "options", "render", "plan"],
        &["planner", "report"],
        &["wire"],
        &["fold"],
        &["replay", "stats"],
        &["wasm"],
    ];
    let layer = |module: &str| layers.iter().position(|layer| layer.contains(&top(module))).unwrap_or_else(|| panic!("{module} is in no layer"));
    for (module, used) in arrows() {
        for used in used {
            assert!(layer(&used) <= layer(&module), "{module} uses {used}, which stands above it");
        }
    }
}

#[test]
fn only_the_wire_names_provider_json() {
    let names = [
        "\"tool_calls\"",
        "\"tool_call_id\"",
        "\"function_call\"",
        "\"reasoning_content\"",
        "\"reasoning_details\"",
        "\"image_url\"",
        "\"cache_control\"",
    ];
    let modules = modules();
    let naming = |code: &str| names.iter().copied().find(|name| code.contains(name));
    assert!(modules.iter().any(|(module, code)| module.starts_with("wire::") && naming(code).is_some()), "the wire names none any more");
    for (module, code) in &modules {
        assert!(top(module) == "wire" || naming(code).is_none(), "{module} names {:?}", naming(code));
    }
}

#[test]
fn only_the_bindings_are_unsafe_and_of_one_target() {
    // The host's own parser of numbers stands in for Rust's tables, with the same answers.
    let is_allowed = |module: &str, word: &str| top(module) == "wasm" || (module == "tape::json::number" && word == "target_arch");
    for (module, code) in modules() {
        let word = ["unsafe {", "unsafe fn", "unsafe impl", "target_arch"].into_iter().find(|word| code.contains(word));
        assert!(word.is_none_or(|word| is_allowed(&module, word)), "{module} says {word:?}");
    }
}
