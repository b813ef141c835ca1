//! What tool calls do, remembered: an agent sends all its calls again on every turn, and reading them is a quarter of a carried call.
//!
//! It changes no answer, since the same call is the same action. What is held is bounded, and each thread has its own.
//!
//! ```
//! use std::rc::Rc;
//! use warmfold::history::{actions::Action, remembered};
//!
//! let read = || remembered::action("read", r#"{"path": "a.rs"}"#);
//! assert_eq!(*read(), Action::of("read", r#"{"path": "a.rs"}"#, None, None));
//! assert!(Rc::ptr_eq(&read(), &read()));
//! ```

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};

use super::actions::Action;

/// Longer calls are read again: they are mostly edits, each made once.
const LONGEST: usize = 4096;

/// Bytes of calls, and of what each takes beside them, that are held until all are forgotten.
const MOST: usize = 4 << 20;
const EACH: usize = 512;

#[derive(Default)]
struct Memory {
    calls: FxHashMap<u64, Call>,
    bytes: usize,
}

struct Call {
    tool: String,
    arguments: String,
    action: Rc<Action>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What a call does of whose tool the host says nothing.
pub fn action(tool: &str, arguments: &str) -> Rc<Action> {
    let read = || Rc::new(Action::of(tool, arguments, None, None));
    if tool.len() + arguments.len() > LONGEST {
        return read();
    }
    let mut hasher = FxHasher::default();
    (tool, arguments).hash(&mut hasher);
    let key = hasher.finish();
    MEMORY.with_borrow_mut(|memory| {
        if let Some(known) = memory.calls.get(&key).filter(|known| known.tool == tool && known.arguments == arguments) {
            return known.action.clone();
        }
        if memory.bytes > MOST {
            *memory = Memory::default();
        }
        let call = Call { tool: tool.to_owned(), arguments: arguments.to_owned(), action: read() };
        let action = call.action.clone();
        memory.bytes += tool.len() + arguments.len() + action.reads.iter().chain(&action.writes).map(String::len).sum::<usize>() + EACH;
        memory.calls.insert(key, call);
        action
    })
}
