//! What each stage of a fold of bytes costs, native: read JSON, read the view, count, match the plan, decide and apply, splice.
//!
//!     npm run bench:stages
//!
//! Histories of 100, 1,000 and 10,000 messages, 4 KB each; the throughput is of the body's bytes.

use std::cell::OnceCell;
use std::fmt::Write;
use std::hint::black_box;

use divan::Bencher;
use divan::counter::BytesCount;
use warmfold::fold::{self, Outcome};
use warmfold::plan::carry;
use warmfold::planner::Given;
use warmfold::wire::{Request, splice};
use warmfold::{Format, Options, Plan, Tape};

const LENGTHS: [usize; 3] = [100, 1_000, 10_000];

fn main() {
    divan::main();
}

/// A conversation about to make a call, with the plan of the one before.
struct Case {
    body: String,
    tape: Tape,
    plan: Plan,
    folded: OnceCell<Outcome>,
}

impl Case {
    fn new(length: usize) -> Case {
        let body = body(length);
        let tape = Tape::from_json(&body).expect("a body is JSON");
        let plan = outcome(&tape, Given::New).plan;
        Case { body, tape, plan, folded: OnceCell::new() }
    }

    fn request(&self) -> Request<'_> {
        Request::of(self.tape.root())
    }

    fn folded(&self) -> &Outcome {
        self.folded.get_or_init(|| outcome(&self.tape, Given::Carried(self.plan.clone())))
    }
}

fn outcome(tape: &Tape, given: Given) -> Outcome {
    fold::fold(&Request::of(tape.root()), &Options::default(), given).expect("a good request folds")
}

/// Reads of files of some sizes, some of them twice, with lines as code has them.
fn body(length: usize) -> String {
    let mut messages = vec![serde_json::json!({ "role": "system", "content": "You are a careful engineer." })];
    for at in 0..length / 2 {
        let path = format!("src/{}/file_{}.rs", at % 17, at * 3 / 4);
        let arguments = serde_json::json!({ "path": path }).to_string();
        let call = serde_json::json!({ "id": format!("call_{at}"), "type": "function", "function": { "name": "read_file", "arguments": arguments } });
        messages.push(serde_json::json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
        let mut text = String::new();
        for line in 0..20 + at * 37 % 360 {
            writeln!(text, "    let value_{at}_{line} = parser.next(\"{line}\")?; // 深").expect("a string takes any text");
        }
        messages.push(serde_json::json!({ "role": "tool", "tool_call_id": format!("call_{at}"), "content": text }));
    }
    serde_json::json!({ "model": "claude-opus-4-5", "messages": messages }).to_string()
}

fn stage(bencher: Bencher<'_, '_>, length: usize, run: impl Fn(&Case)) {
    let case = Case::new(length);
    run(&case); // what is remembered from call to call is
    bencher.counter(BytesCount::of_str(&case.body)).bench_local(|| run(black_box(&case)));
}

#[divan::bench(args = LENGTHS)]
fn a_read_json(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| _ = black_box(Tape::from_json(&case.body)));
}

#[divan::bench(args = LENGTHS)]
fn b_read_json_with_serde_json(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| _ = black_box(serde_json::from_str::<serde_json::Value>(&case.body)));
}

#[divan::bench(args = LENGTHS)]
fn c_read_view(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| _ = black_box(Format::OpenaiChat.read(&case.request(), None)));
}

#[divan::bench(args = LENGTHS)]
fn d_count_tokens(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| {
        let view = Format::OpenaiChat.read(&case.request(), None).expect("it is a request");
        black_box(view.size());
    });
}

#[divan::bench(args = LENGTHS)]
fn e_match_plan(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| {
        let view = Format::OpenaiChat.read(&case.request(), None).expect("it is a request");
        black_box(carry::carry(&view, &case.plan));
    });
}

#[divan::bench(args = LENGTHS)]
fn f_fold_carried(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| _ = black_box(outcome(&case.tape, Given::Carried(case.plan.clone()))));
}

#[divan::bench(args = LENGTHS)]
fn g_fold_anew(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| _ = black_box(outcome(&case.tape, Given::New)));
}

#[divan::bench(args = LENGTHS)]
fn h_splice(bencher: Bencher<'_, '_>, length: usize) {
    stage(bencher, length, |case| {
        let messages = case.request().messages.expect("it has messages");
        let splices = splice::splices(messages, &messages.children().collect::<Vec<_>>(), &case.folded().patches, case.body.as_bytes());
        black_box(splice::spliced(case.body.as_bytes(), &splices));
    });
}
