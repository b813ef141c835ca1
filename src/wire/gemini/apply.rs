//! Turns edits and the context block into patches of a request: first of the system prompt, then content by content.

use super::{BLOCK_GAP, RESPONSE, is_signed, is_thought, leaves, parts, spelt};
use crate::history::{BlockPlace, View};
use crate::tape::{Kind, Node};
use crate::wire::patch::{Change, Patch, Step, Value};
use crate::wire::reading::{plain, plain_along};
use crate::wire::touched::{self, Touched};
use crate::wire::{Applied, Changes};

/// Turns changes into patches. No mark stands anywhere.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> Applied {
    let mut patches = Vec::new();
    if let (BlockPlace::Apart, Some(block)) = (view.block, changes.block) {
        patches.push(system(view, block)?);
    }
    for (at, touched) in touched::by_message(view, changes) {
        content(view, at, &touched, &mut patches)?;
    }
    Ok((patches, Vec::new()))
}

/// The block, behind what a system prompt says.
fn system(view: &View<'_>, block: &str) -> crate::Result<Patch> {
    let part = |text: Value| Value::Record(vec![("text", text)]);
    let new = || part(Value::Text(block.to_owned()));
    let behind = |text: &str| Value::Text(if text.is_empty() { block.to_owned() } else { format!("{text}{BLOCK_GAP}{block}") });
    let mut path: Vec<Step> = view.system_at.iter().map(|key| Step::Key(key)).collect();
    let Some(system) = view.system else {
        let content = Value::Record(vec![("parts", Value::List(vec![new()]))]);
        return Ok(Patch { path, change: Change::Set(content) });
    };
    plain(system, || view.system_at.join("."))?;
    let value = match (system.kind(), system.get("parts"), system.get("text").and_then(Node::text)) {
        (Kind::String, ..) => behind(system.text().unwrap_or("")),
        (Kind::Array, ..) => Value::Appended(Box::new(new())),
        (_, None, Some(text)) => {
            path.push(Step::Key("text"));
            behind(text)
        }
        (_, held, _) => {
            path.push(Step::Key("parts"));
            match held.map(|held| held.kind()) {
                Some(Kind::Array) => Value::Appended(Box::new(new())),
                Some(Kind::Object) => Value::List(vec![Value::Original, new()]),
                _ => Value::List(vec![new()]),
            }
        }
    };
    Ok(Patch { path, change: Change::Set(value) })
}

/// Patches one content.
fn content(view: &View<'_>, at: usize, touched: &Touched<'_, '_>, patches: &mut Vec<Patch>) -> crate::Result<()> {
    let node = view.nodes[at];
    let shown = format!("{}[{at}]", view.list);
    plain(node, || shown.clone())?;
    let Some(held) = node.get("parts") else { return Ok(()) };
    let is_list = held.kind() == Kind::Array;
    let way_to = |part: usize| [Some(Step::Index(at)), Some(Step::Key("parts")), is_list.then_some(Step::Index(part))].into_iter().flatten();
    let mut further = if is_list { held.len() as u32 } else { 1 };
    let mut gone = Vec::new();
    for (index, part) in parts(node).enumerate() {
        if touched.drops_reasoning() && is_thought(part) && !is_signed(part) {
            gone.push(index);
        }
        let Some((key, response)) = spelt(part, RESPONSE).and_then(|(key, held)| Some((key, held.get("response")?))) else { continue };
        let mut found = Vec::new();
        let mut is_first = true;
        leaves(response, &mut |rest, _| {
            let number = if is_first { index as u32 } else { further };
            further += u32::from(!is_first);
            is_first = false;
            if let Some(text) = touched.text(number) {
                found.push(([&[Step::Key(key), Step::Key("response")], rest].concat(), text));
            }
        });
        for (rest, text) in found {
            plain_along(part, &rest, format!("{shown}.parts[{index}]"))?;
            patches.push(Patch { path: way_to(index).chain(rest).collect(), change: Change::Set(Value::Text(text)) });
        }
    }
    // The last first, so that no index has moved when its turn comes.
    patches.extend(gone.into_iter().rev().map(|index| Patch { path: way_to(index).collect(), change: Change::Remove }));
    Ok(())
}
