//! The bindings: values in, values out, no decisions.
//!
//! `js/tape.ts` asks for room ([`tape_nodes`], [`tape_text`]), writes into it, and commits. Free functions only: a struct would bring
//! `free()`, borrow flags and poisoning to the host.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Serialize, Serializer};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::fold;
use crate::options::Options;
use crate::plan::{Edit, Plan};
use crate::planner::Given;
use crate::replay::{self, Recorded};
use crate::stats::{self, bar};
use crate::tape::{Kind, Node, Tape};
use crate::wire::{Request, patch};
use asked::Asked;
use kept::{Folded, Known};

mod asked;
mod kept;

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
    static BODY: RefCell<Vec<u8>> = RefCell::default();
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

/// Address of room for the bytes of a request.
#[wasm_bindgen(js_name = bodyRoom)]
pub fn body_room(bytes: usize) -> usize {
    BODY.with_borrow_mut(|body| {
        room(body, 0, bytes);
        body.as_ptr() as usize
    })
}

/// See [`fold::fold`]. On the tape: `{ options, said, plan }`; the request is the JSON that was written into [`body_room`], so many bytes.
/// It is kept under the number `next`, unless that is 0, where it goes on with none that is kept; `same_plan` is the number of the
/// conversation whose last plan is given, and 0 where it stands on the tape.
#[wasm_bindgen(js_name = foldBody)]
pub fn fold_body(bytes: usize, next: u32, same_plan: u32) -> Result<JsValue, JsValue> {
    let mut body = BODY.take();
    room(&mut body, bytes, bytes);
    let done = TAPE.with_borrow(|tape| kept::fold_body(body, next, same_plan, tape.root()));
    let written = done.map(|Folded { known: Known { mut outcome, edits, .. }, splices, number }| {
        let same_edits = leave_out_same(&mut outcome, edits.as_deref());
        let numbers = splices.iter().flat_map(|splice| [splice.range.start, splice.range.end, splice.json.len()]);
        let places = Bytes(numbers.flat_map(|number| (number as u32).to_le_bytes()).collect());
        let texts = Bytes(splices.into_iter().flat_map(|splice| splice.json.into_bytes()).collect());
        WrittenBody { places, texts, number, same_edits, outcome }
    });
    written.and_then(|written| write(&written)).map_err(thrown)
}

/// See [`fold::fold`]. On the tape: `{ request, options, said, plan }`; no plan is a derived one, `null` a new conversation.
#[wasm_bindgen(js_name = fold)]
pub fn fold_tape() -> Result<JsValue, JsValue> {
    run(fold::fold)
}

/// The same, kept under this number so that [`go_on`] can follow. The tape is gone afterwards.
#[wasm_bindgen(js_name = foldAndKeep)]
pub fn fold_and_keep(number: u32) -> Result<JsValue, JsValue> {
    let mut tape = TAPE.take();
    tape.text.shrink_to_fit();
    tape.nodes.shrink_to_fit();
    written(kept::start_objects(number, tape))
}

/// The next call of a conversation that was kept. On the tape: `{ request: { messages }, said, plan }`, of which the messages follow those that were
/// there; where `same_plan` is true the plan is the one that was returned last. Nothing where it cannot go on with them.
#[wasm_bindgen(js_name = goOn)]
pub fn go_on(number: u32, same_plan: bool) -> Result<JsValue, JsValue> {
    match TAPE.with_borrow(|tape| kept::next_objects(number, same_plan, tape)) {
        Ok(None) => Ok(JsValue::UNDEFINED),
        Ok(Some(known)) => written(Ok(known)),
        Err(error) => Err(thrown(error)),
    }
}

/// Gives a kept conversation's memory back.
#[wasm_bindgen]
pub fn forget(number: u32) {
    kept::forget(number);
}

/// See [`fold::decide`].
#[wasm_bindgen(js_name = decide)]
pub fn decide_tape() -> Result<JsValue, JsValue> {
    run(fold::decide)
}

/// See [`fold::render`].
#[wasm_bindgen(js_name = render)]
pub fn render_tape() -> Result<JsValue, JsValue> {
    let done = with_request(|root, request, options| {
        let plan = root
            .get("plan")
            .ok_or_else(|| Error::new(Code::InvalidPlan, "plan", "there is none to apply: pass the plan that the last call returned"))?;
        fold::render(request, options, &Plan::read(plan)?)
    });
    done.and_then(|mut rendered| {
        let texts = patch::pool(&mut rendered.patches);
        write(&Written { texts, same_edits: false, same_patches: false, kept: false, outcome: rendered })
    })
    .map_err(thrown)
}

/// See [`replay::replay`]. On the tape: `{ request, options, recorded: { times, asScored } }`.
#[wasm_bindgen(js_name = replay)]
pub fn replay_tape() -> Result<JsValue, JsValue> {
    let done = with_request(|root, request, options| {
        let recorded = root.get("recorded").map_or_else(|| Ok(Recorded::default()), Recorded::read)?;
        replay::replay(request, options, &recorded)
    });
    answered(done)
}

