//! When to fold: where it pays, priced call by call with the simulated cache, and never before an edit's time has come.
//!
//! What an edit has missed, since when it was due and what the model has quoted is worked out here a second time, from the history.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};
use warmfold::cache::model::{self, Block, Cache};
use warmfold::history::EntryKind;
use warmfold::history::actions::Action;
use warmfold::tape::{self, Tape};
use warmfold::wire::Request;
use warmfold::{Options, tokens};

use super::{all, cases, holds};
use crate::histories::{Json, long_request, paying, policy};
use crate::oracle::{self, protect_from, rendered, text_at};
use crate::support::{Call, Carry, Edit, Sent, at_length, call_lengths, carry_through, fold};
use crate::twin::{self, every_wire};

every_wire! {
    a_fold_never_loses_when_the_expected_calls_follow covers 8,
    a_fold_costs_at_most_what_its_edits_have_missed covers 8,
    a_cold_call_folds_once,
    an_unreachable_budget_does_not_fold_at_every_call covers 7 12,
    what_was_quoted_is_not_cut,
    a_long_conversation_keeps_the_laws,
}

fn lengths_of(request: &Value) -> Vec<usize> {
    call_lengths(request["messages"].as_array().expect("a request has messages"))
}

/// What a call sends, as the cache sees it: what stands before the messages, then each of them.
fn blocks(sent: &Sent) -> Vec<Block> {
    let messages = sent.output();
    let tape = Tape::from_json(sent.body.to_string()).expect("it was folded");
    let view = twin::current().format.read(&Request::of(tape.root()), None).expect("it was folded");
    let overhead = Block { print: 0, tokens: u64::from(view.overhead.tokens), blocks: 1 };
    let message = |(at, message): (usize, &warmfold::history::Message)| Block {
        print: tape::fingerprint(&messages[at].to_string()),
        tokens: u64::from(message.fixed.tokens)
            + view.entries[message.entries.clone()].iter().map(|entry| u64::from(entry.estimate(view.estimator))).sum::<u64>(),
        blocks: message.blocks,
    };
    [vec![overhead], view.messages.iter().enumerate().map(message).collect()].concat()
}

/// A cache in which every message ends a prefix that can be read again, as `marks: "none"` assumes.
struct Provider {
    cache: Cache,
    options: Options,
}

impl Provider {
    fn new(options: &Value) -> Provider {
        let options = Options::from_json(options.clone()).expect("good options");
        Provider { cache: Cache::lenient(options.cache), options }
    }

    fn bill(&mut self, blocks: &[Block]) -> f64 {
        bill(&mut self.cache, &self.options, blocks)
    }

    /// What this request costs, and then so many that each append a message.
    fn cost(&self, blocks: &[Block], later_calls: usize) -> f64 {
        let (mut cache, mut blocks) = (self.cache.clone(), blocks.to_vec());
        let mut cost = bill(&mut cache, &self.options, &blocks);
        for print in 0..later_calls {
            blocks.push(Block { print: print as u64, tokens: 50, blocks: 1 });
            cost += bill(&mut cache, &self.options, &blocks);
        }
        cost
    }
}

fn bill(cache: &mut Cache, options: &Options, blocks: &[Block]) -> f64 {
    cache.bill(&model::Request { messages: blocks, marks: None, at_ms: None, cold: false }).cost(&options.cache)
}

/// A warm call that folds, and the same call without new edits.
struct Fold<'c> {
    number: usize,
    call: &'c Call,
    /// What it costs over going without, at once.
    extra: f64,
    /// The same with so many calls behind it as are expected.
    extra_in_the_end: f64,
}

/// The warm folds of a run, priced. The first call is a new conversation, with nothing cached.
fn warm_folds<'c>(calls: &'c [Call], options: &Value) -> Vec<Fold<'c>> {
    let mut provider = Provider::new(options);
    let mut folds = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let sent = blocks(&call.sent);
        if number > 0 && call.outcome.folded {
            let without = fold(&call.request, &all(&[options, &json!({ "when": "never" })]), &call.carry);
            let without = blocks(&without.sent);
            let expected = provider.options.expected_calls.map_or(number.max(10), |calls| calls as usize);
            let extra = |later| provider.cost(&sent, later) - provider.cost(&without, later);
            folds.push(Fold { number, call, extra: extra(0), extra_in_the_end: extra(expected) });
        }
        provider.bill(&sent);
    }
    folds
}

