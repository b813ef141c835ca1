//! One line for a terminal or an editor: a bar, and what it draws in figures.
//!
//! Bar, percentage and both figures before it are of the prompt budget, so used and remaining add up to what stands behind the slash.
//! Where there is no room, parts go from the right, then the bar gets shorter, then the figures go; without a known window there is
//! nothing to draw a share of.
//!
//! ```
//! use warmfold::stats::bar::{Bar, line};
//!
//! let bar = Bar { used: 12_288, budget: Some(24_576), messages: 10 };
//! assert_eq!(line(&bar, false, None), "[██████████░░░░░░░░░░] 12.3k/24.6k tokens (50%) │ 12.3k remaining │ 10 messages");
//! assert_eq!(line(&bar, false, Some(35)), "[████░░░░] 12.3k/24.6k tokens (50%)");
//! assert_eq!(line(&bar, false, Some(12)), "[███░░░] 50%");
//! ```

use super::ContextStats;
use crate::error::Code;
use crate::fields::{Fields, truth, whole};
use crate::tape::{Kind, Node};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Tokens used.
    pub used: u32,
    /// Tokens that may be used; `None` where the window is not known.
    pub budget: Option<u32>,
    /// Messages.
    pub messages: u32,
}

impl Bar {
    /// Of these statistics.
    pub fn of(stats: &ContextStats) -> Bar {
        Bar { used: stats.estimated_used, budget: stats.prompt_budget(), messages: u32::try_from(stats.message_count).unwrap_or(u32::MAX) }
    }
}

/// Cells of a bar that has room.
const CELLS: usize = 20;

/// Cells under which figures make way for the bar.
const FEWEST: usize = 4;

/// A line of at most `width` columns: green under 60%, yellow to 80% and red above, where it is coloured.
pub fn line(bar: &Bar, coloured: bool, width: Option<usize>) -> String {
    let width = width.unwrap_or(usize::MAX);
    let stats = ContextStats { estimated_used: bar.used, context_window: bar.budget, ..ContextStats::default() };
    let messages = format!(" │ {} {}", bar.messages, if bar.messages == 1 { "message" } else { "messages" });
    let (Some(budget), Some(percent), Some(remaining)) = (bar.budget, stats.utilization_percent(), stats.estimated_remaining()) else {
        let used = short(bar.used);
        let lines = [format!("{used} tokens{messages}"), format!("{used} tokens"), used];
        return lines.into_iter().find(|line| columns(line) <= width).unwrap_or_default();
    };
    let colour = |text: String| match percent {
        _ if !coloured || text.is_empty() => text,
        0..60 => format!("\u{1b}[32m{text}\u{1b}[0m"),
        60..=80 => format!("\u{1b}[33m{text}\u{1b}[0m"),
        _ => format!("\u{1b}[31m{text}\u{1b}[0m"),
    };
    let drawn = |cells: usize| {
        let full = ((u64::from(bar.used) * 2 * cells as u64 + u64::from(budget)) / (u64::from(budget).max(1) * 2)).min(cells as u64) as usize;
        "█".repeat(full) + &"░".repeat(cells - full)
    };
    let figures = format!(" {}/{} tokens ({percent}%)", short(bar.used), short(budget));
    let remaining = format!(" │ {} remaining", short(remaining));
    let percent = format!("{percent}%");
    let behind = [[&*figures, &*remaining, &*messages].concat(), [figures.as_str(), &remaining].concat(), figures, format!(" {percent}")];
    for (at, behind) in behind.iter().enumerate() {
        let room = width.saturating_sub(columns(behind) + "[]".len());
        let fewest = match at {
            0 | 1 => CELLS,
            2 => FEWEST,
            _ => 1,
        };
        if room >= fewest {
            return colour(format!("[{}]", drawn(room.min(CELLS)))) + behind;
        }
    }
    if percent.len() <= width { colour(percent) } else { colour(drawn(width)) }
}

/// Reads `{ stats, options: { color, width } }`, and draws it. Of the statistics `estimatedUsed`, `promptBudget` and `messageCount` are read.
///
/// # Errors
/// [`Code::InvalidOption`] with the path to the fault.
pub fn read(node: Node<'_>) -> crate::Result<String> {
    let stats = Fields::of(node.get("stats").unwrap_or(node), "stats", Code::InvalidOption, ": pass what stats or sessionStats returned")?;
    let bar =
        Bar { used: stats.need("estimatedUsed", whole)?, budget: stats.read("promptBudget", whole)?, messages: stats.need("messageCount", whole)? };
    let Some(options) = node.get("options").filter(|options| options.kind() != Kind::Null) else { return Ok(line(&bar, false, None)) };
    let options = Fields::of(options, "options", Code::InvalidOption, "")?;
    options.refuse_others(&["color", "width"])?;
    Ok(line(&bar, options.read("color", truth)?.unwrap_or(false), options.read("width", whole)?))
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `950`, `12.3k`, `32k`, `104k`, `1.2M`.
fn short(tokens: u32) -> String {
    match u64::from(tokens) {
        tokens @ 0..1000 => tokens.to_string(),
        tokens @ 1000..99_950 => in_tenths((tokens + 50) / 100, "k"),
        tokens @ 99_950..999_500 => format!("{}k", (tokens + 500) / 1000),
        tokens => in_tenths((tokens + 50_000) / 100_000, "M"),
    }
}

fn in_tenths(tenths: u64, unit: &str) -> String {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole}{unit}"),
        (whole, tenth) => format!("{whole}.{tenth}{unit}"),
    }
}
