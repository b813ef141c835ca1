//! Conversations that are kept from call to call, under numbers that JavaScript gives out; it also says when they are let go of.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use self_cell::self_cell;
use typed_arena::Arena;

use super::asked::{self, Asked};
use crate::bytes::is_same;
use crate::error::{Code, Error};
use crate::fold::{Conversation, Outcome};
use crate::plan::Edit;
use crate::planner::Given;
use crate::tape::{Children, Kind, Node, Tape, json};
use crate::wire::splice::{self, Splice};

self_cell! {
    /// A conversation, and the tapes that its messages stand on.
    struct Kept {
        owner: Arena<Tape>,
        #[not_covariant]
        dependent: Reading,
    }
}

struct Reading<'t> {
    conversation: Conversation<'t>,
    request: Node<'t>,
    /// The message array as it was at first; Responses may have a text there.
    array: Node<'t>,
}

/// A conversation of bodies: the next one begins with the same bytes and ends with the same.
struct Body {
    kept: Kept,
    bytes: Vec<u8>,
    /// Where the last message ends.
    end: usize,
    /// Of the options.
    print: u64,
    splices: Vec<Splice>,
}

/// Bytes of a first look.
const SHORT: usize = 64;

thread_local! {
    static OBJECTS: RefCell<FxHashMap<u32, Kept>> = RefCell::default();
    static BODIES: RefCell<FxHashMap<u32, Body>> = RefCell::default();
}

/// An outcome, and what of it JavaScript has already.
pub(super) struct Known {
    pub(super) outcome: Outcome,
    /// The edits that it holds, if the plan's might be the same.
    pub(super) edits: Option<Vec<Rc<Edit>>>,
    /// Whether the patches are those of the call before.
    pub(super) same_patches: bool,
    /// Whether the conversation is kept.
    pub(super) kept: bool,
}

/// Gives a conversation's memory back.
pub(super) fn forget(number: u32) {
    OBJECTS.with_borrow_mut(|all| drop(all.remove(&number)));
    BODIES.with_borrow_mut(|all| drop(all.remove(&number)));
}

impl Kept {
    /// Begins a conversation with the request that `request` finds on the tape.
    fn start(
        tape: Tape,
        request: impl FnOnce(Node<'_>) -> Node<'_>,
        read: impl FnOnce(Node<'_>, Node<'_>) -> crate::Result<Asked>,
    ) -> crate::Result<(Kept, Known)> {
        let mut known = None;
        let kept = Kept::try_new(Arena::with_capacity(1), |tapes| {
            let root = tapes.alloc(tape).root();
            let node = request(root);
            let (request, Asked { options, given, edits, .. }) = (asked::request(root, node), read(root, node)?);
            let (conversation, mut outcome) = Conversation::start(&request, Rc::new(options), given)?;
            conversation.apply(&mut outcome)?;
            known = Some(Known { outcome, edits, same_patches: false, kept: conversation.is_anchored() });
            Ok::<_, Error>(Reading { conversation, request: node, array: request.messages.unwrap_or(node) })
        })?;
        known.map(|known| (kept, known)).ok_or_else(lost)
    }
}

fn lost() -> Error {
    Error::new(Code::InvalidMessage, "result", "the conversation is not there")
}

/// Begins a conversation of objects: `{ request, options, said, plan }` stand on the tape.
pub(super) fn start_objects(number: u32, tape: Tape) -> crate::Result<Known> {
    let (kept, known) = Kept::start(tape, |root| root.get("request").unwrap_or(root), Asked::read)?;
    if known.kept {
        OBJECTS.with_borrow_mut(|all| all.insert(number, kept));
    }
    Ok(known)
}

/// Goes on with one, if it can: `{ request: { messages }, said, plan }` stand on the tape, the plan unless it is the one that was returned last.
pub(super) fn next_objects(number: u32, same_plan: bool, tape: &Tape) -> crate::Result<Option<Known>> {
    static NONE: Tape = Tape { nodes: Vec::new(), text: String::new(), keys: Vec::new(), spans: Vec::new() };
    fn messages(root: Node<'_>) -> Children<'_> {
        root.get("request").and_then(|request| request.get("messages")).unwrap_or(root).children()
    }
    let root = tape.root();
    let asked = Asked::read(root, root)?;
    let given = if same_plan { Given::Kept } else { asked.given };
    let has_more = messages(root).next().is_some();
    OBJECTS.with_borrow_mut(|all| {
        all.get_mut(&number).ok_or_else(lost)?.with_dependent_mut(|tapes, Reading { conversation, .. }| {
            // A copy is no longer than it has to be, and where nothing is new, none is kept.
            let more: &Tape = if has_more { tapes.alloc(tape.clone()) } else { &NONE };
            next(conversation, messages(more.root()), Asked { given, ..asked })
        })
    })
}

fn next<'t>(conversation: &mut Conversation<'t>, messages: Children<'t>, asked: Asked) -> crate::Result<Option<Known>> {
    let same_plan = match &asked.given {
        Given::Carried(plan) => conversation.plan() == Some(plan),
        given => matches!(given, Given::Kept),
    };
    let own = || Some(conversation.edits().cloned().collect());
    let (given, edits) = match asked.given {
        _ if same_plan => (Given::Kept, own()),
        Given::Derive => (Given::Derive, own()),
        given => (given, asked.edits),
    };
    if !conversation.can_go_on(messages.clone(), &given) {
        return Ok(None);
    }
    let mut outcome = conversation.next(messages, asked.options.said(), given)?;
    let same_patches = conversation.has_same_patches();
    if !same_patches {
        conversation.apply(&mut outcome)?;
    }
    Ok(Some(Known { outcome, edits, same_patches, kept: true }))
}

/// What a body became.
pub(super) struct Folded {
    pub(super) known: Known,
    pub(super) splices: Vec<Splice>,
    /// The number of its conversation; 0 where it is not kept.
    pub(super) number: u32,
}

/// Folds a body: as the next call of the kept conversation that it goes on with, or as the first call of one that is kept under this
/// number, unless that is 0. Where `same_plan` is not 0 the plan is the one that this conversation returned last.
pub(super) fn fold_body(body: Vec<u8>, next: u32, same_plan: u32, asked: Node<'_>) -> crate::Result<Folded> {
    let print = asked.get("options").map_or(0, Node::fingerprint);
    BODIES.with_borrow_mut(|all| {
        let plan = match same_plan {
            0 => None,
            number => all.get(&number).ok_or_else(lost)?.kept.with_dependent(|_, reading| reading.conversation.plan().cloned()),
        };
        let read = |request: Node<'_>| {
            let asked = Asked::read(asked, request)?;
            Ok(match &plan {
                Some(plan) => asked.with(plan.clone()),
                None => asked,
            })
        };
        let begun =
            all.iter().filter(|(_, before)| before.print == print && before.begins(&body)).max_by_key(|(number, before)| (before.end, **number));
        if let Some(number) = begun.map(|(number, _)| *number)
            && let Some(before) = all.get_mut(&number)
            && let Ok(more) = json::write_more(&body[before.end..body.len() - before.rest()], before.end)
        {
            let folded = before.next(&body, more, read);
            if folded.is_err() {
                all.remove(&number);
            }
            if let Some((known, splices)) = folded? {
                all.entry(number).and_modify(|now| now.bytes = body);
                return Ok(Folded { known, splices, number });
            }
        }
        let tape = Tape::from_json(&body[..]).map_err(|error| Error::new(error.code(), "body", error.message()))?;
        let (kept, mut known) = Kept::start(tape, |root| root, |_, request| read(request))?;
        let (splices, end) = kept.with_dependent(|_, reading| reading.splices(&mut known.outcome, &body));
        if next == 0 || end == 0 || !known.kept {
            return Ok(Folded { known, splices, number: 0 });
        }
        all.insert(next, Body { kept, bytes: body, end, print, splices: splices.clone() });
        Ok(Folded { known, splices, number: next })
    })
}

