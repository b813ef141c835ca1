//! Rows and columns: the header, what counts the rows, the first rows, the last.

use std::ops::Range;

use super::{Outline, Source, Stretch, lines, lines_gone};

/// Rows that may stay.
const ROWS: usize = 40;

pub(super) fn outline(source: &Source<'_>) -> Outline {
    let mut stretches = Vec::new();
    let mut rows = 0;
    let mut is_headed = false;
    for range in lines(source.text) {
        let line = &source.text[range.clone()];
        let rank = if is_rule(line) {
            is_headed = true;
            if rows <= 1 { 0 } else { 200 }
        } else if is_count(line) {
            0
        } else {
            rows += 1;
            match rows {
                1 => 0,
                2..=4 => rows as u8,
                _ if rows <= ROWS => 10 + rows as u8,
                _ => u8::MAX,
            }
        };
        stretches.push(Stretch { range, rank });
    }
    let is_row = |stretch: &&mut Stretch| (2..200).contains(&stretch.rank) || stretch.rank == u8::MAX;
    if let Some(last) = stretches.iter_mut().rev().find(is_row) {
        last.rank = last.rank.min(5);
    }
    stretches.retain(|stretch| stretch.rank < u8::MAX);
    let _ = is_headed;
    Outline { stretches, gap }
}

/// Whether a line only rules: `---+---`, `| --- | :-: |`, `+-----+`.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim_ascii();
    line.contains("---") && line.bytes().all(|byte| b"-+|: =".contains(&byte))
        || line.contains("\u{2500}\u{2500}") && line.chars().all(|letter| ('\u{2500}'..='\u{257f}').contains(&letter))
}

/// Whether a line counts rows: `(240 rows)`, `240 rows in set`.
pub(super) fn is_count(line: &str) -> bool {
    let line = line.trim_ascii().trim_start_matches('(');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && line[digits..].trim_ascii_start().starts_with("row")
}

/// "240 rows".
fn gap(text: &str, gone: Range<usize>) -> String {
    let said = lines_gone(text, gone);
    match said.strip_suffix("lines") {
        Some(count) => [count, "rows"].concat(),
        None => said,
    }
}
