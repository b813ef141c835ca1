//! Paths as agents write them, made comparable.
//!
//! ```
//! use warmfold::history::paths::{file_name, normalised, same_file};
//!
//! assert_eq!(normalised("/repo", "./src//main.rs"), "/repo/src/main.rs");
//! assert!(same_file("/repo/src/main.rs", "src/main.rs") && !same_file("/repo/src/main.rs", "ain.rs"));
//! assert_eq!(file_name("/repo/src/main.rs"), "main.rs");
//! ```

/// A path from `base` on, without `.`, `..` where it can be told, doubled slashes, backslashes and `file://`.
pub fn normalised(base: &str, path: &str) -> String {
    let path = path.trim_ascii();
    let path = path.strip_prefix("file://").map_or(path, |path| path.strip_prefix("localhost").unwrap_or(path));
    let path = path.strip_prefix('/').filter(|path| has_drive(path)).unwrap_or(path); // file:///C:/x
    let base = if is_absolute(path) { "" } else { base };
    let root = if base.is_empty() { path } else { base }.starts_with(['/', '\\']);
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split(['/', '\\']).chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && *last != "~" && !last.ends_with(':')) => _ = parts.pop(),
            ".." if root => {}
            part => parts.push(part),
        }
    }
    let mut whole = String::with_capacity(base.len() + path.len() + 2);
    for (at, part) in parts.iter().enumerate() {
        if root || at > 0 {
            whole.push('/');
        }
        whole.push_str(part);
    }
    if whole.is_empty() && !path.is_empty() {
        whole.push(if root { '/' } else { '.' });
    }
    whole
}

/// Whether two normalised paths name the same file: they are equal or, where only one is absolute, the other is its end.
pub fn same_file(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() || is_absolute(short) || !is_absolute(long) || short.len() == long.len() {
        return a == b && !a.is_empty();
    }
    long.ends_with(short) && long.as_bytes()[long.len() - short.len() - 1] == b'/'
}

/// The last part of a normalised path: two paths of the same file agree in it.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Adds a path that is not there yet, as far as a look at the last ones tells.
pub(super) fn add(paths: &mut Vec<String>, path: String) {
    const LOOK_BACK: usize = 32;
    if !paths.iter().rev().take(LOOK_BACK).any(|known| *known == path) {
        paths.push(path);
    }
}

/// Whether a path starts at a root, a drive or the home folder.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || path == "~" || path.starts_with("~/") || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() && (rest.is_empty() || matches!(rest[0], b'/' | b'\\')))
}
