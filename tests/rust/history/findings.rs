//! `history::findings`: what builds, tests and linters say, in their own words.

use warmfold::history::findings::Findings;

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn what_is_said_is_counted() {
    let cases: &[(&str, &str, [u32; 4])] = &[
        (
            "cargo check",
            "warning: unused variable: `x`\n --> src/a.rs:3:9\n\nerror[E0308]: mismatched types\n --> src/a.rs:5:1\n\nwarning: `demo` (lib) generated 1 warning\nerror: could not compile `demo` (lib) due to 1 previous error; 1 warning emitted\n",
            [1, 1, 0, 0],
        ),
        (
            "cargo, in colours",
            "\u{1b}[1m\u{1b}[38;5;9merror[E0425]\u{1b}[0m: cannot find value `y`\n\u{1b}[33mwarning\u{1b}[0m: unused\n",
            [1, 1, 0, 0],
        ),
        ("cargo, cut", "error: aborting due to 12 previous errors; 3 warnings emitted\n", [12, 3, 0, 0]),
        (
            "cargo test",
            "test a::one ... ok\ntest a::two ... FAILED\n\ntest result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\nerror: test failed, to rerun pass `--lib`\n",
            [0, 0, 3, 12],
        ),
        ("two binaries", "test result: ok. 2 passed; 0 failed; 0 ignored\ntest result: ok. 5 passed; 0 failed; 0 ignored\n", [0, 0, 0, 7]),
        ("cargo test, cut", "test a::one ... ok\ntest a::two ... FAILED\n", [0, 0, 1, 1]),
        ("pytest", "E   assert 1 == 2\n=========== 3 failed, 12 passed, 2 warnings in 1.20s ===========\n", [0, 2, 3, 12]),
        ("pytest, broken", "==== 1 error in 0.12s ====\n", [1, 0, 0, 0]),
        ("jest", "Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 5 passed, 6 total\nSnapshots:   0 total\n", [0, 0, 1, 5]),
        ("vitest", " Test Files  1 failed | 1 passed (2)\n      Tests  2 failed | 8 passed (10)\n", [0, 0, 2, 8]),
        ("mocha", "  12 passing (30ms)\n  3 failing\n", [0, 0, 3, 12]),
        ("node --test", "# tests 6\n# pass 5\n# fail 1\n", [0, 0, 1, 5]),
        ("node --test, of late", "\u{2139} tests 6\n\u{2139} pass 5\n\u{2139} fail 1\n", [0, 0, 1, 5]),
        ("TAP", "ok 1 - one\nnot ok 2 - two\nok 3 - three\n", [0, 0, 1, 2]),
        ("go test", "--- PASS: TestOne (0.00s)\n--- FAIL: TestTwo (0.01s)\nFAIL\nexit status 1\n", [0, 0, 1, 1]),
        ("unittest", "Ran 5 tests in 0.011s\n\nFAILED (failures=2, errors=1)\n", [0, 0, 3, 2]),
        ("unittest, well", "Ran 5 tests in 0.011s\n\nOK\n", [0, 0, 0, 5]),
        (
            "maven",
            "[INFO] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 0\n",
            [0, 0, 2, 3],
        ),
        (
            "tsc",
            "src/a.ts(3,5): error TS2322: Type 'a' is not assignable.\nsrc/b.ts:1:1 - error TS1005: ';' expected.\n\nFound 2 errors in 2 files.\n",
            [2, 0, 0, 0],
        ),
        (
            "eslint",
            "/repo/a.js\n  1:7  error    'x' is not defined  no-undef\n  2:1  warning  Missing semicolon   semi\n\n\u{2716} 2 problems (1 error, 1 warning)\n",
            [1, 1, 0, 0],
        ),
        ("gcc", "a.c:3:5: error: expected ';'\na.c:9:1: warning: unused\na.h:1:10: fatal error: b.h: no such file\n", [2, 1, 0, 0]),
        ("python", "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: bad\n", [1, 0, 0, 0]),
        ("nothing", "Finished `dev` profile in 0.31s\n", [0, 0, 0, 0]),
        ("words about errors", "The error handling is in errors.rs; warnings are off.\n  let error = Error::new();\n", [0, 0, 0, 0]),
        ("empty", "", [0, 0, 0, 0]),
    ];
    for (name, text, [errors, warnings, failed_tests, passed_tests]) in cases {
        let expected = Findings { errors: *errors, warnings: *warnings, failed_tests: *failed_tests, passed_tests: *passed_tests };
        assert_eq!(Findings::of(text), expected, "{name}");
        assert_eq!(Findings::of(&text.replace('\n', "\r\n")), expected, "{name}, with CRLF");
        assert_eq!(expected.is_failure(), errors + failed_tests > 0);
    }
}

#[test]
fn lines_of_errors_are_handed_over() {
    let mut lines = Vec::new();
    Findings::read("  \u{1b}[31merror: one\u{1b}[0m\nfine\nb.c:1:1: error: two\n", |line| lines.push(line.to_owned()));
    assert_eq!(lines, ["error: one", "b.c:1:1: error: two"]);
}

#[cfg(not(target_arch = "wasm32"))]
proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "[ -~\u{1b}\u{e9}\n]{0,400}", number in 0u64..u64::MAX) {
        let found = Findings::of(&text);
        proptest::prop_assert_eq!(found, Findings::of(&text));
        Findings::of(&format!("{number} passed, {number} failed, {number} errors\n{number} passed"));
    }
}
