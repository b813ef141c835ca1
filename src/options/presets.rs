//! The presets: each a table of policy values, from which single options differ.
//!
//! | kind | `careful` | `balanced` | `thrifty` | `spec` |
//! | --- | --- | --- | --- | --- |
//! | read | 8 calls, over 2048, keep 256 + 256 | 4, 1500, 200 + 200 | 3, 1000, 0 + 0 | 0, 4096, 512 + 512 |
//! | search, list, fetch | 4, 1000, 300 + 0 | 2, 300, 60 + 0 | 1, 200, 0 + 0 | 0, 4096, 512 + 512 |
//! | write, verify, run, other | 1, 600, 100 + 200 | 1, 200, 0 + 60 | 1, 200, 0 + 0 | 0, 4096, 512 + 512 |
//! | a quoted result stays for | 15 calls | 10 | 6 | 0 |
//!
//! A result is cut once so many earlier calls have held it, if it is over so many bytes, down to so many bytes of its start and end, or
//! with `outline` of what matters by the kind of its content.
//!
//! ```
//! use warmfold::{history::kinds::ToolKind, options::Preset};
//!
//! let read = Preset::Balanced.by_kind().of(ToolKind::Read);
//! assert_eq!((read.protect_calls, read.max_bytes, read.keep_head_bytes), (4, 1500, 200));
//! ```

use crate::history::kinds::ToolKind;

/// What is done to results of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindPolicy {
    /// A result stays whole until so many earlier calls have held it.
    pub protect_calls: u32,
    /// A result over this many bytes is cut; at least the kept bytes and a line count as small.
    pub max_bytes: usize,
    /// Bytes of its start that stay.
    pub keep_head_bytes: usize,
    /// Bytes of its end that stay.
    pub keep_tail_bytes: usize,
}

/// A policy for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByKind([KindPolicy; ToolKind::NAMES.len()]);

impl ByKind {
    /// The policy of a kind.
    pub fn of(&self, kind: ToolKind) -> KindPolicy {
        self.0[kind as usize]
    }

    /// The same, to change it.
    pub fn of_mut(&mut self, kind: ToolKind) -> &mut KindPolicy {
        &mut self.0[kind as usize]
    }

    /// All of them, to change them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut KindPolicy> {
        self.0.iter_mut()
    }
}

/// A table of policy values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Loses least.
    Careful,
    /// The default.
    #[default]
    Balanced,
    /// Saves most.
    Thrifty,
    /// As the specification of context optimization ships it.
    Spec,
}

impl Preset {
    /// All presets by name.
    pub const NAMES: &[(&str, Preset)] =
        &[("careful", Preset::Careful), ("balanced", Preset::Balanced), ("thrifty", Preset::Thrifty), ("spec", Preset::Spec)];

    /// Ages, sizes and kept bytes.
    pub fn by_kind(self) -> ByKind {
        let [read, looked, acted] = match self {
            Preset::Careful => [(8, 2048, 256, 256), (4, 1000, 300, 0), (1, 600, 100, 200)],
            Preset::Balanced => [(4, 1500, 200, 200), (2, 300, 60, 0), (1, 200, 0, 60)],
            Preset::Thrifty => [(3, 1000, 0, 0), (1, 200, 0, 0), (1, 200, 0, 0)],
            Preset::Spec => [(0, 4096, 512, 512); 3],
        };
        ByKind(ToolKind::NAMES.each_ref().map(|(_, kind)| {
            let (protect_calls, max_bytes, keep_head_bytes, keep_tail_bytes) = match kind {
                ToolKind::Read => read,
                ToolKind::Search | ToolKind::List | ToolKind::Fetch => looked,
                ToolKind::Write | ToolKind::Verify | ToolKind::Run | ToolKind::Memory | ToolKind::Other => acted,
            };
            KindPolicy { protect_calls, max_bytes, keep_head_bytes, keep_tail_bytes }
        }))
    }

    /// For how many calls a result that was quoted stays.
    pub fn protect_quoted_calls(self) -> u32 {
        match self {
            Preset::Careful => 15,
            Preset::Balanced => 10,
            Preset::Thrifty => 6,
            Preset::Spec => 0,
        }
    }
}
