//! Laws 2 and 3, on whatever wire: what is sent is the request with the plan's edits, the context block and the reported marks in it, and
//! nothing else. So calls and results are where they were.

use std::ops::Range;

use serde_json::{Value, json};
use warmfold::fold::Place;
use warmfold::history::Front;
use warmfold::history::View;
use warmfold::tape::{self, Tape};
use warmfold::wire::Request;
use warmfold::wire::patch::Step;

use super::Twin;
use crate::oracle::{Checked, ensure, rendered};
use crate::support::{Edit, Sent, list_of};

/// Holds a request that was sent against its plan.
pub fn sent_as_planned(twin: &Twin, sent: &Sent) -> Checked {
    if sent.options["enabled"] == false {
        ensure!(sent.body == sent.request, "disabled, and sent otherwise than given");
        return Ok(());
    }
    let edits = sent.edits();
    let is_ordered = edits.windows(2).all(|two| (two[0].message, two[0].part) < (two[1].message, two[1].part));
    ensure!(is_ordered, "edits are out of order, or two are of one entry: {edits:?}");
    let mut expected = sent.request.clone();
    for edit in &edits {
        carry_out(twin, edit, &mut expected[sent.list()][edit.message])?;
    }
    let block = block_of(sent);
    block.inspect(|block| (twin.put_block)(&mut expected, block));
    let expected = condensed(twin, sent, expected);
    marks_stand_where_told(sent, &marks_in(&expected, &sent.body)?)?;
    nothing_is_patched_in_vain(sent, &edits, block)?;
    let points = &sent.outcome.breakpoints;
    let is_ordered = points.windows(2).all(|two| two[0] < two[1]) && points.iter().all(|at| *at < sent.output().len().max(1));
    ensure!(is_ordered, "breakpoints are indices of what is returned, ascending: {points:?}");
    Ok(())
}

/// What the provider takes, it still takes.
pub fn stays_valid(twin: &Twin, sent: &Sent) -> Checked {
    let mut asked = sent.request.clone();
    block_of(sent).inspect(|block| (twin.put_block)(&mut asked, block));
    // Where messages are condensed, their numbers move.
    let is_number = |letter: char| letter.is_ascii_digit() && !sent.outcome.plan.segments.is_empty();
    let faults = |request: &Value| (twin.faults)(request).into_iter().map(|fault| fault.replace(is_number, ""));
    let mut known: Vec<String> = faults(&asked).collect();
    let mut new: Vec<String> = faults(&sent.body).collect();
    new.retain(|fault| known.iter().position(|old| old == fault).map(|old| known.swap_remove(old)).is_none());
    ensure!(new.is_empty(), "the provider would refuse what it took before: {new:?} in {}", sent.body);
    Ok(())
}

fn block_of(sent: &Sent) -> Option<&str> {
    sent.options["contextBlock"].as_str().filter(|block| !block.is_empty() && sent.options["enabled"] != false)
}

/// The request with a message for each segment in place of what it stands for.
fn condensed(twin: &Twin, sent: &Sent, without: Value) -> Value {
    let segments = &sent.outcome.plan.segments;
    if segments.is_empty() {
        return without;
    }
    let tape = Tape::from_json(sent.request.to_string()).expect("it was read before");
    let view = twin.format.read(&Request::of(tape.root()), None).expect("it was read before");
    let ranges: Vec<Range<usize>> = segments.iter().map(|segment| segment.messages()).collect();
    let texts: Vec<String> = segments.iter().map(|segment| segment.text.clone()).collect();
    replaced(twin, &view, &without, &ranges, &texts)
}

/// A request as it should be sent: all as without segments, but for them.
pub fn replaced(twin: &Twin, view: &View<'_>, without: &Value, ranges: &[Range<usize>], texts: &[String]) -> Value {
    let list = list_of(without);
    let messages = without[list].as_array().unwrap();
    let shift = messages.len() - view.messages.len();
    let mut sent = messages[..shift].to_vec();
    for (at, message) in messages[shift..].iter().enumerate() {
        let number = ranges.iter().position(|range| range.contains(&at));
        let own = |call: usize| ranges.iter().any(|range| range.end == at && range.contains(&view.tool_calls[call].message));
        let gone = || view.answers_in(at..at + 1).iter().filter(|answer| answer.tool_call.is_some_and(own)).map(|answer| answer.part as usize);
        match number.map(|number| (&ranges[number], &texts[number])) {
            Some((range, text)) if range.start == at => sent.push(match twin.name {
                "gemini" => json!({ "role": "user", "parts": [{ "text": text }] }),
                _ => json!({ "role": "user", "content": text }),
            }),
            Some(_) => {}
            None => {
                let mut message = message.clone();
                let key = if twin.name == "gemini" { "parts" } else { "content" };
                gone().collect::<Vec<_>>().into_iter().rev().for_each(|part| _ = message[key].as_array_mut().unwrap().remove(part));
                sent.push(message);
            }
        }
    }
    let mut expected = without.clone();
    expected[list] = sent.into();
    expected
}

