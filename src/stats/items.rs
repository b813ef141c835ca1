//! What is sent, piece by piece: each with its tokens, and to whom, at which resolution and to which phase it belongs.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::history::exchanges::{self, Reading};
use crate::history::phase::{Phase, Phases};
use crate::history::turns::Recent;
use crate::history::{Content, EntryKind, Message, Role, View};
use crate::options::Options;
use crate::plan::{Edit, Piece, Standing};
use crate::render;
use crate::tape::Node;
use crate::tokens::MESSAGE_OVERHEAD;

/// How much is sent of what was there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    Full,
    Outlined,
    Summarized,
    Pinned,
}

/// What an item is made of, where it is text.
#[derive(Clone, Copy)]
enum Source {
    /// Estimated only.
    None,
    System,
    Tools,
    Entry(usize),
    /// The arguments of a tool call.
    Call(usize),
    /// What stands for the messages of a segment.
    Segment(usize),
}

pub(super) struct Item {
    /// As estimated.
    pub(super) tokens: u32,
    /// `None` for the tools schema.
    pub(super) role: Option<Role>,
    pub(super) resolution: Resolution,
    pub(super) phase: Option<Phase>,
    /// Whether it stands before the conversation.
    pub(super) is_system_prompt: bool,
    /// How many messages it stands for.
    pub(super) compacted: usize,
    source: Source,
}

impl Item {
    /// Whether a tokenizer can count it.
    pub(super) fn is_text(&self) -> bool {
        !matches!(self.source, Source::None)
    }

    /// The text, as it is sent.
    pub(super) fn text(&self, view: &View<'_>, standing: &Standing) -> String {
        let written = |node: Option<Node<'_>>| match node.map(|node| (node, node.text())) {
            None => String::new(),
            Some((_, Some(text))) => text.to_owned(),
            Some((node, None)) => node.to_json().to_string(),
        };
        match self.source {
            Source::None => String::new(),
            Source::System => written(view.system),
            Source::Tools => written(view.tools),
            Source::Call(call) => written(view.tool_calls[call].arguments),
            Source::Segment(segment) => standing.segments[segment].text.clone(),
            Source::Entry(entry) => match edit_of(standing, entry) {
                Some(edit) => render::text(view.entries[entry].text(), &edit.pieces),
                None => view.entries[entry].text().to_owned(),
            },
        }
    }
}

fn edit_of(standing: &Standing, entry: usize) -> Option<&Edit> {
    let edits = &standing.edits;
    edits.binary_search_by_key(&entry, |(edited, _)| *edited).ok().map(|at| &*edits[at].1)
}

/// All that is sent, in order.
pub(super) fn of(view: &View<'_>, standing: &Standing, options: &Options) -> Vec<Item> {
    let mut items = before(view);
    let (phases, pinned) = (phases(view, options), Pinned::of(view, options));
    let mut segments = standing.segments.iter().enumerate().peekable();
    let mut at = view.read_from(view.messages.len());
    while let Some(message) = view.messages.get(at) {
        if let Some((number, segment)) = segments.next_if(|(_, segment)| segment.messages().contains(&at)) {
            let message = Item {
                tokens: MESSAGE_OVERHEAD,
                role: Some(Role::User),
                resolution: Resolution::Summarized,
                phase: None,
                is_system_prompt: false,
                compacted: 0,
                source: Source::None,
            };
            items.push(Item {
                tokens: view.estimator.text(&segment.text),
                compacted: segment.messages().len(),
                source: Source::Segment(number),
                ..message
            });
            items.push(message);
            at = segment.to;
            continue;
        }
        let whole = Item {
            tokens: message.fixed.tokens,
            role: Some(role_of(message)),
            resolution: if pinned.has(at) { Resolution::Pinned } else { Resolution::Full },
            phase: phases[at],
            is_system_prompt: at < view.system_end,
            compacted: 0,
            source: Source::None,
        };
        for entry in message.entries.clone().filter(|entry| standing.segment_with(view, *entry).is_none()) {
            items.push(of_entry(view, standing, entry, &whole, &phases, &pinned));
        }
        // Of what goes with a message the arguments of its calls are text.
        let mut rest = whole.tokens;
        for call in view.calls_of(at) {
            let Some(arguments) = view.tool_calls[call].arguments else { continue };
            let tokens = arguments.text().map_or_else(|| view.estimator.tree(arguments), |text| view.estimator.text(text)).min(rest);
            rest -= tokens;
            items.push(Item { tokens, source: Source::Call(call), ..whole });
        }
        items.push(Item { tokens: rest, ..whole });
        at += 1;
    }
    items
}

