//! `render::cut`: a table of texts and where they may be parted.

use warmfold::render::cut;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A text with `|` where a cut at any byte between two of them must fall: at or before it for a head, at or after it for a tail.
const WHOLE: &[(&str, &str)] = &[
    ("letters", "a|b|c"),
    ("two bytes", "é|é|é"),
    ("three bytes", "深|海|魚"),
    ("a surrogate pair in UTF-16", "😀|😀"),
    ("a combining accent", "e\u{301}|e\u{301}\u{323}|x"),
    ("a skin tone", "👋🏽|👋🏿"),
    ("a family joined by ZWJ", "👨\u{200d}👩\u{200d}👧\u{200d}👦|👩\u{200d}🚀"),
    ("a heart with a variation selector", "❤\u{fe0f}|❤\u{fe0f}\u{200d}🔥"),
    ("two flags", "🇫🇷|🇯🇵"),
    ("three flags", "x|🇫🇷|🇯🇵|🇩🇪|y"),
    ("a tag sequence", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}|x"),
    ("a keycap", "1\u{fe0f}\u{20e3}|2"),
    ("Devanagari vowels", "क\u{94b}|ह\u{902}"),
    ("Thai vowels", "ก\u{e34}|ข\u{e49}"),
    ("an ANSI colour", "a|\u{1b}[31;1m|b|\u{1b}[0m|c"),
    ("an ANSI link", "a|\u{1b}]8;;http://x\u{7}|b"),
    ("a short escape", "a|\u{1b}7|b"),
    ("CR LF", "a|\r\n|b|\r\n|c"),
    ("a JSON escape", r#"a|\"|b|\t|c"#),
    ("a JSON code point", r"a|\u00e9|b"),
    ("an escaped backslash", r"a|\\|n|\\|\n|b"),
];

fn places(marked: &str) -> (String, Vec<usize>) {
    let mut places = vec![0];
    let mut text = String::new();
    for stretch in marked.split('|') {
        text.push_str(stretch);
        places.push(text.len());
    }
    (text, places)
}

#[test]
fn a_head_ends_at_the_last_place_before_its_size() {
    for (what, marked) in WHOLE {
        let (text, places) = places(marked);
        for keep in 0..=text.len() {
            let at = cut::head(&text, keep);
            assert!(places.contains(&at) && at <= keep, "{what}: {keep} of {text:?} gave {at}");
            // A line end within a fifth of the kept length may be taken instead.
            let last = places.iter().copied().filter(|place| *place <= keep).max().unwrap_or(0);
            assert!(at == last || at >= keep - keep / 5, "{what}: {keep} of {text:?} gave {at}, and {last} is nearer");
        }
    }
}

#[test]
fn a_tail_begins_at_the_first_place_after_its_size() {
    for (what, marked) in WHOLE {
        let (text, places) = places(marked);
        for keep in 0..=text.len() {
            let from = text.len() - keep;
            let at = cut::tail(&text, keep);
            assert!(places.contains(&at) && at >= from, "{what}: {keep} of {text:?} gave {at}");
            let first = places.iter().copied().filter(|place| *place >= from).min().unwrap_or(text.len());
            assert!(at == first || at <= from + keep / 5, "{what}: {keep} of {text:?} gave {at}, and {first} is nearer");
        }
    }
}

#[test]
fn a_near_line_end_is_taken() {
    let text = format!("{}\n{}", "a".repeat(90), "b".repeat(100));
    assert_eq!(cut::head(&text, 100), 91, "nine bytes back is near");
    assert_eq!(cut::head(&text, 113), 91, "22 bytes back is a fifth");
    assert_eq!(cut::head(&text, 114), 114, "23 bytes back is too far");
    let text = format!("{}\n{}", "a".repeat(100), "b".repeat(90));
    assert_eq!(cut::tail(&text, 100), 101);
    assert_eq!(cut::tail(&text, 112), 101);
    assert_eq!(cut::tail(&text, 120), text.len() - 120, "too far ahead");
}

#[test]
fn an_escaped_line_end_is_a_line_end() {
    let text = r#"{"output":"first line\nsecond line and more of it"}"#;
    assert_eq!(&text[..cut::head(text, 25)], r#"{"output":"first line\n"#);
    let windows = r#"{"path":"C:\\new folder\\name of it"}"#;
    assert_eq!(cut::head(windows, 16), 16, "a backslash and an n are no line end");
}

#[test]
fn the_nearest_line_end_wins() {
    let text = "one\ntwo\nthree\nfour\nfive\n".repeat(10);
    for keep in 20..text.len() {
        let head = cut::head(&text, keep);
        assert!(text[..head].ends_with('\n') && keep - head < 6, "{keep} gave {head}");
        let tail = cut::tail(&text, keep);
        assert!(text[..tail].ends_with('\n') && tail - (text.len() - keep) < 6, "{keep} gave {tail}");
    }
}

#[test]
fn all_and_nothing() {
    for text in ["", "a", "深", "\n", "\u{1b}[31m", "👩\u{200d}🚀"] {
        assert_eq!((cut::head(text, text.len()), cut::head(text, usize::MAX)), (text.len(), text.len()));
        assert_eq!((cut::tail(text, text.len()), cut::tail(text, usize::MAX)), (0, 0));
        assert_eq!((cut::head(text, 0), cut::tail(text, 0)), (0, text.len()));
    }
}

/// A made-up text of joiners only, or of an escape that never ends, neither hangs nor parts a character.
#[test]
fn an_endless_cluster_is_cut_somewhere() {
    for text in [
        "\u{200d}".repeat(5000),
        format!("e{}", "\u{301}".repeat(5000)),
        "🇫".repeat(3000),
        format!("\u{1b}[{}", "1;".repeat(5000)),
        "\\".repeat(9000),
    ] {
        for keep in [1, 100, 101, 102, 103, 2500, 4999] {
            assert!(text.is_char_boundary(cut::head(&text, keep)) && cut::head(&text, keep) <= keep);
            let tail = cut::tail(&text, keep);
            assert!(text.is_char_boundary(tail) && text.len() - tail <= keep);
        }
    }
}
