//! Whole exchanges that go out as one message of the user's, on every wire: over generated histories here, by hand in `cases`.

use std::ops::Range;

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::history::{Role, View};
use warmfold::options::Marks;
use warmfold::plan::carry;
use warmfold::wire::{Changes, Request, Segment, splice};
use warmfold::{Options, Tape, fold, planner::Given};

use crate::histories::{Json, long_request, request};
use crate::laws::cases as number_of_cases;
use crate::spelled::{Choices, floats, spell};
use crate::support::{eager, list_of, merged};
use crate::twin::law::{marks_in, replaced};
use crate::twin::{self, Twin, for_each_wire, on_each};

mod cases;

/// What becomes of a request.
struct Applied {
    body: Value,
    /// The same as bytes.
    bytes: String,
    /// The parts that marks stand in.
    places: Vec<u32>,
    splices: Vec<splice::Splice>,
}

/// What goes into one beside segments.
#[derive(Clone, Copy, Default)]
struct Beside<'c> {
    edits: bool,
    block: Option<&'c str>,
    marks: &'c [usize],
    dialect: Marks,
}

/// Applies segments as objects and as bytes, which must agree.
fn apply(twin: &Twin, body: &str, segments: &[Segment<'_>], beside: Beside<'_>) -> Applied {
    let tape = Tape::from_json(body).unwrap();
    let request = Request::of(tape.root());
    let view = twin.format.read(&request, beside.block).unwrap();
    let options = Options::from_json(merged(&eager(), &json!({ "format": twin.format, "dropReasoning": true }))).unwrap();
    let edits = match beside.edits {
        true => carry::carry(&view, &fold::decide(&request, &options, Given::New).unwrap().plan).standing.edits,
        false => Vec::new(),
    };
    let Beside { block, marks, dialect, .. } = beside;
    let changes = Changes { edits: &edits, segments, block, marks, mark_block: false, mark_system: false, dialect, hour: false };
    let (patches, places) = twin.format.apply(&view, &changes).unwrap();
    let given: Value = serde_json::from_str(body).unwrap();
    let mut sent = given.clone();
    patches.iter().for_each(|patch| patch.apply_to_request(&mut sent, list_of(&given)));
    let array = request.messages.unwrap();
    let splices = splice::of_request(tape.root(), array, &array.children().collect::<Vec<_>>(), &patches, body.as_bytes());
    let spliced = splice::spliced(body.as_bytes(), &splices);
    let read: Value = serde_json::from_slice(&spliced).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&spliced)));
    assert_eq!(floats(&read), floats(&sent), "objects and bytes agree");
    Applied { body: sent, bytes: String::from_utf8(spliced).unwrap(), places, splices }
}