/// The messages of [`json::write_more`]; the first item stands for those that are there.
fn behind_the_first(more: &Tape) -> Children<'_> {
    let array = more.root().children().next().unwrap_or(more.root());
    let mut messages = array.children();
    messages.next();
    messages
}

impl Body {
    /// Bytes behind the last message.
    fn rest(&self) -> usize {
        self.bytes.len() - self.end
    }

    /// Whether a body may be this one with more messages behind its own.
    fn begins(&self, body: &[u8]) -> bool {
        let last = self.end.saturating_sub(SHORT)..self.end; // another conversation with the same beginning is told at once
        body.len() >= self.bytes.len()
            && body[last.clone()] == self.bytes[last]
            && is_same(&body[body.len() - self.rest()..], &self.bytes[self.end..])
            && is_same(&body[..self.end], &self.bytes[..self.end])
    }

    /// Goes on with such a body.
    fn next(&mut self, body: &[u8], more: Tape, asked: impl FnOnce(Node<'_>) -> crate::Result<Asked>) -> crate::Result<Option<(Known, Vec<Splice>)>> {
        let done = self.kept.with_dependent_mut(|tapes, reading| {
            let messages = behind_the_first(tapes.alloc(more));
            let Some(mut known) = next(&mut reading.conversation, messages, asked(reading.request)?)? else { return Ok(None) };
            let (splices, end) = reading.splices(&mut known.outcome, body);
            Ok::<_, Error>(Some((known, splices, end)))
        })?;
        let Some((known, splices, end)) = done else { return Ok(None) };
        if known.same_patches {
            // What stands behind the messages has moved with their end.
            let moved = end - self.end;
            for Splice { range, .. } in self.splices.iter_mut().filter(|splice| splice.range.start >= self.end) {
                *range = range.start + moved..range.end + moved;
            }
        } else {
            self.splices = splices;
        }
        self.end = end;
        Ok(Some((known, self.splices.clone())))
    }
}

impl Reading<'_> {
    /// The patches as splices, and where the last message ends; 0 where there is none.
    fn splices(&self, outcome: &mut Outcome, body: &[u8]) -> (Vec<Splice>, usize) {
        let messages = self.conversation.messages();
        let splices = splice::of_request(self.request, self.array, messages, &std::mem::take(&mut outcome.patches), body);
        let last = messages.last().filter(|_| self.array.kind() == Kind::Array);
        (splices, last.map_or(0, |last| last.source().end))
    }
}