/// The carried edit that a new one takes the place of.
fn left_of(call: &Call, edit: &Edit) -> Option<Edit> {
    call.carried().into_iter().find(|old| (old.message, old.part) == (edit.message, edit.part))
}

/// What each edit of a fold saves over what was sent in its place, in tokens.
fn saved(call: &Call, edit: &Edit) -> u64 {
    if edit.rule == "reasoning" {
        return reasoning_saved(call, edit);
    }
    let text = text_at(&call.input()[edit.message], edit.part).expect("an edit lies on a text");
    let estimate = |edit: &Edit| u64::from(tokens::Estimator::default().text(&rendered(text, &edit.pieces)));
    let before = left_of(call, edit).map(|cut| estimate(&cut));
    before.unwrap_or(u64::from(tokens::Estimator::default().text(text))) - estimate(edit)
}

/// The reasoning of a message as the wire has it.
fn reasoning_saved(call: &Call, edit: &Edit) -> u64 {
    let message = (twin::current().from_chat)(&call.request).homes[edit.message].messages.start;
    let tape = Tape::from_json(call.sent.request.to_string()).expect("it was folded");
    let view = twin::current().format.read(&Request::of(tape.root()), None).expect("it was folded");
    let entries = view.entries[view.messages[message].entries.clone()].iter().filter(|entry| entry.kind == EntryKind::Reasoning);
    entries.map(|entry| u64::from(entry.estimate(view.estimator))).sum()
}

/// The first call at which an edit could have been made: where that takes more than reading the history, the earliest that it can be.
struct Dues {
    lengths: Vec<usize>,
    actions: BTreeMap<usize, Action>,
    options: Options,
    quotes: Quotes,
    tools: Vec<Option<String>>,
    asked_in: Vec<Option<usize>>,
}

impl Dues {
    fn new(last: &Call) -> Dues {
        Dues {
            lengths: call_lengths(last.input()),
            actions: oracle::actions_of(last),
            options: Options::from_json(last.options.clone()).expect("good options"),
            quotes: Quotes::new(last.input()),
            tools: oracle::tools_of(last.input()),
            asked_in: oracle::asked_in(last.input()),
        }
    }

    fn first_call(&self, message: usize) -> usize {
        self.lengths.iter().filter(|length| **length <= message).count()
    }

    /// The call that an assistant message answers.
    fn answered(&self, message: usize) -> usize {
        self.lengths.iter().filter(|length| **length < message).count()
    }

    /// As seen at this call.
    fn due(&self, call: &Call, number: usize, edit: &Edit) -> usize {
        let left = |call_number: &usize| protect_from(&call.input()[..self.lengths[*call_number]], self.options.protect_recent_turns) > edit.message;
        let unprotected = (0..=number).find(left).expect("it was edited");
        if edit.rule == "reasoning" {
            return unprotected.max(self.first_call(edit.message) + 1); // a later answer is there
        }
        let kind = self.actions[&edit.message].kind;
        let age = if matches!(edit.rule.as_str(), "truncated" | "stale") { self.options.by_kind.of(kind).protect_calls as usize } else { 0 };
        let aged = self.first_call(edit.message) + age;
        let standing_in = match edit.rule.as_str() {
            "superseded" => self.again(edit).next(),
            "stale" => edit.target.as_ref().map(|target| target.message),
            _ => None,
        };
        let there = standing_in.map_or(0, |message| self.first_call(message));
        let held = match left_of(call, edit) {
            Some(cut) => self.answered(cut.since), // what is left of it is held by nothing
            None => self.quote_holds_until(edit, call.input().len()),
        };
        unprotected.max(aged).max(there).max(held)
    }

    /// Results of later calls about the same resource, of the same tool.
    fn again(&self, edit: &Edit) -> impl Iterator<Item = usize> {
        let about = |message: &usize| self.actions[message].resource.as_ref().map(|resource| &resource.key);
        let (own, tool) = (about(&edit.message), &self.tools[edit.message]);
        self.actions.keys().copied().filter(move |message| {
            self.asked_in[*message] > Some(edit.message) && own.is_some() && about(message) == own && self.tools[*message] == *tool
        })
    }

    /// Whether the same was asked before, so that it may have been cut too early and stay longer now.
    fn was_asked_before(&self, edit: &Edit) -> bool {
        let about = |message: &usize| self.actions[message].resource.as_ref().map(|resource| &resource.key);
        let own = about(&edit.message);
        own.is_some() && self.actions.keys().any(|message| *message < edit.message && about(message) == own)
    }