/// Law 5, in short: an edit lies on the text that it was made for.
fn carry_out(twin: &Twin, edit: &Edit, message: &mut Value) -> Checked {
    if edit.rule == "reasoning" {
        let before = message.clone();
        (twin.drop_reasoning)(message);
        ensure!(before != *message, "dropped reasoning that is not there: {edit:?}");
        ensure!(edit.pieces.is_empty(), "reasoning goes as a whole: {edit:?}");
        return Ok(());
    }
    let slot = (twin.texts)(message).into_iter().find(|slot| slot.part == edit.part);
    let slot = slot.ok_or_else(|| format!("an edit of no text: {edit:?}"))?;
    ensure!(tape::hex(tape::fingerprint(&slot.text)) == edit.fingerprint, "an edit lies on a text that is not its own: {edit:?}");
    (twin.put)(message.pointer_mut(&slot.pointer).expect("it was found there"), rendered(&slot.text, &edit.pieces));
    Ok(())
}

/// The marks that one value has more than the other, as pointers to what they stand in. In all else the two must be equal.
pub fn marks_in(expected: &Value, sent: &Value) -> Result<Vec<String>, String> {
    let mut marks = Vec::new();
    compare(expected, sent, String::new(), &mut marks)?;
    Ok(marks)
}

const MARKS: [&str; 3] = ["cache_control", "prompt_cache_breakpoint", "providerOptions"];

fn compare(expected: &Value, sent: &Value, at: String, marks: &mut Vec<String>) -> Checked {
    match (expected, sent) {
        (Value::Object(expected), Value::Object(sent)) => {
            let of_options = at.contains("/providerOptions");
            let mut is_marked = false;
            for (key, value) in sent {
                match expected.get(key).filter(|expected| !expected.is_null() || value.is_null()) {
                    Some(expected) => compare(expected, value, format!("{at}/{key}"), marks)?,
                    None if of_options || MARKS.contains(&key.as_str()) => is_marked = true,
                    None => return Err(format!("{at} has got a {key:?}: {value}")),
                }
            }
            let gone = expected.keys().find(|key| !sent.contains_key(*key));
            ensure!(gone.is_none(), "{at} has lost its {gone:?}");
            marks.extend(is_marked.then_some(at));
        }
        (Value::Array(expected), Value::Array(sent)) if expected.len() == sent.len() => {
            for (index, (expected, sent)) in expected.iter().zip(sent).enumerate() {
                compare(expected, sent, format!("{at}/{index}"), marks)?;
            }
        }
        // A text has become a part, so that a mark can stand in it.
        (Value::String(text), Value::Array(parts)) if parts.len() == 1 && parts[0]["text"] == *text => {
            let fields = parts[0].as_object().expect("it has a text");
            let others: Vec<_> = fields.keys().filter(|key| !["type", "text"].contains(&key.as_str())).collect();
            ensure!(matches!(others[..], [mark] if MARKS.contains(&mark.as_str())), "{at} has become a part for no mark: {sent}");
            marks.push(at);
        }
        _ => ensure!(expected == sent, "{at} is not as planned:\n  expected {expected}\n  sent     {sent}"),
    }
    Ok(())
}

/// Each mark that is told of is there, and no other.
fn marks_stand_where_told(sent: &Sent, found: &[String]) -> Checked {
    let place = |pointer: &String| {
        let mut steps = pointer.split('/').skip(1);
        let (field, index) = (steps.next().unwrap_or(""), steps.next().and_then(|index| index.parse().ok()));
        match index.filter(|_| field == sent.list()) {
            Some(message) => Place::Message(message),
            None => Place::Front(if field == "tools" { Front::Tools } else { Front::System }),
        }
    };
    let found: Vec<String> = found.iter().map(|pointer| format!("{:?}", place(pointer))).collect();
    let mut told: Vec<String> = sent.outcome.marks.iter().filter(|mark| mark.part.is_some()).map(|mark| format!("{:?}", mark.at)).collect();
    let mut sorted = found.clone();
    sorted.sort();
    told.sort();
    ensure!(sorted == told, "marks are told of in {told:?} and stand in {found:?}");
    Ok(())
}

/// What is not patched stays the host's own object.
fn nothing_is_patched_in_vain(sent: &Sent, edits: &[Edit], block: Option<&str>) -> Checked {
    let is_marked = |at: Place| sent.outcome.marks.iter().any(|mark| mark.part.is_some() && mark.at == at);
    let leading = sent.input().iter().take_while(|message| matches!(message["role"].as_str(), Some("system" | "developer"))).count();
    for patch in &sent.outcome.patches {
        let is_for_something = match patch.path.first() {
            Some(Step::Index(at)) => {
                let is_condensed = sent.outcome.plan.segments.iter().any(|segment| (segment.from..=segment.to).contains(at));
                let is_edited = edits.iter().any(|edit| edit.message == *at);
                let takes_block = block.is_some() && (sent.shift() == 1 || *at < leading);
                let returned = sent.outcome.report.index_map.get(*at).copied().unwrap_or(at + sent.shift());
                is_condensed || is_edited || takes_block || is_marked(Place::Message(returned))
            }
            Some(Step::Key("tools")) => is_marked(Place::Front(Front::Tools)),
            Some(Step::Key(_)) => block.is_some() || is_marked(Place::Front(Front::System)),
            Some(Step::Named(_)) | None => false,
        };
        ensure!(is_for_something, "a needless patch: {patch:?}");
    }
    Ok(())
}
