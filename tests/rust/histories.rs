//! Strategies: histories, options and changes to both, as hosts make them.

use std::fmt;

use proptest::prelude::*;
use serde_json::{Value, json};

use warmfold::options::Preset;

use crate::support::merged;
use crate::transcript::{self, Ids, Says, Shape, Step, TOOLS, Text, Thought, Use};
use crate::twin;

/// JSON that a failing test prints as JSON.
#[derive(Clone)]
pub struct Json(pub Value);

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

pub fn text() -> impl Strategy<Value = Text> {
    let size = prop_oneof![3 => 0..4usize, 4 => 4..30usize, 2 => 30..90usize];
    (0..transcript::KINDS, size, 0..3usize).prop_map(|(kind, size, salt)| Text { kind, size, salt })
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![4 => Just(Shape::String), 3 => prop::sample::select(Shape::ALL.to_vec())]
}

fn thought() -> impl Strategy<Value = Thought> {
    prop_oneof![
        4 => Just(Thought::None),
        1 => text().prop_map(Thought::Reasoning),
        1 => text().prop_map(Thought::Content),
        1 => text().prop_map(Thought::Details),
    ]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![6 => text().prop_map(Says::Text), 1 => Just(Says::Unchanged), 1 => text().prop_map(Says::Error)]
}

fn tool_use() -> impl Strategy<Value = Use> {
    let range = prop::option::weighted(0.3, (0..4usize, 1..4usize).prop_map(|(start, length)| (start * 50, length * 50)));
    let tool = prop_oneof![2 => Just(0), 3 => 0..TOOLS.len()];
    (tool, 0..2usize, range, says(), shape()).prop_map(|(tool, file, range, says, shape)| Use { tool, file, range, says, shape })
}

fn exchange() -> impl Strategy<Value = Step> {
    let ids = prop_oneof![3 => Just(Ids::Fresh), 1 => Just(Ids::Constant), 1 => Just(Ids::PerMessage)];
    let answered = prop_oneof![5 => Just(usize::MAX), 1 => 0..3usize];
    let remark = prop::option::weighted(0.3, text());
    let uses = prop_oneof![3 => prop::collection::vec(tool_use(), 1), 1 => prop::collection::vec(tool_use(), 1..4)];
    (uses, ids, any::<bool>(), answered, thought(), remark).prop_map(|(uses, ids, reversed, answered, thought, remark)| Step::Exchange {
        uses,
        ids,
        reversed,
        answered,
        thought,
        remark,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (text(), shape()).prop_map(|(text, shape)| Step::User { text, shape }),
        8 => exchange(),
        2 => (text(), shape(), thought()).prop_map(|(text, shape, thought)| Step::Say { text, shape, thought }),
        1 => (any::<bool>(), text()).prop_map(|(developer, text)| Step::System { developer, text }),
        2 => (0..4usize, 1..4usize, any::<bool>()).prop_map(|(back, lines, edits)| Step::Quote { back, lines, edits }),
        3 => (0..4usize, prop::option::weighted(0.4, text())).prop_map(|(back, says)| Step::Again { back, says }),
        1 => tool_use().prop_map(Step::Legacy),
        1 => text().prop_map(Step::Orphan),
        1 => text().prop_map(Step::Odd),
    ]
}

/// Messages that a failing test prints as JSON.
#[derive(Clone)]
pub struct History(pub Vec<Value>);

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", json!(self.0))
    }
}

/// Written out, as far as the wire of this test can say it.
fn written(steps: &[Step]) -> Vec<Value> {
    (twin::current().sayable)(&transcript::write(steps))
}

/// A conversation: a leading system run or none, a user, then anything.
pub fn history() -> impl Strategy<Value = History> {
    let system = (any::<bool>(), text()).prop_map(|(developer, text)| Step::System { developer, text });
    let leading = prop::collection::vec(system, 0..3);
    let user = text().prop_map(|text| Step::User { text, shape: Shape::String });
    (leading, user, prop::collection::vec(step(), 0..24)).prop_map(|(leading, user, steps)| History(written(&[leading, vec![user], steps].concat())))
}

/// `{ messages, tools? }`.
pub fn request() -> impl Strategy<Value = Json> {
    let tool = json!({ "type": "function", "function": { "name": "read_file", "parameters": { "type": "object" } }, "cache_control": { "type": "ephemeral" } });
    let tools = prop_oneof![3 => Just(None), 1 => Just(Some(json!([]))), 1 => Just(Some(json!([tool])))];
    (history(), tools).prop_map(|(History(messages), tools)| {
        let mut request = json!({ "messages": messages });
        if let Some(tools) = tools {
            request["tools"] = tools;
        }
        Json(request)
    })
}