/// The tools schema, and the system prompt that stands apart with what is added to it.
fn before(view: &View<'_>) -> Vec<Item> {
    let tokens_of = |node: Option<Node<'_>>| node.map_or(0, |node| view.estimator.tree(node));
    let tools = tokens_of(view.tools).min(view.overhead.tokens);
    let system = tokens_of(view.system).min(view.overhead.tokens - tools);
    let added = view.overhead.tokens - tools - system;
    let item = |tokens, role, source| Item {
        tokens,
        role,
        resolution: Resolution::Pinned,
        phase: None,
        is_system_prompt: role.is_some(),
        compacted: 0,
        source,
    };
    vec![
        item(tools, None, if view.tools.is_some() { Source::Tools } else { Source::None }),
        item(system, Some(Role::System), if view.system.is_some() { Source::System } else { Source::None }),
        item(added, Some(Role::System), Source::None),
    ]
}

fn of_entry(view: &View<'_>, standing: &Standing, entry: usize, whole: &Item, phases: &[Option<Phase>], pinned: &Pinned) -> Item {
    let (found, edit) = (&view.entries[entry], edit_of(standing, entry));
    let is_result = found.kind == EntryKind::Result;
    let resolution = match edit {
        Some(edit) if edit.pieces.iter().any(|piece| matches!(piece, Piece::Span(from, to) if from < to)) => Resolution::Outlined,
        Some(_) => Resolution::Summarized,
        None if pinned.has_part(found.message, found.part) => Resolution::Pinned,
        None => whole.resolution,
    };
    Item {
        tokens: edit.map_or_else(|| found.estimate(view.estimator), |edit| render::tokens(view.estimator, found.text(), &edit.pieces)),
        role: if is_result { Some(Role::Tool) } else { whole.role },
        resolution,
        // A result may stand in a message of the user's own, or come late.
        phase: found.tool_call.filter(|_| is_result).map_or(whole.phase, |call| phases[view.tool_calls[call].message]),
        source: if matches!(found.content, Content::Text(_)) { Source::Entry(entry) } else { Source::None },
        ..*whole
    }
}

fn role_of(message: &Message) -> Role {
    if message.role == Role::User && !message.authored { Role::Tool } else { message.role }
}

/// The phase of each message.
fn phases(view: &View<'_>, options: &Options) -> Vec<Option<Phase>> {
    let name = |call: usize| view.tool_calls[call].name;
    let reading = Reading {
        action: &|call| view.action(call, options.kind_of(name(call)), options.resource_of(name(call))),
        told: &|tool| options.phase_of(tool),
        reads_runs: false,
    };
    let mut phases = vec![None; view.messages.len()];
    let mut state = Phases::default();
    for exchange in exchanges::of(view, 0..view.messages.len()) {
        let facts = exchange.facts(view, &reading, &mut |_| ());
        let phase = exchange.phase(&facts, &mut state);
        phases[exchange.messages].fill(phase);
    }
    phases
}

/// What is never downgraded.
struct Pinned {
    system_end: usize,
    first: Range<usize>,
    last: usize,
    by_host: FxHashSet<(usize, Option<u32>)>,
}

impl Pinned {
    fn of(view: &View<'_>, options: &Options) -> Pinned {
        let says = |message: &Message| message.role == Role::User && message.authored;
        let start = view.messages.iter().position(says).unwrap_or(view.messages.len());
        let run = view.messages[start..].iter().take_while(|message| says(message)).count();
        let last = Recent::new(view, 1).protect_from(view.messages.len());
        let by_host = options.pins.iter().map(|pin| (pin.message, pin.part)).collect();
        Pinned { system_end: view.system_end, first: start..start + run, last, by_host }
    }

    fn has(&self, message: usize) -> bool {
        message < self.system_end || message >= self.last || self.first.contains(&message) || self.by_host.contains(&(message, None))
    }

    fn has_part(&self, message: usize, part: u32) -> bool {
        self.by_host.contains(&(message, Some(part)))
    }
}
