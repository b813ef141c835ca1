//! Every knob, with its default, its check and its error.
//!
//! A preset is a table of policy values; single options override it. What this version does not carry out yet is refused by name,
//! never ignored.
//!
//! ```
//! use warmfold::Options;
//!
//! let options = Options::from_json(serde_json::json!({ "budgetTokens": 60_000, "floorRatio": 0.75 }))?;
//! assert_eq!(options.budget_tokens, Some(60_000));
//! assert_eq!(options.protect_recent_turns, 1); // of preset "balanced"
//! # Ok::<(), warmfold::Error>(())
//! ```

use crate::cache::profile::Profile;
use crate::format::Format;
use crate::history::kinds::ToolKind;
use crate::history::phase::Phase;
use crate::tape::{Node, Tape};
use crate::tokens::Learned;

mod presets;
mod read;

pub use presets::{ByKind, KindPolicy, Preset};

/// When edits are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// When they earn more than rewriting the cached prefix costs, and have missed as much already; and over the budget or the window.
    Pays,
    /// When the prompt is over the budget or the window.
    Budget,
    /// Never: edits in force stay, none is added.
    Never,
}

/// Which dialect marks are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// Breakpoints are returned only.
    #[default]
    None,
    /// `cache_control: {"type": "ephemeral"}`.
    Anthropic,
    /// `prompt_cache_breakpoint: {"mode": "explicit"}`.
    Openai,
}

/// What may happen to whole exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Nothing: the report says that the prompt does not fit.
    #[default]
    Report,
    /// A message takes their place that says what was done in them.
    Digest,
    /// They go, the oldest first, and one line says so.
    Evict,
}

/// The model that the request goes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// Its id, as the provider spells it.
    pub id: Option<String>,
    /// Its window in tokens, prompt and completion together.
    pub context_window: Option<u32>,
    /// The longest completion it writes.
    pub max_output_tokens: Option<u32>,
    /// What its provider charges for cached tokens.
    pub cache: Option<Profile>,
    /// Price of a million uncached input tokens.
    pub input_price: Option<f64>,
}

/// What the host knows of the provider's cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cold {
    /// Another model answered the last call.
    pub model_switched: bool,
    /// The last call failed and is tried again elsewhere.
    pub retrying: bool,
    /// Milliseconds since the last call.
    pub idle_ms: Option<f64>,
}

/// The provider's report on an earlier request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// All input tokens, cached reads and writes included.
    pub input_tokens: u32,
    /// Messages of the history that the request was made from.
    pub up_to: usize,
}

/// What a host says of one call alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// See [`Options::cold`].
    pub cold: Option<Option<Cold>>,
    /// See [`Options::usage`].
    pub usage: Option<Usage>,
    /// See [`Options::calibration`].
    pub calibration: Vec<(String, Learned)>,
}

/// A message, or one part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRef {
    /// Index of the message in the history.
    pub message: usize,
    /// The part; `None` for all of the message.
    pub part: Option<u32>,
}

