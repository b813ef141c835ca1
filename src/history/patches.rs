//! Which files a patch changes: the agents' own format (`*** Update File: x`) and unified diffs (`+++ b/x`).
//!
//! ```
//! use warmfold::history::patches::files;
//!
//! assert_eq!(files("*** Begin Patch\n*** Update File: src/a.rs\n@@\n-1\n+2\n*** End Patch").collect::<Vec<_>>(), ["src/a.rs"]);
//! assert_eq!(files("--- a/src/b.rs\t2024\n+++ b/src/b.rs\t2024\n").collect::<Vec<_>>(), ["src/b.rs", "src/b.rs"]);
//! ```

/// The paths as they stand there, repeats included.
pub fn files(patch: &str) -> impl Iterator<Item = &str> {
    let mut old = false; // `+++ x` is a header behind `--- x` only: elsewhere it is an added line
    patch.lines().filter_map(move |line| {
        let behind = std::mem::take(&mut old);
        if let Some(rest) = line.trim_ascii_start().strip_prefix("*** ") {
            let names = ["Update File: ", "Add File: ", "Delete File: ", "Move to: "];
            return names.iter().find_map(|name| rest.strip_prefix(name)).map(str::trim_ascii).filter(|path| !path.is_empty());
        }
        let path = match line.strip_prefix("--- ") {
            Some(path) => {
                old = true;
                path
            }
            None => line.strip_prefix("+++ ").filter(|_| behind)?,
        };
        let path = path.split('\t').next().unwrap_or(path).trim_ascii();
        let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        (!path.is_empty() && path != "/dev/null").then_some(path)
    })
}
