//! Joins results to tool calls: a result belongs to the nearest preceding unanswered tool call with its id.
//!
//! Ids repeat in real traffic (a server that names every call `x`, a counter that starts again), so an id alone names nothing.
//!
//! ```
//! use warmfold::history::pairs::Pairs;
//!
//! let mut pairs = Pairs::default();
//! pairs.open("x", 0);
//! pairs.open("x", 1);
//! assert_eq!(pairs.answer("x"), Some(1));
//! assert_eq!(pairs.answer("x"), Some(0));
//! assert_eq!(pairs.answer("x"), None);
//! ```

use rustc_hash::FxHashMap;

/// The tool calls that wait for their result, by id.
#[derive(Default)]
pub struct Pairs<'t> {
    open: FxHashMap<&'t str, Vec<usize>>,
}

impl<'t> Pairs<'t> {
    /// A tool call was made.
    pub fn open(&mut self, id: &'t str, tool_call: usize) {
        self.open.entry(id).or_default().push(tool_call);
    }

    /// A result arrived: the tool call that it answers.
    pub fn answer(&mut self, id: &str) -> Option<usize> {
        self.open.get_mut(id)?.pop()
    }
}