/// All options of one call, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The history's format; recognised where none is given.
    pub format: Option<Format>,
    /// Text that stands in the prompt beside the history (`contextBlock`).
    pub context_block: Option<String>,
    /// The model of this call.
    pub model: ModelInfo,
    /// Whether, and why, the provider's cache is gone. `Some(None)`: the host just says so.
    pub cold: Option<Option<Cold>>,
    /// The provider's last report.
    pub usage: Option<Usage>,
    /// What earlier reports have taught, by model id.
    pub calibration: Vec<(String, Learned)>,
    /// What must stay whole.
    pub pins: Vec<EntryRef>,
    /// `false`: messages and plan come back as they are. Default `true`.
    pub enabled: bool,
    /// When edits are made. Default [`When::Pays`]; preset "spec": [`When::Budget`].
    pub when: When,
    /// Prices and lifetime of the provider's cache. Default: by model id, else Anthropic's five minutes.
    pub cache: Profile,
    /// Whether nobody gave them.
    pub assumes_prices: bool,
    /// Fold when the prompt is over this many tokens. Default: none; preset "spec": 40,000.
    pub budget_tokens: Option<u32>,
    /// A fold goes down to this share of the limit, in (0, 1]. Default 0.5; preset "spec": 1.
    pub floor_ratio: f64,
    /// Whether the window is a limit too, where it is known. Default `true`.
    pub fit_to_window: bool,
    /// Share of the window that may be filled, in (0, 1]. Default 0.9.
    pub context_headroom: f64,
    /// Tokens kept free for the answer. Default 4,096.
    pub completion_reserve: u32,
    /// What may happen to whole exchanges where shortening results is not enough. Default [`Overflow::Report`].
    pub overflow: Overflow,
    /// Share of the prompt budget over which exchanges are digested before they must be, in (0, 1]. Default 1: not before.
    pub auto_compact_threshold: f64,
    /// The newest turns that no new edit touches, whatever their kind. Default 1; preset "spec": 4.
    pub protect_recent_turns: usize,
    /// From which age, over which size and down to what results are cut. Default: see [`Preset`].
    pub by_kind: ByKind,
    /// Calls for which a result stays after the model quoted it. Default 10; preset "spec": 0.
    pub protect_quoted_calls: u32,
    /// Whether what stays of a result is what matters by the kind of its content, and not its start and end. Default `false`: measured, it does
    /// not keep more of what is quoted yet.
    pub outline: bool,
    /// An edit that saves fewer bytes is not made. Default 120.
    pub min_saved_bytes: usize,
    /// Calls still to come. Default: the larger of 10 and the calls so far.
    pub expected_calls: Option<u32>,
    /// Default `true`.
    pub collapse_duplicate_results: bool,
    /// Default `true`.
    pub elide_superseded_reads: bool,
    /// Whether a read of what was changed since goes. Default `true`; preset "spec": `false`.
    pub elide_stale_reads: bool,
    /// Whether old reasoning goes. Default `false`; preset "spec": `true`.
    pub drop_reasoning: bool,
    /// The kind of a tool, by its name.
    pub tool_kinds: Vec<(String, ToolKind)>,
    /// Names of the arguments that make a tool's resource, by the tool's name.
    pub resource_of: Vec<(String, Vec<String>)>,
    /// The phase of work that a tool belongs to, by its name, where its kind does not tell.
    pub phases: Vec<(String, Phase)>,
    /// Entries of the host's session tree, for statistics. Default: the messages given.
    pub entry_count: Option<usize>,
    /// The dialect of marks. Default [`Marks::None`].
    pub marks: Marks,
    /// Marks in one request, the caller's own included. Default 4.
    pub max_breakpoints: usize,
    /// Distance of milestones, in tokens of four bytes. Default 20,000.
    pub milestone_tokens: u32,
    /// Our name in breadcrumbs. Default "warmfold".
    pub label: String,
}

impl Options {
    /// Reads and checks the options of one call; `{}` is all defaults.
    ///
    /// # Errors
    /// [`Code::UnknownOption`](crate::error::Code::UnknownOption) and its siblings, each with its path.
    pub fn read(node: Node<'_>) -> crate::Result<Options> {
        read::options(node, None)
    }

    /// The same for a request that names its model, which `model.id` may override.
    ///
    /// # Errors
    /// As [`Options::read`].
    pub fn read_for(node: Node<'_>, model: Option<&str>) -> crate::Result<Options> {
        read::options(node, model)
    }

    /// The same from JSON.
    ///
    /// # Errors
    /// As [`Options::read`].
    pub fn from_json(value: serde_json::Value) -> crate::Result<Options> {
        Options::read(Tape::from_json(value.to_string())?.root())
    }

    /// The most tokens that fit the model's window, headroom and reserve taken off; `None` where the window is not known.
    pub fn window_tokens(&self) -> Option<u32> {
        self.model.context_window?;
        u32::try_from(self.window_room() - i64::from(self.completion_reserve)).ok()
    }

