//! The bindings: values in, values out, no decisions.
//!
//! `js/tape.ts` asks for room ([`tape_nodes`], [`tape_text`]), writes into it, and commits. Free functions only: a struct would bring
//! `free()`, borrow flags and poisoning to the host.

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::fold;
use crate::options::Options;
use crate::plan::{Edit, Plan};
use crate::planner::Given;
use crate::replay::{self, Recorded};
use crate::tape::{Kind, Node, Tape};
use crate::wire::{Request, patch};

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// Panics are bugs; their message reaches the console.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// Address of room for `wanted` nodes, of which the first `used` are kept.
#[wasm_bindgen(js_name = tapeNodes)]
pub fn tape_nodes(used: usize, wanted: usize) -> usize {
    TAPE.with_borrow_mut(|tape| {
        room(&mut tape.nodes, used, wanted);
        tape.nodes.as_ptr() as usize
    })
}

/// Address of room for `wanted` bytes of text, of which the first `used` are kept.
#[wasm_bindgen(js_name = tapeText)]
pub fn tape_text(used: usize, wanted: usize) -> usize {
    TAPE.with_borrow_mut(|tape| {
        let mut bytes = std::mem::take(&mut tape.text).into_bytes();
        room(&mut bytes, used, wanted);
        let address = bytes.as_ptr() as usize;
        bytes.clear();
        // SAFETY: it is empty. Its room stays where it is, and JavaScript fills it before `tape_commit` counts it in.
        tape.text = unsafe { String::from_utf8_unchecked(bytes) };
        address
    })
}

fn room<T>(buffer: &mut Vec<T>, used: usize, wanted: usize) {
    assert!(used <= buffer.capacity(), "JavaScript claims more than it was given");
    // SAFETY: JavaScript has written the first `used` items since their room was handed out.
    unsafe { buffer.set_len(used) };
    buffer.reserve(wanted.saturating_sub(used));
}

/// Makes what was written the tape. The last `keys` nodes are the texts of the keys.
#[wasm_bindgen(js_name = tapeCommit)]
pub fn tape_commit(nodes: usize, keys: usize, text: usize) {
    TAPE.with_borrow_mut(|tape| {
        room(&mut tape.nodes, nodes, nodes);
        let mut bytes = std::mem::take(&mut tape.text).into_bytes();
        room(&mut bytes, text, text);
        // SAFETY: TextEncoder writes UTF-8 only, and the writer's own loop ASCII only.
        tape.text = unsafe { String::from_utf8_unchecked(bytes) };
        let values = nodes - keys;
        tape.keys.clear();
        tape.keys.extend(tape.nodes[values..].iter().map(|[_, _, offset, length]| (*offset, *length)));
        tape.nodes.truncate(values);
    });
}

/// See [`fold::fold`]. On the tape: `{ request, options, plan }`; no plan is a derived one, `null` a new conversation.
#[wasm_bindgen(js_name = fold)]
pub fn fold_tape() -> Result<JsValue, JsValue> {
    run(fold::fold)
}

/// See [`fold::decide`].
#[wasm_bindgen(js_name = decide)]
pub fn decide_tape() -> Result<JsValue, JsValue> {
    run(fold::decide)
}

/// See [`fold::render`].
#[wasm_bindgen(js_name = render)]
pub fn render_tape() -> Result<JsValue, JsValue> {
    let done = TAPE.with_borrow(|tape| {
        let (input, options) = read(tape)?;
        let plan =
            input.plan.ok_or_else(|| Error::new(Code::InvalidPlan, "plan", "there is none to apply: pass the plan that the last call returned"))?;
        let plan = Plan::read(plan)?;
        fold::render(&request(&input, &options), &options, &plan)
    });
    done.and_then(|mut rendered| write(&Written { texts: patch::pool(&mut rendered.patches), same_edits: false, outcome: rendered })).map_err(thrown)
}

/// See [`replay::replay`]. On the tape: `{ request, options, recorded: { times, asScored } }`.
#[wasm_bindgen(js_name = replay)]
pub fn replay_tape() -> Result<JsValue, JsValue> {
    let done = TAPE.with_borrow(|tape| {
        let (input, options) = read(tape)?;
        let recorded = tape.root().get("recorded").map_or_else(|| Ok(Recorded::default()), Recorded::read)?;
        replay::replay(&request(&input, &options), &options, &recorded)
    });
    done.and_then(|outcome| write(&Written { texts: String::new(), same_edits: false, outcome })).map_err(thrown)
}

/// What crosses to JavaScript: `js/index.ts` puts it together again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<O> {
    /// The texts of the patches.
    texts: String,
    /// The plan's edits are those that were given, and are not written out again.
    same_edits: bool,
    outcome: O,
}

type Run = fn(&Request<'_>, &Options, Given) -> crate::Result<fold::Outcome>;

fn run(run: Run) -> Result<JsValue, JsValue> {
    let done = TAPE.with_borrow(|tape| {
        let (input, options) = read(tape)?;
        let (given, edits) = match input.plan {
            None => (Given::Derive, None),
            Some(plan) if plan.kind() == Kind::Null => (Given::New, None),
            Some(plan) => {
                let plan = Plan::read(plan)?;
                let edits = plan.edits.clone();
                (Given::Carried(plan), Some(edits))
            }
        };
        let mut outcome = run(&request(&input, &options), &options, given)?;
        let same =
            |edits: Vec<Rc<Edit>>| edits.len() == outcome.plan.edits.len() && edits.iter().zip(&outcome.plan.edits).all(|(a, b)| Rc::ptr_eq(a, b));
        let same_edits = edits.is_some_and(same);
        if same_edits {
            outcome.plan.edits.clear();
        }
        Ok(Written { texts: patch::pool(&mut outcome.patches), same_edits, outcome })
    });
    done.and_then(|written| write(&written)).map_err(thrown)
}

struct Input<'t> {
    request: Node<'t>,
    plan: Option<Node<'t>>,
}

fn read(tape: &Tape) -> crate::Result<(Input<'_>, Options)> {
    let root = tape.root();
    let options = root.get("options").map_or(Ok(Options::default()), Options::read)?;
    Ok((Input { request: root.get("request").unwrap_or(root), plan: root.get("plan") }, options))
}

fn request<'t>(input: &Input<'t>, options: &'t Options) -> Request<'t> {
    Request::of(input.request, options.context_block.as_deref())
}

fn write(value: &impl Serialize) -> crate::Result<JsValue> {
    let written = value.serialize(&serde_wasm_bindgen::Serializer::json_compatible());
    written.map_err(|error| Error::new(Code::InvalidMessage, "result", error.to_string()))
}

/// What `js/errors.ts` makes a WarmfoldError of.
fn thrown(error: Error) -> JsValue {
    let object = js_sys::Object::new();
    for (key, value) in [("code", error.code().as_str()), ("path", error.path()), ("message", error.message())] {
        let set = js_sys::Reflect::set(&object, &key.into(), &value.into());
        debug_assert!(set.is_ok(), "a fresh object takes any field");
    }
    object.into()
}