/// A tool loop of some length with results of all sizes, which quotes, asks again and changes what it has read; nothing odd.
pub fn long_request() -> impl Strategy<Value = Json> {
    let size = prop_oneof![3 => 0..6usize, 3 => 6..60usize, 1 => 60..250usize];
    let text = (prop::sample::select(vec![0, 1, 5, 7, 7, 7]), size, 0..40usize).prop_map(|(kind, size, salt)| Text { kind, size, salt });
    let text = text.boxed();
    let says = prop_oneof![8 => text.clone().prop_map(Says::Text), 1 => text.clone().prop_map(Says::Error)];
    let tool = prop_oneof![3 => Just(0), 2 => 0..TOOLS.len()];
    let range = prop::option::weighted(0.2, (0..4usize, 1..4usize).prop_map(|(start, length)| (start * 50, length * 50)));
    let one = (tool, 0..5usize, range, says).prop_map(|(tool, file, range, says)| Use { tool, file, range, says, shape: Shape::String });
    let uses = prop_oneof![4 => prop::collection::vec(one.clone(), 1), 1 => prop::collection::vec(one, 2..4)];
    let thought = prop_oneof![4 => Just(Thought::None), 1 => text.clone().prop_map(Thought::Reasoning)];
    let exchange = (uses, thought).prop_map(|(uses, thought)| Step::Exchange {
        uses,
        ids: Ids::Fresh,
        reversed: false,
        answered: usize::MAX,
        thought,
        remark: None,
    });
    let step = prop_oneof![
        8 => exchange,
        2 => (0..6usize, 1..4usize, any::<bool>()).prop_map(|(back, lines, edits)| Step::Quote { back, lines, edits }),
        2 => (0..6usize, prop::option::weighted(0.3, text.clone())).prop_map(|(back, says)| Step::Again { back, says }),
        1 => text.clone().prop_map(|text| Step::Say { text, shape: Shape::String, thought: Thought::Reasoning(text) }),
        1 => text.prop_map(|text| Step::User { text, shape: Shape::String }),
    ];
    let user = Step::User { text: Text { kind: 0, size: 1, salt: 0 }, shape: Shape::String };
    prop::collection::vec(step, 20..60).prop_map(move |steps| {
        let steps = [vec![user.clone()], steps].concat();
        Json(json!({ "messages": written(&steps) }))
    })
}

fn field(name: &'static str, values: Vec<Value>) -> impl Strategy<Value = Value> {
    prop::option::of(prop::sample::select(values)).prop_map(move |value| value.map_or(json!({}), |value| json!({ (name): value })))
}

fn fields(tables: Vec<(&'static str, Vec<Value>)>) -> impl Strategy<Value = Value> {
    let each: Vec<_> = tables.into_iter().map(|(name, values)| field(name, values)).collect();
    each.prop_map(|fields| fields.iter().fold(json!({}), |all, one| merged(&all, one)))
}

fn numbers(numbers: &[u32]) -> Vec<Value> {
    numbers.iter().map(|number| json!(number)).collect()
}

fn budget() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![1, 100, 300, 600, 1200, 3000]).prop_map(|budget| json!({ "budgetTokens": budget }))
}

/// Ages that a short conversation reaches, and the preset's.
fn by_kind() -> impl Strategy<Value = Value> {
    let kinds = ["read", "search", "list", "fetch", "write", "verify", "run", "memory", "other"];
    let all = |policy: Value| json!({ "byKind": kinds.iter().map(|kind| ((*kind).to_owned(), policy.clone())).collect::<serde_json::Map<_, _>>() });
    let at_once = all(json!({ "protectCalls": 0 }));
    let small = all(json!({ "protectCalls": 1, "maxBytes": 200, "keepHeadBytes": 40, "keepTailBytes": 0 }));
    let reads_stay = json!({ "byKind": { "read": { "protectCalls": 3, "maxBytes": 300 }, "run": { "protectCalls": 0, "maxBytes": 100 } } });
    let for_ever = json!({ "byKind": { "read": { "protectCalls": 4_000_000_000u32 } } });
    prop_oneof![3 => Just(json!({})), 6 => Just(at_once), 5 => Just(small), 3 => Just(reads_stay), 1 => Just(for_ever)]
}

fn when() -> impl Strategy<Value = Value> {
    let when = |when: &str| Just(json!({ "when": when }));
    prop_oneof![6 => when("pays"), 3 => when("budget"), 1 => when("never")]
}

/// Options that say what to do: any of them may change from call to call.
pub fn policy() -> impl Strategy<Value = Json> {
    (when(), prop_oneof![1 => budget(), 1 => Just(json!({}))], rest()).prop_map(|(when, budget, rest)| Json(merged(&merged(&when, &budget), &rest)))
}

/// The same over a budget.
pub fn policy_with_budget() -> impl Strategy<Value = Json> {
    (when(), budget(), rest()).prop_map(|(when, budget, rest)| Json(merged(&merged(&when, &budget), &rest)))
}

