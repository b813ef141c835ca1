//! `cargo xtask COMMAND`: what the build needs of wasm-bindgen, called as a library.

mod bindgen;
mod test_wasm;

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

const TARGET: &str = "wasm32-unknown-unknown";
const USAGE: &str = "usage:
  cargo xtask bindgen                    build the library and its JavaScript glue into build/bindgen/
  cargo xtask test-wasm node|chromium    run the wasm tests of tests/rust in that runtime";

fn main() -> Result<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<OsString> = arguments.collect();
    match (command.to_str(), rest.first().and_then(|word| word.to_str())) {
        (Some("bindgen"), None) => bindgen::run(),
        (Some("test-wasm"), Some("node")) => test_wasm::in_node(&rest[1..]),
        (Some("test-wasm"), Some("chromium")) => test_wasm::in_chromium(&rest[1..]),
        (Some(test_wasm::RUNNER), Some(_)) => test_wasm::runner(rest),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

/// The cargo that runs this, at the root of the workspace.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Runs it; its own output says what failed.
fn run(command: &mut Command) -> Result<ExitCode> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
