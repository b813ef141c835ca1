//! How full the context is, and of what: the request as it is sent, by role, by resolution and by phase of work.
//!
//! Each distribution adds up to all that is sent but the tools schema, which no message holds. Tokens are estimates, corrected by what
//! reported usage has taught the plan, unless the caller counts the texts. [`bar`] says it in a line.
//!
//! ```
//! use warmfold::{Options, stats, tape::Tape, wire::Request};
//!
//! let tape = Tape::from_json(r#"{"messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": "hi"}]}"#)?;
//! let options = Options::from_json(serde_json::json!({ "model": { "contextWindow": 32_768 } }))?;
//! let stats = stats::of(&Request::of(tape.root()), &options, None, None)?.context;
//! assert_eq!((stats.prompt_budget(), stats.message_count, stats.utilization_percent()), (Some(28_672), 2, Some(0)));
//! assert_eq!(stats.role_tokens.system + stats.role_tokens.user, stats.estimated_used);
//! # Ok::<(), warmfold::Error>(())
//! ```

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::error::{Code, Error};
use crate::fold::told_format;
use crate::format::Format;
use crate::history::phase::Phase;
use crate::history::{Role, View};
use crate::options::Options;
use crate::plan::{Plan, Standing, carry};
use crate::tape::Kind;
use crate::wire::Request;
use items::{Item, Resolution};

pub mod bar;
mod items;

/// Tokens by the role of their message. A system prompt that stands apart is the system's, a result the tool's wherever it stands, and
/// what has a role that we do not know the user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoleTokens {
    /// Standing instructions.
    pub system: u32,
    /// The user's.
    pub user: u32,
    /// The model's, its tool calls included.
    pub assistant: u32,
    /// Results.
    pub tool: u32,
}

/// Tokens by how much is sent of what was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResolutionTokens {
    /// All of it, and that may change.
    pub full: u32,
    /// Parts of the original.
    pub outlined: u32,
    /// A line in its place.
    pub summarized: u32,
    /// All of it for good: the system prompt, the first and the last turn, and what the host pins.
    pub pinned: u32,
}

/// Tokens by the phase of work that their exchange belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseTokens {
    /// Looking around.
    pub exploration: u32,
    /// Changing.
    pub execution: u32,
    /// Checking.
    pub verification: u32,
    /// Answering.
    pub conclusion: u32,
    /// What is of no exchange (system, user), and exchanges before the first tool call.
    pub unclassified: u32,
}

/// What fills the context.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextStats {
    /// The model's window in tokens, where it is known.
    pub context_window: Option<u32>,
    /// Tokens kept free for the answer.
    pub completion_reserve: u32,
    /// Tokens of the request as it is sent.
    pub estimated_used: u32,
    /// Messages of the request as it is sent.
    pub message_count: usize,
    /// Entries of the host's session tree; where it does not tell, those of the path.
    pub entry_count: usize,
    /// Entries of the path that the host passed: its messages.
    pub path_entry_count: usize,
    /// By role.
    pub role_tokens: RoleTokens,
    /// By resolution.
    pub resolution_tokens: ResolutionTokens,
    /// By phase.
    pub phase_tokens: PhaseTokens,
    /// Of the tokens used, those of texts in place of whole messages.
    pub compaction_tokens: u32,
    /// Entries of the path that such a text stands for.
    pub compacted_entry_count: usize,
}

impl ContextStats {
    /// The tokens that a prompt may have: window less reserve. `None` where the window is not known.
    pub fn prompt_budget(&self) -> Option<u32> {
        self.context_window.map(|window| window.saturating_sub(self.completion_reserve))
    }

    /// Tokens of the prompt budget that are left, no less than 0. `None` where the window is not known.
    pub fn estimated_remaining(&self) -> Option<u32> {
        self.prompt_budget().map(|budget| budget.saturating_sub(self.estimated_used))
    }

    /// How much of the prompt budget is used, from 0 to 100. `None` where the window is not known.
    pub fn utilization_percent(&self) -> Option<u32> {
        let budget = u64::from(self.prompt_budget()?);
        let used = u64::from(self.estimated_used);
        Some(if used >= budget { 100 } else { ((used * 200 + budget) / (budget * 2)) as u32 })
    }
}

/// The same with what stands before the conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionStats {
    /// What fills the context.
    pub context: ContextStats,
    /// Tokens of the system prompt: the leading system messages, or where it stands apart, and the context block.
    pub system_prompt_tokens: u32,
    /// Tokens of the tools schema.
    pub tool_schema_tokens: u32,
    /// Tokens of all else.
    pub conversation_tokens: u32,
}

/// Reads a request and counts what is sent of it under a plan. `counts` are the tokens of each of its [`texts`], where somebody has
/// counted them: then nothing is scaled, and only images, overheads and what is no text are estimated.
///
/// # Errors
/// A history that its format does not allow, with the path to the fault.
pub fn of(request: &Request<'_>, options: &Options, plan: Option<&Plan>, counts: Option<&[u32]>) -> crate::Result<SessionStats> {
    let (view, standing) = read(request, options, plan)?;
    let scale = plan.and_then(|plan| plan.scale).map_or(1.0, |scale| scale.ratio);
    let items = items::of(&view, &standing, options);
    let texts = items.iter().filter(|item| item.is_text()).count();
    if let Some(counts) = counts.filter(|counts| counts.len() != texts) {
        return Err(Error::new(Code::InvalidOption, "counts", format!("expected one for each of the {texts} texts, got {}", counts.len())));
    }
    let mut sums = Sums { scale: if counts.is_some() { 1.0 } else { scale }, ..Sums::default() };
    let mut counts = counts.into_iter().flatten();
    for item in &items {
        let counted = if item.is_text() { counts.next() } else { None };
        sums.add(item, *counted.unwrap_or(&item.tokens));
    }
    let path_entry_count = request.messages.map_or(0, |messages| if messages.kind() == Kind::Array { messages.len() } else { 1 });
    let context = ContextStats {
        context_window: options.model.context_window,
        completion_reserve: options.completion_reserve,
        message_count: standing.returned_at(&view, view.messages.len()),
        entry_count: options.entry_count.unwrap_or(path_entry_count),
        path_entry_count,
        ..sums.context
    };
    let conversation_tokens = context.estimated_used - sums.system - sums.tools;
    Ok(SessionStats { context, system_prompt_tokens: sums.system, tool_schema_tokens: sums.tools, conversation_tokens })
}

