//! Turns edits and the context block into patches of a request: first of the system prompt, then content by content.

use super::{BLOCK_GAP, RESPONSE, is_mixed, is_signed, is_thought, leaves, listed, spelt};
use crate::history::{BlockPlace, View};
use crate::tape::Kind;
use crate::wire::patch::{Change, Patch, Step, Value};
use crate::wire::reading::{plain, plain_along};
use crate::wire::touched::{self, Touched};
use crate::wire::{Applied, Changes, segment};

/// Turns changes into patches. No mark stands anywhere.
pub(super) fn apply(view: &View<'_>, changes: &Changes<'_>) -> Applied {
    let mut patches = Vec::new();
    if let (BlockPlace::Apart, Some(block)) = (view.block, changes.block) {
        patches.push(system(view, block)?);
    }
    for (at, touched) in touched::by_message(view, changes) {
        match touched.segment {
            Some(text) => patches.push(Patch::set(&[&[Step::Index(at)]], said(text))),
            None => content(view, at, &touched, &mut patches)?,
        }
    }
    patches.extend(segment::removed(changes.segments, view));
    Ok((patches, Vec::new()))
}

/// The block, behind what a system prompt says.
fn system(view: &View<'_>, block: &str) -> crate::Result<Patch> {
    let mut path: Vec<Step> = view.system_at.iter().map(|key| Step::Key(key)).collect();
    let part = Value::Record(vec![("text", Value::Text(block.to_owned()))]);
    let Some(system) = view.system else {
        let content = Value::Record(vec![("parts", Value::List(vec![part]))]);
        return Ok(Patch { path, change: Change::Set(content) });
    };
    plain(system, || view.system_at.join("."))?;
    let is_content = system.kind() == Kind::Object;
    let key = if is_content && system.get("parts").is_none() && system.get("text").is_some() { "text" } else { "parts" };
    let held = if is_content { system.get(key) } else { Some(system) };
    path.extend(is_content.then_some(Step::Key(key)));
    let value = match held.map(|held| (held.kind(), held.text())) {
        Some((_, Some(""))) => Value::Text(block.to_owned()),
        Some((_, Some(text))) => Value::Text(format!("{text}{BLOCK_GAP}{block}")),
        Some((Kind::Array, _)) => Value::Appended(Box::new(part)),
        Some((Kind::Object, _)) => Value::List(vec![Value::Original, part]),
        _ => Value::List(vec![part]),
    };
    Ok(Patch { path, change: Change::Set(value) })
}

/// A content of the user's.
fn said(text: &str) -> Value {
    let part = Value::Record(vec![("text", Value::Text(text.to_owned()))]);
    Value::Record(vec![("role", Value::Text("user".into())), ("parts", Value::List(vec![part]))])
}

/// Patches one content.
fn content(view: &View<'_>, at: usize, touched: &Touched<'_, '_>, patches: &mut Vec<Patch>) -> crate::Result<()> {
    let node = view.nodes[at];
    let shown = format!("{}[{at}]", view.list);
    plain(node, || shown.clone())?;
    let Some(held) = node.get("parts") else { return Ok(()) };
    let (parts, is_list) = (listed(held), held.kind() == Kind::Array);
    let in_part = |part: usize, rest: &[Step], change| {
        let way = [Step::Index(at), Step::Key("parts"), Step::Index(part)];
        Patch::new(&[&way[..if is_list { 3 } else { 2 }], rest], change)
    };
    let mut further = parts.len() as u32;
    let mut gone = Vec::new();
    for (index, part) in parts.into_iter().enumerate().filter(|(_, part)| !is_mixed(*part)) {
        if touched.is_gone(index) || (touched.drops_reasoning() && is_thought(part) && !is_signed(part)) {
            gone.push(index);
        }
        let Some((key, response)) = spelt(part, RESPONSE).and_then(|(key, held)| Some((key, held.get("response")?))) else { continue };
        let (mut number, mut found) = (index as u32, Vec::new());
        leaves(view.estimator, response, &mut |rest, _| {
            found.extend(touched.text(number).map(|text| ([&[Step::Key(key), Step::Key("response")], rest].concat(), text)));
            further += u32::from(number != index as u32);
            number = further;
        });
        for (rest, text) in found {
            plain_along(part, &rest, format!("{shown}.parts[{index}]"))?;
            patches.push(in_part(index, &rest, Change::Set(Value::Text(text))));
        }
    }
    // The last first, so that no index has moved when its turn comes.
    patches.extend(gone.into_iter().rev().map(|index| in_part(index, &[], Change::Remove)));
    Ok(())
}