    /// The first call at which no quote holds it any more.
    fn quote_holds_until(&self, edit: &Edit, length: usize) -> usize {
        if !matches!(edit.rule.as_str(), "truncated" | "stale") || self.options.protect_quoted_calls == 0 {
            return 0;
        }
        let quoted = self.quotes.last(edit.message, length);
        quoted.map_or(0, |message| self.answered(message) + self.options.protect_quoted_calls as usize)
    }
}

/// What the model wrote, line by line.
struct Quotes {
    /// Lines of each result.
    shown: Vec<BTreeSet<String>>,
    /// Lines of each answer.
    said: Vec<BTreeSet<String>>,
}

impl Quotes {
    fn new(messages: &[Value]) -> Quotes {
        let shown = |message: &Value| text_at(message, 0).filter(|_| message["role"] == "tool").map(lines).unwrap_or_default();
        let said = |message: &Value| {
            let mut said = text_at(message, 0).filter(|_| message["role"] == "assistant").map(lines).unwrap_or_default();
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap_or("")).unwrap_or_default();
                let values = arguments.as_object().into_iter().flat_map(|fields| fields.values());
                values.filter_map(Value::as_str).for_each(|text| said.extend(lines(text)));
            }
            said
        };
        Quotes { shown: messages.iter().map(shown).collect(), said: messages.iter().map(said).collect() }
    }

    /// The last answer before this length that holds a line of a result, which none before the result held.
    fn last(&self, result: usize, length: usize) -> Option<usize> {
        let news: BTreeSet<&String> = self.shown[result].iter().filter(|line| !self.said[..result].iter().any(|said| said.contains(*line))).collect();
        (result + 1..length).rev().find(|at| self.said[*at].iter().any(|line| news.contains(line)))
    }
}

/// Lines worth quoting, without the number before them.
fn lines(text: &str) -> BTreeSet<String> {
    let worth = |line: &str| {
        let line = line.trim().trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
        (line.len() >= 24 && line.starts_with("let ")).then(|| line.to_owned())
    };
    text.split('\n').filter_map(worth).collect()
}

