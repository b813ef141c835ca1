//! The tests of the Rust core, in one binary. Modules mirror `src/`; beside them:
//!
//! - [`oracle`] is a second, independent reading of the laws, which property tests, corpus and cases all ask;
//! - [`twin`] runs each case and each law on every wire, and knows what a wire cannot do;
//! - `laws` holds each law over generated histories, `corpus` over recorded ones;
//! - [`purity`] proves that native code, Node and a browser give the same bytes, so it runs on wasm32 too.

// Property tests do not run there, so what only they use of the others is of no use.
#![cfg_attr(target_arch = "wasm32", allow(dead_code))]

mod cases;
mod oracle;
mod purity;
mod support;
mod transcript;
mod twin;

mod options;
mod cache {
    mod breakpoints;
    mod model;
    mod profile;
}
mod history {
    // It has property tests.
    #[cfg(not(target_arch = "wasm32"))]
    mod actions;
    mod changes;
    mod findings;
    mod kinds;
    mod phase;
    mod quotes;
    #[cfg(not(target_arch = "wasm32"))]
    mod repeats;
}
mod plan {
    mod carry;
}
// It has property tests.
#[cfg(not(target_arch = "wasm32"))]
mod tape {
    mod json;
    mod stringify;
}
mod render {
    mod breadcrumb;
    mod cut;
    mod digest;
    // It reads files, and has property tests.
    #[cfg(not(target_arch = "wasm32"))]
    mod outlines;
}
mod wire {
    // They have property tests.
    #[cfg(not(target_arch = "wasm32"))]
    mod ai_sdk;
    mod ai_sdk_ui;
    #[cfg(not(target_arch = "wasm32"))]
    mod anthropic;
    mod context_block;
    #[cfg(not(target_arch = "wasm32"))]
    mod gemini;
    mod marks;
    pub mod openai_responses;
    // It reads files.
    #[cfg(not(target_arch = "wasm32"))]
    mod recorded;
    // It has property tests.
    #[cfg(not(target_arch = "wasm32"))]
    mod segments;
    // It has property tests.
    #[cfg(not(target_arch = "wasm32"))]
    mod splices;
}

// These need a file system, or proptest's source of randomness.
#[cfg(not(target_arch = "wasm32"))]
mod architecture;
#[cfg(not(target_arch = "wasm32"))]
mod corpus;
#[cfg(not(target_arch = "wasm32"))]
mod histories;
#[cfg(not(target_arch = "wasm32"))]
mod laws;
#[cfg(not(target_arch = "wasm32"))]
mod spelled;
#[cfg(not(target_arch = "wasm32"))]
mod stats;