/// The texts that a tokenizer may count, as they are sent: what is written, results, tool calls, system prompt and tools schema.
///
/// # Errors
/// As [`of`].
pub fn texts(request: &Request<'_>, options: &Options, plan: Option<&Plan>) -> crate::Result<Vec<String>> {
    let (view, standing) = read(request, options, plan)?;
    let items = items::of(&view, &standing, options);
    Ok(items.iter().filter(|item| item.is_text()).map(|item| item.text(&view, &standing)).collect())
}

fn read<'t>(request: &Request<'t>, options: &Options, plan: Option<&Plan>) -> crate::Result<(View<'t>, Standing)> {
    let format = told_format(request, options, plan).map_or_else(|| Format::recognise(request), Ok)?;
    let model = options.model.id.as_deref().or_else(|| plan?.model.as_deref());
    let view = format.read(&request.for_model(model), options.context_block.as_deref())?;
    let standing = plan.map_or_else(Standing::default, |plan| carry::carry(&view, plan).standing);
    Ok((view, standing))
}

/// What was counted so far. What each item adds is what it adds to the scaled sum, so that all sums agree to the token.
#[derive(Default)]
struct Sums {
    scale: f64,
    estimated: u64,
    context: ContextStats,
    system: u32,
    tools: u32,
}

impl Sums {
    fn add(&mut self, item: &Item, tokens: u32) {
        self.estimated += u64::from(tokens);
        let used = (self.estimated as f64 * self.scale).round().min(f64::from(u32::MAX)) as u32;
        let added = used - self.context.estimated_used;
        let context = &mut self.context;
        context.estimated_used = used;
        if item.is_system_prompt {
            self.system += added;
        }
        let Some(role) = item.role else {
            self.tools += added;
            return;
        };
        let roles = &mut context.role_tokens;
        *match role {
            Role::System => &mut roles.system,
            Role::User | Role::Other => &mut roles.user,
            Role::Assistant => &mut roles.assistant,
            Role::Tool => &mut roles.tool,
        } += added;
        let resolutions = &mut context.resolution_tokens;
        *match item.resolution {
            Resolution::Full => &mut resolutions.full,
            Resolution::Outlined => &mut resolutions.outlined,
            Resolution::Summarized => &mut resolutions.summarized,
            Resolution::Pinned => &mut resolutions.pinned,
        } += added;
        let phases = &mut context.phase_tokens;
        *match item.phase {
            Some(Phase::Exploration) => &mut phases.exploration,
            Some(Phase::Execution) => &mut phases.execution,
            Some(Phase::Verification) => &mut phases.verification,
            Some(Phase::Conclusion) => &mut phases.conclusion,
            None => &mut phases.unclassified,
        } += added;
        if item.compacted > 0 {
            context.compaction_tokens += added;
            context.compacted_entry_count += item.compacted;
        }
    }
}

/// A plain object with what follows from the fields beside them.
fn write<S: SerializeStruct>(stats: &ContextStats, to: &mut S) -> Result<(), S::Error> {
    to.serialize_field("contextWindow", &stats.context_window)?;
    to.serialize_field("completionReserve", &stats.completion_reserve)?;
    to.serialize_field("promptBudget", &stats.prompt_budget())?;
    to.serialize_field("estimatedUsed", &stats.estimated_used)?;
    to.serialize_field("estimatedRemaining", &stats.estimated_remaining())?;
    to.serialize_field("utilizationPercent", &stats.utilization_percent())?;
    to.serialize_field("messageCount", &stats.message_count)?;
    to.serialize_field("entryCount", &stats.entry_count)?;
    to.serialize_field("pathEntryCount", &stats.path_entry_count)?;
    to.serialize_field("roleTokens", &stats.role_tokens)?;
    to.serialize_field("resolutionTokens", &stats.resolution_tokens)?;
    to.serialize_field("phaseTokens", &stats.phase_tokens)?;
    to.serialize_field("compactionTokens", &stats.compaction_tokens)?;
    to.serialize_field("compactedEntryCount", &stats.compacted_entry_count)
}

impl Serialize for ContextStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut to = serializer.serialize_struct("ContextStats", 14)?;
        write(self, &mut to)?;
        to.end()
    }
}

impl Serialize for SessionStats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut to = serializer.serialize_struct("SessionStats", 17)?;
        to.serialize_field("systemPromptTokens", &self.system_prompt_tokens)?;
        to.serialize_field("toolSchemaTokens", &self.tool_schema_tokens)?;
        to.serialize_field("conversationTokens", &self.conversation_tokens)?;
        write(&self.context, &mut to)?;
        to.end()
    }
}