fn with_view<T>(twin: &Twin, body: &str, does: impl FnOnce(&View<'_>) -> T) -> T {
    let tape = Tape::from_json(body).unwrap();
    does(&twin.format.read(&Request::of(tape.root()), None).unwrap())
}

/// Some ranges that are whole, apart or adjacent.
fn some_whole(view: &View<'_>, choices: &[u8]) -> Vec<Range<usize>> {
    let mut choices = choices.iter().copied().cycle();
    let mut next = |end: usize| usize::from(choices.next().unwrap_or(0)) % end;
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < view.messages.len() {
        let ends: Vec<usize> = (at + 1..=view.messages.len()).filter(|end| view.is_whole(at..*end)).collect();
        if ends.is_empty() || next(3) == 0 {
            at += 1;
        } else {
            let end = ends[next(ends.len())];
            ranges.push(at..end);
            at = end;
        }
    }
    ranges
}

/// What the user says behind results goes into their message, as hosts of these two may have it.
fn shared(request: &Value) -> Value {
    let mut request = request.clone();
    let (list, key) = match twin::current().name {
        "anthropic" => ("messages", "content"),
        "gemini" => ("contents", "parts"),
        _ => return request,
    };
    let is_result = |part: &Value| part["type"] == "tool_result" || part["functionResponse"].is_object();
    let mut together: Vec<Value> = Vec::new();
    for message in request[list].as_array().unwrap() {
        let has_results = |message: &Value| message[key].as_array().is_some_and(|parts| parts.iter().any(is_result));
        let parts = match &message[key] {
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            parts => parts.as_array().cloned().unwrap_or_default(),
        };
        match together.last_mut().filter(|last| last["role"] == "user" && message["role"] == "user" && has_results(last) && !has_results(message)) {
            Some(last) => last[key].as_array_mut().unwrap().extend(parts),
            None => together.push(message.clone()),
        }
    }
    request[list] = together.into();
    request
}

/// Without the numbers of messages, which move.
fn faults(twin: &Twin, request: &Value) -> Vec<String> {
    let is_number = |letter: char| letter.is_ascii_digit();
    (twin.faults)(request).into_iter().map(|fault| fault.replace(is_number, "")).collect()
}

fn text_of(number: usize) -> String {
    format!("[warmfold: part {number} of the work is done\n\"深\"]")
}

for_each_wire!(on_each! segments_take_the_place_of_exchanges);
for_each_wire!(on_each! whole_exchanges_are_found);

proptest! {
    #![proptest_config(number_of_cases(400))]

    fn segments_take_the_place_of_exchanges(
        Json(request) in prop_oneof![request(), long_request()], choices in prop::collection::vec(any::<u8>(), 1..40), seed in any::<u64>(),
    ) {
        let twin = twin::current();
        let request = shared(&(twin.from_chat)(&request).request);
        let body = spell(&request, &mut Choices::of(seed));
        let ranges = with_view(twin, &body, |view| some_whole(view, &choices));
        let texts: Vec<String> = (0..ranges.len()).map(text_of).collect();
        let segments: Vec<Segment<'_>> = ranges.iter().cloned().zip(&texts).map(|(messages, text)| Segment { messages, text }).collect();
        let beside = Beside { edits: choices[0].is_multiple_of(2), block: choices[0].is_multiple_of(3).then_some("notes"), ..Beside::default() };
        let without = apply(twin, &body, &[], beside).body;
        let plain = apply(twin, &body, &segments, beside);

        let tape = Tape::from_json(&body).unwrap();
        let view = twin.format.read(&Request::of(tape.root()), beside.block).unwrap();
        prop_assert_eq!(floats(&plain.body), floats(&replaced(twin, &view, &without, &ranges, &texts)));
        let mut known = faults(twin, &request);
        let mut new = faults(twin, &plain.body);
        new.retain(|fault| known.iter().position(|old| old == fault).map(|old| known.swap_remove(old)).is_none());
        prop_assert!(new.is_empty(), "the provider would refuse what it took before: {:?} in {}", new, plain.body);

        // Where each message is told to be, it is; and its bytes are untouched.
        let (is_in, list) = (|at: usize| ranges.iter().position(|range| range.contains(&at)), list_of(&request));
        for at in 0..view.messages.len() {
            let there = &plain.body[list][view.returned_at(&ranges, at)];
            match is_in(at) {
                Some(number) => prop_assert!(there.to_string().contains(&json!(texts[number]).to_string())),
                None if ranges.iter().any(|range| range.end == at) => {} // it may have lost results
                None => {
                    prop_assert_eq!(there, &without[list][at + view.shift()]);
                    let source = view.nodes[at].source();
                    let cuts = plain.splices.iter().any(|splice| splice.range.start < source.end && source.start < splice.range.end);
                    prop_assert!(!cuts || beside.edits || beside.block.is_some(), "a splice lies in message {at}");
                }
            }
        }

        // Marks that may stand stand there; others, inside a segment, do no harm.
        let stands = |at: &usize| if is_in(*at).is_some() { ranges.iter().any(|range| range.start == *at) } else { view.messages[*at].markable };
        let marks: Vec<usize> = (0..view.messages.len()).filter(stands).filter(|at| (at + choices.len()).is_multiple_of(3)).take(4).collect();
        for dialect in [Marks::Anthropic, Marks::Openai].into_iter().filter(|_| !view.has_no_marks) {
            let marked = apply(twin, &body, &segments, Beside { marks: &marks, dialect, ..beside });
            let found = marks_in(&plain.body, &marked.body).map_err(TestCaseError::fail)?;
            prop_assert!(found.len() <= marks.len() && marked.places.len() <= marks.len(), "{:?} for {:?}", found, marks);
            let on_segments = marks.iter().filter(|at| is_in(**at).is_some()).count();
            let message_of = |mark: &String| mark.split('/').nth(2).and_then(|at| at.parse::<usize>().ok());
            let is_segment = |at: &usize| ranges.iter().any(|range| view.returned_at(&ranges, range.start) == *at);
            let at_segments = found.iter().filter_map(message_of).filter(is_segment).count();
            prop_assert_eq!(at_segments, on_segments);
        }
        let all: Vec<usize> = (0..view.messages.len()).collect();
        apply(twin, &body, &segments, Beside { marks: &all, ..beside });
    }

    /// A tool loop between what the user says can go as a whole, and exchange by exchange where nothing is odd.
    fn whole_exchanges_are_found(Json(request) in long_request()) {
        let twin = twin::current();
        let request = (twin.from_chat)(&request).request;
        with_view(twin, &request.to_string(), |view| {
            let is_models = |at: usize| matches!(view.messages[at].role, Role::Assistant | Role::Tool);
            for start in (1..view.messages.len()).filter(|at| is_models(*at) && !is_models(at - 1)) {
                let end = (start..view.messages.len()).find(|at| !is_models(*at)).unwrap_or(view.messages.len());
                assert!(view.is_whole(start..end), "{start}..{end} of {request}");
            }
            for start in 0..view.messages.len() {
                for end in start..=view.messages.len() {
                    let says = |role: Role| view.messages[start..end].iter().any(|message| message.role == role);
                    assert!(!view.is_whole(start..end) || !(says(Role::User) || says(Role::System)));
                }
            }
        });
    }
}