proptest! {
    #![proptest_config(cases(60))]

    /// A fold that the rule accepts never costs more than going without when the calls that it counts on follow.
    fn a_fold_never_loses_when_the_expected_calls_follow(request in long_request(), policy in paying()) {
        let calls = carry_through(&request.0, &lengths_of(&request.0), |_| policy.0.clone());
        for fold in warm_folds(&calls, &policy.0) {
            prop_assert!(fold.extra_in_the_end <= 1e-6, "call {} loses {}: {:?}", fold.number, fold.extra_in_the_end, fold.call.new_edits());
        }
    }

    /// A warm fold costs at most what its edits have missed since they were due; so all of them together cost no more than that either.
    fn a_fold_costs_at_most_what_its_edits_have_missed(request in long_request(), policy in paying()) {
        let calls = carry_through(&request.0, &lengths_of(&request.0), |_| policy.0.clone());
        let dues = Dues::new(calls.last().unwrap());
        let (mut paid, mut missed_in_all) = (0.0, 0.0);
        for fold in warm_folds(&calls, &policy.0) {
            let missed_by = |edit: &Edit| {
                let due = dues.due(fold.call, fold.number, edit);
                fold.number.checked_sub(due).map(|calls| saved(fold.call, edit) as f64 * dues.options.cache.read * calls as f64)
            };
            let mut missed = 0.0;
            for edit in fold.call.new_edits() {
                let by = missed_by(&edit);
                prop_assert!(by.is_some(), "made at call {} and due at {}: {edit:?}", fold.number, dues.due(fold.call, fold.number, &edit));
                missed += by.unwrap_or(0.0);
            }
            prop_assert!(fold.extra <= missed + 1e-6, "call {} costs {} and missed {missed}: {:?}", fold.number, fold.extra, fold.call.new_edits());
            let reported = fold.call.outcome.report.fold_cost.unwrap_or(0) as f64;
            prop_assert!(fold.extra <= reported + 1.0, "call {} costs {}, the report says {reported}", fold.number, fold.extra);
            paid += fold.extra.max(0.0);
            missed_in_all += missed;
        }
        prop_assert!(paid <= missed_in_all + 1e-6);
    }

    /// A cold call makes all that is due; the calls behind it make only what became due since.
    fn a_cold_call_folds_once(request in long_request(), policy in paying(), at in any::<prop::sample::Index>()) {
        let lengths = lengths_of(&request.0);
        let at = at.index(lengths.len());
        let policy = Json(all(&[&policy.0, &json!({ "protectQuotedCalls": 0 })]));
        let cold = all(&[&policy.0, &json!({ "cold": true })]);
        let calls = carry_through(&request.0, &lengths, |number| if number == at { cold.clone() } else { policy.0.clone() });
        let free = all(&[&policy.0, &json!({ "cache": { "read": 1, "write": 1, "ttlMs": 1 }, "expectedCalls": 1000 })]);
        for again in [&policy.0, &cold, &free] {
            let retry = fold(&calls[at].request, again, &calls[at].next());
            prop_assert!(!retry.outcome.folded, "{:?}", retry.new_edits());
        }
        let dues = Dues::new(calls.last().unwrap());
        for (number, call) in calls.iter().enumerate().skip(at + 1) {
            for edit in call.new_edits().iter().filter(|edit| edit.rule == "truncated" && !dues.was_asked_before(edit)) {
                let due = dues.due(call, number, edit);
                prop_assert!(due > at, "due at {due}, left by the cold call {at}, made at {number}: {edit:?}");
            }
        }
    }

    /// A budget that cannot be reached is no reason to fold at each call: a fold reaches the target, saves a tenth of the limit, or pays.
    fn an_unreachable_budget_does_not_fold_at_every_call(
        request in long_request(), policy in paying(), when in prop::sample::select(vec!["pays", "budget"]),
        share in prop::sample::select(vec![0.05, 0.2, 0.5]), ratio in prop::sample::select(vec![0.3, 0.5, 1.0]),
    ) {
        let full = fold(&request.0, &json!({ "when": "never" }), &Carry::New).outcome.report.tokens_before;
        let budget = ((f64::from(full) * share) as u32).max(1);
        let options = all(&[&policy.0, &json!({ "budgetTokens": budget, "floorRatio": ratio, "when": when })]);
        let calls = carry_through(&request.0, &lengths_of(&request.0), |_| options.clone());
        let mut worth = 0;
        for fold in warm_folds(&calls, &options) {
            let saved: u64 = fold.call.new_edits().iter().map(|edit| saved(fold.call, edit)).sum();
            let reached = fold.call.outcome.report.tokens_after <= (f64::from(budget) * ratio).floor() as u32;
            let pays = fold.extra_in_the_end <= 1e-6;
            prop_assert!(reached || pays || saved * 10 >= u64::from(budget), "call {} saves {saved} of {budget}", fold.number);
            worth += usize::from(!reached && !pays);
        }
        let most = 10 * u64::from(full) / u64::from(budget);
        prop_assert!(worth as u64 <= most, "{worth} folds that neither pay nor reach {budget} of {full} tokens");
    }

    /// What was quoted lately is not cut; what a cut had left may go.
    fn what_was_quoted_is_not_cut(request in long_request(), policy in paying(), when in prop::sample::select(vec!["pays", "budget"]), calls in 1..20u32) {
        let options = all(&[&policy.0, &json!({ "protectQuotedCalls": calls, "when": when, "budgetTokens": 4000 })]);
        let calls = carry_through(&request.0, &lengths_of(&request.0), |_| options.clone());
        let dues = Dues::new(calls.last().unwrap());
        for (number, call) in calls.iter().enumerate() {
            for edit in call.new_edits().into_iter().filter(|edit| left_of(call, edit).is_none()) {
                let until = dues.quote_holds_until(&edit, call.input().len());
                prop_assert!(number >= until, "made at call {number}, quoted until {until}: {edit:?}");
            }
        }
    }

    /// All laws of single calls, and of two in a row, hold over long conversations, and without a plan.
    fn a_long_conversation_keeps_the_laws(request in long_request(), policy in policy(), at in any::<prop::sample::Index>()) {
        let lengths = lengths_of(&request.0);
        let calls = carry_through(&request.0, &lengths, |_| policy.0.clone());
        for call in calls.iter().skip(at.index(4)).step_by(4) {
            holds(oracle::one_call(call))?;
        }
        for two in calls.windows(2) {
            holds(oracle::next_call(&two[0], &two[1]))?;
        }
        let at = at.index(lengths.len());
        let derived = fold(&at_length(&request.0, lengths[at]), &policy.0, &Carry::Derive);
        prop_assert_eq!(&derived.plan, &calls[at].plan);
        prop_assert_eq!(&derived.sent.body, &calls[at].sent.body);
    }
}
