//! What the model quoted although it no longer stood in the prompt.
//!
//! A quote is a line that the model writes, in text or in the arguments of a call, and that first came from a tool's result. It is lost
//! if it stands nowhere in that call's prompt. Lines are compared as [`quotes`] compares them.
//!
//! ```
//! use warmfold::replay::losses::quotable;
//!
//! let line = quotable("  12→    let answer = the_question.ask();\n");
//! assert_eq!(line, quotable("+let answer  = the_question.ask();"));
//! assert!(line.len() == 1 && quotable("    }\n").is_empty());
//! ```

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::{Role, View, quotes};
use crate::plan::{Edit, Standing};
use crate::render;

/// Where each line stands, and what each answer quotes.
pub struct Losses {
    /// For the message that begins an answer, the lines that the answer quotes, each with the messages that hold it.
    quotes: FxHashMap<usize, Vec<(u64, Vec<usize>)>>,
}

impl Losses {
    /// Reads a whole transcript.
    pub fn of(view: &View<'_>) -> Losses {
        let mut holders: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut quotes: FxHashMap<usize, Vec<(u64, Vec<usize>)>> = FxHashMap::default();
        let mut answer = 0;
        for (at, message) in view.messages.iter().enumerate() {
            let lines = lines_of(view, at);
            if view.begins_answer(at) {
                answer = at;
            }
            if message.role == Role::Assistant {
                let known: FxHashSet<u64> = quotes.get(&answer).into_iter().flatten().map(|(line, _)| *line).collect();
                let is_quote = |line: &u64| holders.get(line).is_some_and(|holders| view.messages[holders[0]].role == Role::Tool);
                let found = lines.iter().filter(|line| !known.contains(*line) && is_quote(line)).map(|line| (*line, holders[line].clone()));
                let found: Vec<_> = found.collect();
                if !found.is_empty() {
                    quotes.entry(answer).or_default().extend(found);
                }
            }
            for line in lines {
                holders.entry(line).or_default().push(at);
            }
        }
        Losses { quotes }
    }

    /// How many lines the answers quote in all.
    pub fn quotes(&self) -> usize {
        self.quotes.values().map(Vec::len).sum()
    }

    /// The lines that the answer in this message quotes and that no longer stand in its prompt: how many, and the messages that had them.
    pub fn lost(&self, view: &View<'_>, answer: usize, standing: &Standing, shown: &mut Shown) -> (usize, BTreeSet<usize>) {
        let edits = &standing.edits;
        let stands = |shown: &mut Shown, line: u64, message: usize| {
            if let Some(segment) = standing.segment_of(message) {
                return quotable(&segment.text).contains(&line);
            }
            let entries = view.messages[message].entries.clone();
            let from = edits.partition_point(|(entry, _)| *entry < entries.start);
            let mut edited = edits[from..].iter().take_while(|(entry, _)| *entry < entries.end).peekable();
            let is_gone = |entry: usize| standing.segment_with(view, entry).is_some();
            (edited.peek().is_none() && (entries.is_empty() || !entries.clone().all(is_gone)))
                || edited.any(|(entry, edit)| shown.lines(view, *entry, edit).contains(&line))
        };
        let (mut lost, mut from) = (0, BTreeSet::new());
        for (line, holders) in self.quotes.get(&answer).map_or(&[][..], Vec::as_slice) {
            if !holders.iter().any(|message| stands(shown, *line, *message)) {
                lost += 1;
                from.extend(holders.last());
            }
        }
        (lost, from)
    }
}

/// The lines that edits leave, read once each.
#[derive(Default)]
pub struct Shown(FxHashMap<(usize, usize), FxHashSet<u64>>);

impl Shown {
    fn lines(&mut self, view: &View<'_>, entry: usize, edit: &Rc<Edit>) -> &FxHashSet<u64> {
        self.0.entry((entry, Rc::as_ptr(edit) as usize)).or_insert_with(|| quotable(&render::text(view.entries[entry].text(), &edit.pieces)))
    }
}

fn lines_of(view: &View<'_>, message: usize) -> FxHashSet<u64> {
    let mut lines = FxHashSet::default();
    quotes::texts(view, message, |text| lines.extend(quotable(text)));
    lines
}

/// Fingerprints of the lines worth quoting. A line ends at a line end, or at one that is escaped.
pub fn quotable(text: &str) -> FxHashSet<u64> {
    let ends = text.replace("\\r\\n", "\n").replace("\\n", "\n");
    ends.split('\n').filter_map(quotes::quotable).collect()
}
