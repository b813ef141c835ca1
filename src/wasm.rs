//! The bindings: values in, values out, no decisions.
//!
//! `js/tape.ts` asks for room ([`tape_nodes`], [`tape_text`]), writes into it, and commits. Free functions only: a struct would bring
//! `free()`, borrow flags and poisoning to the host.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use self_cell::self_cell;
use serde::{Serialize, Serializer};
use typed_arena::Arena;
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::fold::{self, Conversation};
use crate::options::{Options, Said};
use crate::plan::{Edit, Plan};
use crate::planner::Given;
use crate::replay::{self, Recorded};
use crate::tape::{Kind, Node, Tape};
use crate::wire::{Request, patch, splice};

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
    static BODY: RefCell<Vec<u8>> = RefCell::default();
    static KEPT: RefCell<FxHashMap<u32, Kept>> = RefCell::default();
}

self_cell! {
    /// A conversation that goes on, with the tapes that its messages stand on.
    struct Kept {
        owner: Arena<Tape>,
        #[not_covariant]
        dependent: Conversation,
    }
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

/// See [`fold::fold`]. On the tape: `{ options, plan }`; the request is the JSON that was written into [`body_room`], so many bytes.
#[wasm_bindgen(js_name = foldBody)]
pub fn fold_body(bytes: usize) -> Result<JsValue, JsValue> {
    let done = BODY.with_borrow_mut(|body| {
        room(body, bytes, bytes);
        TAPE.with_borrow(|tape| {
            let read = Tape::from_json(&body[..]).map_err(|error| Error::new(error.code(), "body", error.message()))?;
            let (mut outcome, edits) = decided(read.root(), tape.root(), fold::fold)?;
            let same_edits = leave_out_same(&mut outcome, edits.as_deref());
            let messages = Request::of(read.root()).message_array()?;
            let splices = splice::splices(messages, &std::mem::take(&mut outcome.patches), body);
            drop(read); // its texts are as long as the body
            let numbers = splices.iter().flat_map(|splice| [splice.range.start, splice.range.end, splice.json.len()]);
            let places = Bytes(numbers.flat_map(|number| (number as u32).to_le_bytes()).collect());
            let body = (!splices.is_empty()).then(|| Bytes(splice::spliced(body, &splices)));
            Ok(WrittenBody { places, body, same_edits, outcome })
        })
    });
    done.and_then(|written| write(&written)).map_err(thrown)
}

/// See [`fold::fold`]. On the tape: `{ request, options, said, plan }`; no plan is a derived one, `null` a new conversation.
#[wasm_bindgen(js_name = fold)]
pub fn fold_tape() -> Result<JsValue, JsValue> {
    run(fold::fold)
}

/// The same, kept under this number so that [`go_on`] can follow. The tape is gone afterwards.
#[wasm_bindgen(js_name = foldAndKeep)]
pub fn fold_and_keep(number: u32) -> Result<JsValue, JsValue> {
    forget(number);
    let mut tape = TAPE.take();
    tape.text.shrink_to_fit();
    tape.nodes.shrink_to_fit();
    let mut written = None;
    let kept = Kept::try_new(Arena::with_capacity(1), |tapes| {
        let root = tapes.alloc(tape).root();
        let request = root.get("request").unwrap_or(root);
        let (given, edits) = given(root)?;
        let (conversation, mut outcome) = Conversation::start(&Request::of(request), Rc::new(options(root, request)?), given)?;
        conversation.apply(&mut outcome)?;
        written = Some(Written::new(outcome, edits.as_deref(), false));
        Ok(conversation)
    });
    let kept = kept.map_err(thrown)?;
    KEPT.with_borrow_mut(|all| all.insert(number, kept));
    write(&written).map_err(thrown)
}

/// The next call of a conversation that was kept. On the tape: `{ messages, said, plan }`, of which the messages follow those that were
/// there; where `same_plan` is true the plan is the one that was returned last. The tape is gone afterwards.
#[wasm_bindgen(js_name = goOn)]
pub fn go_on(number: u32, same_plan: bool) -> Result<JsValue, JsValue> {
    let mut tape = TAPE.take();
    tape.text.shrink_to_fit();
    tape.nodes.shrink_to_fit();
    let done = KEPT.with_borrow_mut(|all| {
        let kept = all.get_mut(&number).ok_or_else(|| Error::new(Code::InvalidMessage, "result", "there is no such conversation"))?;
        kept.with_dependent_mut(|tapes, conversation| {
            let root = tapes.alloc(tape).root();
            let messages = root.get("messages").unwrap_or(root).children();
            let before = || Some(conversation.edits().cloned().collect());
            let (given, edits) = match (same_plan, given(root)?) {
                (true, _) => (Given::Kept, before()),
                (false, (Given::Derive, _)) => (Given::Derive, before()),
                (false, given) => given,
            };
            let mut outcome = conversation.next(messages, said(root)?, given)?;
            let same_patches = conversation.has_same_patches();
            if !same_patches {
                conversation.apply(&mut outcome)?;
            }
            Ok(Written::new(outcome, edits.as_deref(), same_patches))
        })
    });
    done.and_then(|written| write(&written)).map_err(|error| {
        forget(number);
        thrown(error)
    })
}

/// Gives a kept conversation's memory back.
#[wasm_bindgen]
pub fn forget(number: u32) {
    KEPT.with_borrow_mut(|all| drop(all.remove(&number)));
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
        write(&Written { texts: patch::pool(&mut rendered.patches), same_edits: false, same_patches: false, outcome: rendered })
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
    done.and_then(|outcome| write(&Written { texts: String::new(), same_edits: false, same_patches: false, outcome })).map_err(thrown)
}

fn with_request<O>(run: impl FnOnce(Node<'_>, &Request<'_>, &Options) -> crate::Result<O>) -> crate::Result<O> {
    TAPE.with_borrow(|tape| {
        let root = tape.root();
        let request = root.get("request").unwrap_or(root);
        let options = options(root, request)?;
        run(root, &Request::of(request), &options)
    })
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
    outcome: O,
}

/// The same of a body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenBody {
    /// Of each splice: from and up to which byte of the body given, and how many bytes in their place; `u32`s, low byte first.
    places: Bytes,
    /// The new body; none where nothing changes.
    body: Option<Bytes>,
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
    let done = TAPE.with_borrow(|tape| {
        let root = tape.root();
        let (outcome, edits) = decided(root.get("request").unwrap_or(root), root, run)?;
        Ok(Written::new(outcome, edits.as_deref(), false))
    });
    done.and_then(|written| write(&written)).map_err(thrown)
}

