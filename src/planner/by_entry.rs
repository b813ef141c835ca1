//! Values by entry, in the order of the entries.
//!
//! What a `BTreeMap<usize, V>` is, but the tree holds the entries alone, so that all of them share one: the code of a tree is several
//! kilobytes, and a value is found without a walk.

use std::collections::BTreeSet;
use std::ops::Range;

pub(super) struct ByEntry<V> {
    entries: BTreeSet<usize>,
    values: Vec<Option<V>>,
}

impl<V> Default for ByEntry<V> {
    fn default() -> Self {
        ByEntry { entries: BTreeSet::new(), values: Vec::new() }
    }
}

impl<V> ByEntry<V> {
    /// There are so many entries.
    pub(super) fn grow(&mut self, length: usize) {
        self.values.resize_with(length, || None);
    }

    pub(super) fn get(&self, entry: usize) -> Option<&V> {
        self.values[entry].as_ref()
    }

    pub(super) fn get_mut(&mut self, entry: usize) -> Option<&mut V> {
        self.values[entry].as_mut()
    }

    pub(super) fn insert(&mut self, entry: usize, value: V) {
        self.entries.insert(entry);
        self.values[entry] = Some(value);
    }

    pub(super) fn remove(&mut self, entry: usize) -> Option<V> {
        let value = self.values[entry].take()?;
        self.entries.remove(&entry);
        Some(value)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Those of these entries, ascending.
    pub(super) fn range(&self, entries: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, &V)> {
        self.entries.range(entries).filter_map(|entry| Some((*entry, self.values[*entry].as_ref()?)))
    }

    /// Those of this entry and later ones.
    pub(super) fn from(&self, entry: usize) -> impl DoubleEndedIterator<Item = (usize, &V)> {
        self.range(entry..usize::MAX)
    }
}
