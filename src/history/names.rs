//! Lists of names, found by name. A list is one text with spaces between: so it is smallest; an index is made of them at the first look.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// Whether a word stands in a list.
pub(super) fn listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|known| known == word)
}

/// Finds the list that a name stands in.
pub(super) struct Names(OnceLock<FxHashMap<&'static str, usize>>);

impl Names {
    pub(super) const fn new() -> Names {
        Names(OnceLock::new())
    }

    /// Which of the lists has it; the first, where several do.
    pub(super) fn find(&self, lists: &mut dyn Iterator<Item = &'static str>, name: &str) -> Option<usize> {
        let index = self.0.get_or_init(|| {
            let mut index = FxHashMap::default();
            for (at, list) in lists.enumerate() {
                for name in list.split(' ') {
                    index.entry(name).or_insert(at);
                }
            }
            index
        });
        index.get(name).copied()
    }
}
