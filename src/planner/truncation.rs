//! Pass 4: a large old result keeps its head and its tail.
//!
//! ```text
//! tool run "line 1 … line 1200"   →   "[warmfold: 1180 of 1200 lines elided …]⏎line 1 … line 10⏎[...]⏎line 1191 … line 1200"
//! ```
//!
//! Oldest first, so that the set of edits only ever extends forward and the cached prefix before it stays.

use std::rc::Rc;

use super::proposal::{self, Proposal};
use super::state::State;
use crate::history::failures::ERROR_SIGN_BYTES;
use crate::plan::{Edit, Piece, Rule};
use crate::render::breadcrumb::{self, Breadcrumb};
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
    let keep_head = policy.keep_head_bytes.max(least);
    // What truncation leaves is never large itself, however little is allowed.
    let left = keep_head.saturating_add(policy.keep_tail_bytes).saturating_add(longest + GAP.len() + 3);
    if text.len() <= policy.max_bytes.max(left) {
        return Proposal::Never;
    }
    let head = cut::head(text, keep_head);
    let tail = cut::tail(text, policy.keep_tail_bytes);
    if head >= tail {
        return Proposal::Never;
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
    proposal::edit(state, entry, Rule::Truncated, pieces, None)
}