fn answered<O: Serialize>(done: crate::Result<O>) -> Result<JsValue, JsValue> {
    done.and_then(|outcome| write(&Written { texts: String::new(), same_edits: false, same_patches: false, kept: false, outcome })).map_err(thrown)
}

/// See [`stats::of`]. On the tape: `{ request, options, plan, counts }`; `counts` are the tokens of each of [`stats_texts`].
#[wasm_bindgen(js_name = stats)]
pub fn stats_tape() -> Result<JsValue, JsValue> {
    answered(stats_asked().map(|stats| stats.context))
}

/// The same with what stands before the conversation.
#[wasm_bindgen(js_name = sessionStats)]
pub fn session_stats_tape() -> Result<JsValue, JsValue> {
    answered(stats_asked())
}

/// See [`stats::texts`]. On the tape: `{ request, options, plan }`.
#[wasm_bindgen(js_name = statsTexts)]
pub fn stats_texts() -> Result<JsValue, JsValue> {
    answered(with_request(|root, request, options| stats::texts(request, options, asked::plan(root)?.as_ref())))
}

fn stats_asked() -> crate::Result<stats::SessionStats> {
    with_request(|root, request, options| {
        // TypeScript has seen to it that they are whole numbers.
        let counts = root.get("counts").filter(|counts| counts.kind() == Kind::Array);
        let counts = counts.map(|counts| counts.children().map(|count| count.number().unwrap_or(0.0) as u32).collect::<Vec<_>>());
        stats::of(request, options, asked::plan(root)?.as_ref(), counts.as_deref())
    })
}

/// See [`bar::line`]. On the tape: `{ stats, options: { color, width } }`.
#[wasm_bindgen(js_name = statusBar)]
pub fn status_bar() -> Result<String, JsValue> {
    TAPE.with_borrow(|tape| bar::read(tape.root())).map_err(thrown)
}

fn with_request<O>(run: impl FnOnce(Node<'_>, &Request<'_>, &Options) -> crate::Result<O>) -> crate::Result<O> {
    TAPE.with_borrow(|tape| {
        let (request, options) = requested(tape.root())?;
        run(tape.root(), &request, &options)
    })
}

// Outside of what is made for each call.
#[inline(never)]
fn requested(root: Node<'_>) -> crate::Result<(Request<'_>, Options)> {
    let request = root.get("request").unwrap_or(root);
    Ok((asked::request(root, request), asked::options(root, request)?))
}

/// What crosses to JavaScript: `js/index.ts` puts it together again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<O> {
    /// The texts of the patches.
    texts: String,
    /// The plan's edits are those that were given, and are not written out again.
    same_edits: bool,
    /// The patches are those of the call before, likewise.
    same_patches: bool,
    /// The conversation is kept, and can go on.
    kept: bool,
    outcome: O,
}

/// The same of a body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenBody {
    /// Of each splice: from and up to which byte of the body given, and how many bytes in their place; `u32`s, low byte first.
    places: Bytes,
    /// What stands in their place, one behind the other.
    texts: Bytes,
    /// The number that it is kept under; 0 for none.
    number: u32,
    same_edits: bool,
    outcome: fold::Outcome,
}

/// A `Uint8Array`.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

type Run = fn(&Request<'_>, &Options, Given) -> crate::Result<fold::Outcome>;

fn run(run: Run) -> Result<JsValue, JsValue> {
    written(TAPE.with_borrow(|tape| {
        let root = tape.root();
        let request = root.get("request").unwrap_or(root);
        let Asked { options, given, edits } = Asked::read(root, request)?;
        Ok(Known { outcome: run(&asked::request(root, request), &options, given)?, edits, same_patches: false, kept: false })
    }))
}

fn written(known: crate::Result<Known>) -> Result<JsValue, JsValue> {
    let written = known.map(|Known { mut outcome, edits, same_patches, kept }| {
        let same_edits = leave_out_same(&mut outcome, edits.as_deref());
        Written { texts: patch::pool(&mut outcome.patches), same_edits, same_patches, kept, outcome }
    });
    written.and_then(|written| write(&written)).map_err(thrown)
}

/// Edits that stayed those that were given do not cross again.
fn leave_out_same(outcome: &mut fold::Outcome, given: Option<&[Rc<Edit>]>) -> bool {
    let edits = &outcome.plan.edits;
    let same = given.is_some_and(|given| given.len() == edits.len() && given.iter().zip(edits).all(|(a, b)| Rc::ptr_eq(a, b)));
    if same {
        outcome.plan.edits.clear();
    }
    same
}

fn write(value: &impl Serialize) -> crate::Result<JsValue> {
    let written = value.serialize(&serde_wasm_bindgen::Serializer::json_compatible().serialize_bytes_as_arrays(false));
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
