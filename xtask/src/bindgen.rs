//! The release library as wasm, and the JavaScript that binds it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{TARGET, cargo, root};

pub fn run() -> Result<ExitCode> {
    let arguments: [OsString; 8] = [
        "wasm-bindgen".into(),
        build()?.into(),
        "--target=web".into(),
        // No import.meta and no fetch: the entries hand over the bytes.
        "--omit-default-module-path".into(),
        // js/wasm.ts replaces an instance that trapped or whose memory grew too far.
        "--experimental-reset-state-function".into(),
        // wasm-opt drops the names anyway; the section target_features, which it reads, stays.
        "--remove-name-section".into(),
        "--out-dir".into(),
        root().join("build/bindgen").into(),
    ];
    wasm_bindgen_cli::wasm_bindgen::run_cli_with_args(arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds the library and returns where cargo says that the wasm is.
fn build() -> Result<String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo"))).context("no home folder")?;
    // Panics name the file they are in: the same bytes on every machine, and nobody's folders.
    let remap = format!("--remap-path-prefix={}=cargo", home.display());
    let output = cargo()
        .args(["rustc", "--quiet", "--release", "--lib", "--crate-type=cdylib", "--target", TARGET])
        .arg("--config")
        .arg(format!("target.{TARGET}.rustflags=[{remap:?}]"))
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "cargo build ended with {}", output.status);
    String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| Some(message["filenames"].as_array()?.clone()))
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        // Dependencies come first, the crate itself last.
        .rfind(|name| name.ends_with(".wasm"))
        .context("cargo built no .wasm file")
}
