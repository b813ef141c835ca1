//! Pass 4: a large old result keeps what matters by the kind of its content, in the room that its policy leaves for head and tail; without
//! `outline` it keeps these.
//!
//! ```text
//! tool run "line 1 … line 1200"   →   "[warmfold: 1180 of 1200 lines elided …]⏎[700 lines]⏎error: line 701 …⏎[480 lines]⏎line 1182 … line 1200"
//! ```
//!
//! Oldest first, so that the set of edits only ever extends forward and the cached prefix before it stays.

use std::rc::Rc;

use super::proposal::{self, Proposal};
use super::state::State;
use crate::history::failures::{ERROR_SIGN_BYTES, is_error};
use crate::history::kinds::ToolKind;
use crate::plan::{Edit, Piece, Rule};
use crate::render::breadcrumb::{self, Breadcrumb};
use crate::render::outline::{self, Source};
use crate::render::{self, cut};

/// Stands where the text was cut. ASCII, since one other character doubles what a JavaScript string takes.
const GAP: &str = "[...]";

pub(super) fn propose(state: &mut State<'_>, entry: usize) -> Proposal {
    if let Some((cut, _)) = state.pending.get(entry).and_then(|pending| pending.cut.as_ref()) {
        return Proposal::Edit(Edit { since: state.length(), ..(**cut).clone() });
    }
    let proposal = cut(state, entry);
    if let Proposal::Edit(edit) = &proposal {
        let saved =
            u64::from(state.tokens[entry].saturating_sub(render::tokens(state.view.estimator, state.view.entries[entry].text(), &edit.pieces)));
        let edit = Rc::new(edit.clone());
        if let Some(pending) = state.pending.get_mut(entry) {
            pending.cut = Some((edit, saved));
        }
    }
    proposal
}

fn cut(state: &State<'_>, entry: usize) -> Proposal {
    let found = &state.view.entries[entry];
    let (text, failed) = (found.text(), found.has_failed());
    let policy = state.policy_of(entry);
    let least = if failed { ERROR_SIGN_BYTES } else { 0 }; // an error still says so
    let longest = Breadcrumb::longest_truncated(&state.options.label, state.view.tool_of(found));
    let (keep_head, keep_tail) = (policy.keep_head_bytes.max(least), policy.keep_tail_bytes);
    // What truncation leaves is never large itself, however little is allowed.
    let left = keep_head.saturating_add(keep_tail).saturating_add(longest + GAP.len() + 3);
    if text.len() <= policy.max_bytes.max(left) {
        return Proposal::Never;
    }
    let outlined = if state.options.outline { outlined(state, entry, keep_head.saturating_add(keep_tail)) } else { None };
    let says_so = |pieces: &Vec<Piece>| !failed || found.failed || is_error(&render::text(text, pieces));
    match outlined.filter(says_so).or_else(|| ends(state, entry, keep_head, keep_tail)) {
        Some(pieces) => proposal::edit(state, entry, Rule::Truncated, pieces, None),
        None => Proposal::Never,
    }
}

/// A breadcrumb, and under it what matters by the kind of the content; `None` where nothing of it has room.
fn outlined(state: &State<'_>, entry: usize, room: usize) -> Option<Vec<Piece>> {
    let text = state.view.entries[entry].text();
    let kind = state.action_of(entry).map_or(ToolKind::Other, |action| action.kind);
    let outline = outline::of(&Source { text, kind, about: proposal::label(state, entry) }, room);
    let stays = outline.iter().filter_map(|piece| if let Piece::Span(from, to) = piece { Some(*from as usize..*to as usize) } else { None });
    let elided = breadcrumb::amount_without(text, stays)?;
    let line = proposal::breadcrumb(state, entry).truncated(&elided) + "\n";
    Some([vec![Piece::Text(line)], outline].concat())
}

/// A breadcrumb, and under it head and tail; `None` where they would meet.
fn ends(state: &State<'_>, entry: usize, keep_head: usize, keep_tail: usize) -> Option<Vec<Piece>> {
    let text = state.view.entries[entry].text();
    let (head, tail) = (cut::head(text, keep_head), cut::tail(text, keep_tail));
    if head >= tail {
        return None;
    }
    let elided = breadcrumb::amount(text, head..tail);
    let line = proposal::breadcrumb(state, entry).truncated(&elided);
    let mut pieces = Vec::with_capacity(4);
    let mut generated = line;
    if head > 0 {
        pieces.extend([Piece::Text(generated + "\n"), Piece::Span(0, head as u32)]);
        generated = String::new();
    }
    if !(head == 0 && tail == text.len()) {
        if !text[..head].ends_with('\n') {
            generated.push('\n');
        }
        generated.push_str(GAP);
    }
    if tail < text.len() {
        generated.push('\n');
    }
    pieces.push(Piece::Text(generated));
    if tail < text.len() {
        pieces.push(Piece::Span(tail as u32, text.len() as u32));
    }
    Some(pieces)
}