/// What a run of a request makes of `{ options, said, plan }`, and the edits of the plan that was given.
fn decided(request: Node<'_>, root: Node<'_>, run: Run) -> crate::Result<(fold::Outcome, Option<Vec<Rc<Edit>>>)> {
    let options = options(root, request)?;
    let (given, edits) = given(root)?;
    Ok((run(&Request::of(request), &options, given)?, edits))
}

/// The plan that was given, and its edits.
fn given(root: Node<'_>) -> crate::Result<(Given, Option<Vec<Rc<Edit>>>)> {
    match root.get("plan") {
        None => Ok((Given::Derive, None)),
        Some(plan) if plan.kind() == Kind::Null => Ok((Given::New, None)),
        Some(plan) => {
            let plan = Plan::read(plan)?;
            let edits = plan.edits.clone();
            Ok((Given::Carried(plan), Some(edits)))
        }
    }
}

impl Written<fold::Outcome> {
    fn new(mut outcome: fold::Outcome, given: Option<&[Rc<Edit>]>, same_patches: bool) -> Self {
        let same_edits = leave_out_same(&mut outcome, given);
        Written { texts: patch::pool(&mut outcome.patches), same_edits, same_patches, outcome }
    }
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

/// What is said of this call alone.
fn said(root: Node<'_>) -> crate::Result<Said> {
    let read = |said| Options::read(said).map(|options| Said { cold: options.cold, usage: options.usage });
    root.get("said").map_or_else(|| Ok(Said::default()), read)
}

fn options(root: Node<'_>, request: Node<'_>) -> crate::Result<Options> {
    let model = Request::of(request).model;
    let options = root.get("options").map_or(Ok(Options::default()), |options| Options::read_for(options, model))?;
    let Said { cold, usage } = said(root)?;
    Ok(Options { cold, usage, ..options })
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
