//! Joins results to tool calls: a result belongs to the nearest preceding message with an unanswered tool call of its id, and there
//! to the first of them, since servers answer parallel calls in order.
//!
//! Ids repeat in real traffic (a server that names every call `x`, a counter that starts again), so an id alone names nothing.
//!
//! ```
//! use warmfold::history::pairs::Pairs;
//!
//! let mut pairs = Pairs::default();
//! pairs.open("x", 1, 0); // by message 1
//! pairs.open("x", 3, 1); // by message 3, two at once
//! pairs.open("x", 3, 2);
//! assert_eq!([pairs.answer("x"), pairs.answer("x")], [Some(1), Some(2)]);
//! assert_eq!([pairs.answer("x"), pairs.answer("x")], [Some(0), None]);
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// The tool calls that wait for their result, by id.
#[derive(Clone, Default)]
pub struct Pairs<'t> {
    open: FxHashMap<&'t str, Vec<Batch>>,
}

/// Tool calls of one message.
#[derive(Clone)]
struct Batch {
    message: usize,
    calls: VecDeque<usize>,
}

impl<'t> Pairs<'t> {
    /// A tool call was made in this message.
    pub fn open(&mut self, id: &'t str, message: usize, tool_call: usize) {
        let batches = self.open.entry(id).or_default();
        match batches.last_mut().filter(|batch| batch.message == message) {
            Some(batch) => batch.calls.push_back(tool_call),
            None => batches.push(Batch { message, calls: VecDeque::from([tool_call]) }),
        }
    }

    /// A result arrived: the tool call that it answers.
    pub fn answer(&mut self, id: &str) -> Option<usize> {
        let batches = self.open.get_mut(id)?;
        let call = batches.last_mut()?.calls.pop_front();
        if batches.last().is_some_and(|batch| batch.calls.is_empty()) {
            batches.pop();
        }
        call
    }

    /// A tool call has its result, by another of its names.
    pub fn close(&mut self, id: &str, tool_call: usize) {
        let Some(batches) = self.open.get_mut(id) else { return };
        if let Some(batch) = batches.iter_mut().rfind(|batch| batch.calls.contains(&tool_call)) {
            batch.calls.retain(|call| *call != tool_call);
        }
        batches.retain(|batch| !batch.calls.is_empty());
    }
}
