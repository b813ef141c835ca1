//! Sums over the entries before any one, while single values change: a Fenwick tree.

/// Values by index, all zero at first.
pub(super) struct Sums {
    tree: Vec<u64>,
}

impl Sums {
    pub(super) fn new() -> Sums {
        Sums { tree: vec![0] }
    }

    /// Has so many values.
    pub(super) fn grow(&mut self, length: usize) {
        for at in self.tree.len()..=length {
            self.tree.push(self.before(at - 1) - self.before(at - (at & at.wrapping_neg())));
        }
    }

    pub(super) fn add(&mut self, index: usize, value: u64) {
        self.change(index, |sum| sum + value);
    }

    pub(super) fn subtract(&mut self, index: usize, value: u64) {
        self.change(index, |sum| sum - value);
    }

    fn change(&mut self, index: usize, change: impl Fn(u64) -> u64) {
        let mut at = index + 1;
        while at < self.tree.len() {
            self.tree[at] = change(self.tree[at]);
            at += at & at.wrapping_neg();
        }
    }

    /// Of the values before this index.
    pub(super) fn before(&self, index: usize) -> u64 {
        let (mut at, mut sum) = (index, 0);
        while at > 0 {
            sum += self.tree[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}
