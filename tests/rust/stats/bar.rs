//! `stats::bar`: the layout at many widths and shares, and that no line is too long.

use serde_json::{Value, json};
use warmfold::Tape;
use warmfold::stats::bar::{Bar, line, read};

const HALF: Bar = Bar { used: 12_288, budget: Some(24_576), messages: 10 };

fn columns(text: &str) -> usize {
    let (mut columns, mut letters) = (0, text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => _ = letters.find(char::is_ascii_alphabetic),
            _ => columns += 1,
        }
    }
    columns
}

#[test]
fn the_layout_at_each_width() {
    for (widths, expected) in [
        (80..=200, "[██████████░░░░░░░░░░] 12.3k/24.6k tokens (50%) │ 12.3k remaining │ 10 messages"),
        (65..=78, "[██████████░░░░░░░░░░] 12.3k/24.6k tokens (50%) │ 12.3k remaining"),
        (47..=64, "[██████████░░░░░░░░░░] 12.3k/24.6k tokens (50%)"),
        (45..=45, "[█████████░░░░░░░░░] 12.3k/24.6k tokens (50%)"),
        (40..=40, "[███████░░░░░░] 12.3k/24.6k tokens (50%)"),
        (31..=31, "[██░░] 12.3k/24.6k tokens (50%)"),
        (26..=30, "[██████████░░░░░░░░░░] 50%"),
        (12..=12, "[███░░░] 50%"),
        (7..=7, "[█] 50%"),
        (3..=6, "50%"),
        (2..=2, "█░"),
        (1..=1, "█"),
        (0..=0, ""),
    ] {
        for width in widths {
            assert_eq!(line(&HALF, false, Some(width)), expected, "{width}");
        }
    }
    assert_eq!(line(&HALF, false, None), line(&HALF, false, Some(80)));
}

#[test]
fn the_share_is_drawn_and_coloured() {
    for (used, expected) in [
        (0, "\u{1b}[32m[░░░░░░░░░░░░░░░░░░░░]\u{1b}[0m 0/28.7k tokens (0%) │ 28.7k remaining │ 1 message"),
        (400, "\u{1b}[32m[░░░░░░░░░░░░░░░░░░░░]\u{1b}[0m 400/28.7k tokens (1%) │ 28.3k remaining │ 1 message"),
        (7_168, "\u{1b}[32m[█████░░░░░░░░░░░░░░░]\u{1b}[0m 7.2k/28.7k tokens (25%) │ 21.5k remaining │ 1 message"),
        (17_000, "\u{1b}[32m[████████████░░░░░░░░]\u{1b}[0m 17k/28.7k tokens (59%) │ 11.7k remaining │ 1 message"),
        (17_203, "\u{1b}[33m[████████████░░░░░░░░]\u{1b}[0m 17.2k/28.7k tokens (60%) │ 11.5k remaining │ 1 message"),
        (22_938, "\u{1b}[33m[████████████████░░░░]\u{1b}[0m 22.9k/28.7k tokens (80%) │ 5.7k remaining │ 1 message"),
        (23_300, "\u{1b}[31m[████████████████░░░░]\u{1b}[0m 23.3k/28.7k tokens (81%) │ 5.4k remaining │ 1 message"),
        (28_672, "\u{1b}[31m[████████████████████]\u{1b}[0m 28.7k/28.7k tokens (100%) │ 0 remaining │ 1 message"),
        (40_000, "\u{1b}[31m[████████████████████]\u{1b}[0m 40k/28.7k tokens (100%) │ 0 remaining │ 1 message"),
    ] {
        let bar = Bar { used, budget: Some(28_672), messages: 1 };
        assert_eq!(line(&bar, true, None), expected, "{used}");
        let plain: String = expected
            .replace("\u{1b}[0m", "")
            .split("\u{1b}[")
            .map(|part| part.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('m'))
            .collect();
        assert_eq!(line(&bar, false, None), plain, "{used}");
    }
    assert_eq!(line(&HALF, true, Some(4)), "\u{1b}[32m50%\u{1b}[0m");
    assert_eq!(line(&HALF, true, Some(0)), "");
}

#[test]
fn large_and_small_amounts() {
    let shown = |used| line(&Bar { used, budget: None, messages: 0 }, false, None).split(' ').next().map(str::to_owned);
    for (used, expected) in [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1050, "1.1k"),
        (32_000, "32k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_250_000, "1.3M"),
        (u32::MAX, "4295M"),
    ] {
        assert_eq!(shown(used).as_deref(), Some(expected));
    }
}

#[test]
fn without_a_window_there_is_no_share() {
    let bar = Bar { budget: None, ..HALF };
    for (width, expected) in [(99, "12.3k tokens │ 10 messages"), (26, "12.3k tokens │ 10 messages"), (25, "12.3k tokens"), (11, "12.3k"), (4, "")]
    {
        assert_eq!(line(&bar, true, Some(width)), expected, "{width}");
    }
}

#[test]
fn no_line_is_longer_than_its_width() {
    for used in [0, 1, 999, 12_288, 99_950, 1_000_000, u32::MAX] {
        for budget in [None, Some(0), Some(1), Some(1000), Some(28_672), Some(u32::MAX)] {
            for messages in [0, 1, 1000, u32::MAX] {
                let bar = Bar { used, budget, messages };
                for width in 0..120 {
                    let (plain, coloured) = (line(&bar, false, Some(width)), line(&bar, true, Some(width)));
                    assert!(columns(&plain) <= width && columns(&coloured) == columns(&plain), "{bar:?} at {width}: {plain}");
                    assert!(budget.is_none() || width == 0 || !plain.is_empty(), "{bar:?} at {width}");
                }
            }
        }
    }
}

#[test]
fn what_is_drawn_is_read_and_checked() {
    let drawn = |value: Value| read(Tape::from_json(value.to_string()).unwrap().root());
    let stats = json!({ "estimatedUsed": 12_288, "promptBudget": 24_576, "messageCount": 10, "more": 1 });
    assert_eq!(drawn(json!({ "stats": stats, "options": { "width": 12, "color": null } })).unwrap(), "[███░░░] 50%");
    assert_eq!(drawn(json!({ "stats": stats })).unwrap(), line(&HALF, false, None));
    for (value, path) in [
        (json!({ "stats": 1 }), "stats"),
        (json!({ "stats": { "messageCount": 1 } }), "stats.estimatedUsed"),
        (json!({ "stats": { "estimatedUsed": -1, "messageCount": 1 } }), "stats.estimatedUsed"),
        (json!({ "stats": stats, "options": { "width": 1.5 } }), "options.width"),
        (json!({ "stats": stats, "options": { "color": "red" } }), "options.color"),
        (json!({ "stats": stats, "options": { "columns": 80 } }), "options.columns"),
    ] {
        assert_eq!(drawn(value.clone()).unwrap_err().path(), path, "{value}");
    }
}
