//! What a call owes to the one before it, where the history has only grown.

use serde_json::Value;

use super::{Checked, ensure, protect_from, unmarked};
use crate::support::{Call, Edit};

/// Laws 4 and 5 for two calls in a row. `context_changed`: system, tools or context block did, so that all may be written anew.
pub fn next_call(before: &Call, after: &Call) -> Checked {
    warm(before, after)?;
    verbatim(before, after)
}

/// Law 4: marks apart, what was sent stays, up to `foldedFrom` where the call reports a fold.
fn warm(before: &Call, after: &Call) -> Checked {
    let (sent, now) = (unmarked(before), unmarked(after));
    let differs = sent.iter().zip(&now).position(|(sent, now)| sent != now);
    let folded_from = after.outcome.report.folded_from;
    ensure!(now.len() >= sent.len(), "{} messages after {}", now.len(), sent.len());
    ensure!(after.outcome.folded == folded_from.is_some(), "folded is {} and foldedFrom {folded_from:?}", after.outcome.folded);
    if let Some(differs) = differs {
        let from = folded_from.ok_or_else(|| change(differs, &sent, &now))?;
        ensure!(differs >= from, "foldedFrom is {from}, yet {}", change(differs, &sent, &now));
    }
    Ok(())
}

fn change(at: usize, sent: &[Value], now: &[Value]) -> String {
    format!("message {at} was rewritten:\n  sent {}\n  now  {}", sent[at], now[at])
}

/// Law 5: an edit stays as it is; only a cold call lets it go, and only where protection covers it now.
fn verbatim(before: &Call, after: &Call) -> Checked {
    let now = after.edits();
    let gone: Vec<Edit> = before.edits().into_iter().filter(|edit| !now.contains(edit)).collect();
    let is_cold = after.says("cache cold");
    ensure!(gone.is_empty() || is_cold, "an edit went or changed on a warm call: {gone:?}");
    ensure!(gone.is_empty() || after.outcome.folded, "an edit went silently: {gone:?}");
    ensure!(after.outcome.report.edits_dropped == gone.len(), "{} edits went, editsDropped says {}", gone.len(), after.outcome.report.edits_dropped);
    let options = super::options_of(after);
    let from = protect_from(after.input(), options.protect_recent_turns);
    let choice = &after.request["tool_choice"];
    let forced = choice["function"]["name"].as_str().or_else(|| choice["name"].as_str());
    for edit in &gone {
        let pinned = options.pins.iter().any(|pin| pin.message == edit.message && pin.part.is_none_or(|part| part as usize == edit.part));
        let tool = edit.tool.as_deref().unwrap_or("");
        let kept = forced == Some(tool) || options.kind_of(tool) == warmfold::history::kinds::ToolKind::Memory;
        ensure!(edit.message >= from || pinned || kept, "a cold call let go of what nothing protects: {edit:?}");
    }
    Ok(())
}