    /// Tokens of the window that may be filled, prompt and answer together.
    fn window_room(&self) -> i64 {
        (f64::from(self.model.context_window.unwrap_or(0)) * self.context_headroom).floor() as i64
    }

    /// The tokens over which exchanges are digested before they must be.
    pub fn compact_tokens(&self) -> Option<u32> {
        let budget = self.prompt_budget().filter(|_| self.auto_compact_threshold < 1.0)?;
        Some((f64::from(budget) * self.auto_compact_threshold) as u32)
    }

    /// The limit that folding keeps under: the smaller of budget and window.
    pub fn limit_tokens(&self) -> Option<u32> {
        let window = self.window_tokens().filter(|_| self.fit_to_window);
        match (self.budget_tokens, window) {
            (Some(budget), Some(window)) => Some(budget.min(window)),
            (budget, window) => budget.or(window),
        }
    }

    /// The model whose prices nobody has told.
    pub fn assumed_prices(&self) -> Option<&str> {
        self.model.id.as_deref().filter(|id| self.assumes_prices && !Profile::knows(id))
    }

    /// What earlier reports have taught of a model.
    pub fn learned(&self, model: Option<&str>) -> Option<Learned> {
        self.calibration.iter().find(|(id, _)| Some(id.as_str()) == model).map(|(_, learned)| *learned)
    }

    /// The kind of a tool, where the host says it.
    pub fn kind_of(&self, tool: &str) -> Option<ToolKind> {
        self.tool_kinds.iter().find(|(name, _)| name == tool).map(|(_, kind)| *kind)
    }

    /// The phase of a tool, where the host says it.
    pub fn phase_of(&self, tool: &str) -> Option<Phase> {
        self.phases.iter().find(|(name, _)| name == tool).map(|(_, phase)| *phase)
    }

    /// The tokens that a prompt may have: the window less what is kept free for the answer. `None` where the window is not known.
    pub fn prompt_budget(&self) -> Option<u32> {
        self.model.context_window.map(|window| window.saturating_sub(self.completion_reserve))
    }

    /// The names of the arguments that make a tool's resource, where the host says so.
    pub fn resource_of(&self, tool: &str) -> Option<&[String]> {
        self.resource_of.iter().find(|(name, _)| name == tool).map(|(_, names)| names.as_slice())
    }
}

impl Options {
    /// What is said of this call alone.
    pub fn said(&self) -> Said {
        Said { cold: self.cold, usage: self.usage, calibration: self.calibration.clone() }
    }

    /// The options of a preset.
    pub fn of(preset: Preset) -> Options {
        let spec = preset == Preset::Spec;
        Options {
            format: None,
            context_block: None,
            model: ModelInfo::default(),
            cold: None,
            usage: None,
            calibration: Vec::new(),
            pins: Vec::new(),
            enabled: true,
            when: if spec { When::Budget } else { When::Pays },
            cache: Profile::default(),
            assumes_prices: true,
            budget_tokens: spec.then_some(40_000),
            floor_ratio: if spec { 1.0 } else { 0.5 },
            fit_to_window: true,
            context_headroom: 0.9,
            completion_reserve: 4096,
            overflow: Overflow::Report,
            auto_compact_threshold: 1.0,
            protect_recent_turns: if spec { 4 } else { 1 },
            by_kind: preset.by_kind(),
            protect_quoted_calls: preset.protect_quoted_calls(),
            outline: false,
            min_saved_bytes: 120,
            expected_calls: None,
            collapse_duplicate_results: true,
            elide_superseded_reads: true,
            elide_stale_reads: !spec,
            drop_reasoning: spec,
            tool_kinds: Vec::new(),
            resource_of: Vec::new(),
            phases: Vec::new(),
            entry_count: None,
            marks: Marks::None,
            max_breakpoints: 4,
            milestone_tokens: 20_000,
            label: "warmfold".to_owned(),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::of(Preset::default())
    }
}
