//! What a call owes to the one before it, where the history has only grown.

use serde_json::Value;
use warmfold::history::kinds::ToolKind;

use super::{Checked, ensure, protect_from};
use crate::support::{Call, Edit};

/// Laws 4 and 5 for two calls in a row, between which system, tools and context block did not change.
pub fn next_call(before: &Call, after: &Call) -> Checked {
    warm(before, after)?;
    verbatim(before, after)
}

/// Law 4: marks and context block apart, what was sent stays, up to `foldedFrom` where the call reports a fold.
fn warm(before: &Call, after: &Call) -> Checked {
    let (sent, now) = (before.output(), after.output());
    let differs = sent.iter().zip(now).position(|(sent, now)| sent != now);
    let folded_from = after.outcome.report.folded_from;
    ensure!(now.len() >= sent.len(), "{} messages after {}", now.len(), sent.len());
    ensure!(after.outcome.folded == folded_from.is_some(), "folded is {} and foldedFrom {folded_from:?}", after.outcome.folded);
    if let Some(differs) = differs {
        let from = folded_from.ok_or_else(|| change(differs, sent, now))?;
        ensure!(differs >= from, "foldedFrom is {from}, yet {}", change(differs, sent, now));
    }
    Ok(())
}

fn change(at: usize, sent: &[Value], now: &[Value]) -> String {
    format!("message {at} was rewritten:\n  sent {}\n  now  {}", sent[at], now[at])
}

/// Law 5: an edit stays as it is until a reported fold puts a shorter one in its place, or a cold call lets it go where protection
/// covers it now.
fn verbatim(before: &Call, after: &Call) -> Checked {
    let now = after.edits();
    let report = &after.outcome.report;
    let gone = before.edits().into_iter().filter(|edit| !now.contains(edit));
    let in_its_place = |edit: &Edit| now.iter().find(|other| (other.message, other.part) == (edit.message, edit.part)).cloned();
    let (lowered, gone): (Vec<Edit>, Vec<Edit>) = gone.partition(|edit| in_its_place(edit).is_some());
    ensure!(lowered.len() == report.edits_lowered, "{} edits were lowered, editsLowered says {}", lowered.len(), report.edits_lowered);
    ensure!(gone.len() == report.edits_dropped, "{} edits went, editsDropped says {}", gone.len(), report.edits_dropped);
    ensure!(lowered.is_empty() && gone.is_empty() || after.outcome.folded, "edits went silently: {gone:?}, or changed: {lowered:?}");
    for old in &lowered {
        let new = in_its_place(old).expect("it was found above");
        let text = super::text_at(&after.input()[old.message], old.part).unwrap_or("");
        let (was, is) = (super::rendered(text, &old.pieces).len(), super::rendered(text, &new.pieces).len());
        ensure!(is < was, "{was} bytes were lowered to {is}: {old:?} became {new:?}");
    }
    ensure!(gone.is_empty() || after.says("cache cold"), "an edit went on a warm call: {gone:?}");
    gone.iter().try_for_each(|edit| ensure_protected(after, edit))
}

/// Protection covers the entry of an edit that a cold call let go of.
fn ensure_protected(after: &Call, edit: &Edit) -> Checked {
    let options = super::options_of(after);
    let choice = &after.request["tool_choice"];
    let forced = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
    let tool = edit.tool.as_deref().unwrap_or("");
    let recent = edit.message >= protect_from(after.input(), options.protect_recent_turns);
    let pinned = options.pins.iter().any(|pin| pin.message == edit.message && pin.part.is_none_or(|part| part as usize == edit.part));
    let kept = forced == Some(tool) || super::kinds_of(after).get(&edit.message) == Some(&ToolKind::Memory);
    ensure!(recent || pinned || kept, "a cold call let go of what nothing protects: {edit:?}");
    Ok(())
}