fn rest() -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("preset", Preset::NAMES.iter().map(|(name, _)| json!(name)).collect()),
        ("protectQuotedCalls", numbers(&[0, 1, 3, 30])),
        ("elideStaleReads", vec![json!(true), json!(false)]),
        ("floorRatio", vec![json!(1), json!(0.75), json!(0.3)]),
        ("maxToolResultBytes", numbers(&[0, 100, 400, 1500, 20_000])),
        ("keepHeadBytes", numbers(&[0, 7, 60, 300])),
        ("keepTailBytes", numbers(&[0, 7, 60, 300])),
        ("minSavedBytes", numbers(&[0, 1, 20, 20, 120])),
        ("collapseDuplicateResults", vec![json!(true), json!(true), json!(false)]),
        ("elideSupersededReads", vec![json!(true), json!(false)]),
        ("dropReasoning", vec![json!(true), json!(true), json!(false)]),
        ("expectedCalls", numbers(&[0, 1, 5, 30, 1000])),
        ("fitToWindow", vec![json!(false)]),
        ("contextHeadroom", vec![json!(0.5), json!(1)]),
        ("completionReserve", numbers(&[0, 50])),
        ("model", vec![json!({ "id": "claude-x" }), json!({ "id": "gpt-5", "contextWindow": 10_000 }), json!({ "contextWindow": 9_000 })]),
        ("toolKinds", vec![json!({ "bash": "read" }), json!({ "read_file": "memory", "grep": "other" })]),
        ("resourceOf", vec![json!({ "bash": ["path"], "read_file": ["path"] })]),
        ("label", vec![json!("a router"), json!("x")]),
        ("milestoneTokens", numbers(&[1, 20, 300])),
        ("maxBreakpoints", numbers(&[0, 1, 2, 4])),
    ]);
    let prices = prop::sample::select(prices()).prop_map(|prices| json!({ "cache": prices }));
    (prop_oneof![2 => 0..3u32, 1 => 3..7u32], by_kind(), prop_oneof![1 => Just(json!({})), 3 => prices], rest)
        .prop_map(|(turns, by_kind, prices, rest)| all(&[json!({ "protectRecentTurns": turns }), by_kind, prices, rest]))
}

/// Options under which a fold is made where it pays and for no other reason.
pub fn paying() -> impl Strategy<Value = Json> {
    let own = |read: f64, write: f64| json!({ "read": read, "write": write, "ttlMs": 1000 });
    let prices = vec![json!("anthropic-5m"), json!("anthropic-1h"), json!("openai"), own(0.5, 1.0), own(0.02, 1.0), own(0.0, 1.0), own(0.9, 0.9)];
    let rest = fields(vec![
        ("preset", ["careful", "balanced", "thrifty"].map(Value::from).to_vec()),
        ("protectQuotedCalls", numbers(&[0, 1, 3, 30])),
        ("protectRecentTurns", numbers(&[0, 2, 5])),
        ("maxToolResultBytes", numbers(&[400, 20_000])),
        ("elideStaleReads", vec![json!(false)]),
        ("elideSupersededReads", vec![json!(true), json!(false)]),
        ("collapseDuplicateResults", vec![json!(true), json!(true), json!(false)]),
        ("dropReasoning", vec![json!(true)]),
        ("minSavedBytes", numbers(&[0, 500])),
        ("expectedCalls", numbers(&[0, 1, 5, 30, 60])),
        ("cache", prices),
    ]);
    (by_kind(), rest).prop_map(|(by_kind, rest)| Json(merged(&merged(&json!({ "when": "pays" }), &by_kind), &rest)))
}

/// What providers charge, and what none does.
fn prices() -> Vec<Value> {
    let own = |read: f64, write: f64| json!({ "read": read, "write": write, "ttlMs": 1000 });
    let named = ["anthropic-5m", "anthropic-1h", "openai", "none"].map(Value::from);
    [named.to_vec(), vec![own(0.5, 0.5), own(0.9, 1.0), own(0.0, 1.0), own(0.05, 2.0), own(1.0, 1.0)]].concat()
}

fn all(options: &[Value]) -> Value {
    options.iter().fold(json!({}), |all, one| merged(&all, one))
}

/// What is written beside the edits.
pub fn output() -> impl Strategy<Value = Json> {
    fields(vec![
        ("marks", vec![json!("none"), json!("anthropic"), json!("openai")]),
        ("contextBlock", vec![json!("the project is called\nwarmfold 深"), json!("")]),
    ])
    .prop_map(Json)
}

/// What a host says of one call, for a history of about that many messages.
pub fn signals() -> impl Strategy<Value = Json> {
    let pins = vec![json!([1]), json!([{ "message": 2, "part": 0 }, 3]), json!([4, 5, 6, 7, 8])];
    let cold = vec![json!(true), json!(false), json!({ "modelSwitched": true }), json!({ "retrying": false }), json!({ "idleMs": 1e9 })];
    let usage = vec![json!({ "inputTokens": 500, "upTo": 3 }), json!({ "inputTokens": 9000, "upTo": 5 })];
    fields(vec![("pins", pins), ("cold", cold), ("usage", usage)]).prop_map(Json)
}

/// `tool_choice`, as requests have it.
pub fn tool_choice() -> impl Strategy<Value = Option<Value>> {
    let forced = json!({ "type": "function", "function": { "name": "read_file" } });
    prop::option::weighted(0.3, prop::sample::select(vec![forced, json!("auto"), json!({ "name": "bash" })]))
}
