//! The wasm tests of tests/rust, in Node or in headless Chromium, without wasm-pack.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use serde_json::json;

use crate::{TARGET, cargo, run};

/// The command under which cargo calls this program back with a test binary.
pub const RUNNER: &str = "run-wasm-test";

const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub fn in_node(arguments: &[OsString]) -> Result<ExitCode> {
    run(&mut cargo_test(arguments)?)
}

pub fn in_chromium(arguments: &[OsString]) -> Result<ExitCode> {
    let Some(chromium) = CHROMIUM.iter().find_map(|name| on_path(name)) else {
        println!("skipped: wasm tests in Chromium: no chromium on PATH");
        return Ok(ExitCode::SUCCESS);
    };
    let Some(driver) = on_path("chromedriver") else {
        println!("skipped: wasm tests in Chromium: no chromedriver on PATH");
        return Ok(ExitCode::SUCCESS);
    };
    let folder = tempfile::tempdir()?;
    let profile = folder.path().join("profile");
    let capabilities = folder.path().join("webdriver.json");
    let flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        &format!("--user-data-dir={}", profile.display()),
    ];
    serde_json::to_writer(File::create(&capabilities)?, &json!({ "goog:chromeOptions": { "binary": chromium, "args": flags } }))?;
    run(cargo_test(arguments)?
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
        // Named, so that a geckodriver earlier on PATH is not taken.
        .env("CHROMEDRIVER", driver))
}

/// Takes the place of the program `wasm-bindgen-test-runner`: `arguments` are what cargo passes on.
pub fn runner(arguments: Vec<OsString>) -> Result<ExitCode> {
    let name = OsString::from("wasm-bindgen-test-runner");
    // A quiet cargo passes this on to a harness that, unlike Rust's own, has no such option.
    let known = arguments.into_iter().filter(|word| word != "--quiet");
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::iter::once(name).chain(known))?;
    Ok(ExitCode::SUCCESS)
}

fn cargo_test(arguments: &[OsString]) -> Result<Command> {
    let this = env::current_exe()?;
    let this = this.to_str().context("the path of the build folder is not UTF-8")?;
    let mut command = cargo();
    command
        .args(["test", "--target", TARGET, "--test", "rust"])
        // A list, because the environment variable for it is split at spaces in the path.
        .arg("--config")
        .arg(format!("target.{TARGET}.runner=[{this:?}, {RUNNER:?}]"))
        .args(arguments);
    // Property tests are slow in an unoptimised build; the runner's own limit is 20 seconds.
    if env::var_os("WASM_BINDGEN_TEST_TIMEOUT").is_none() {
        command.env("WASM_BINDGEN_TEST_TIMEOUT", "600");
    }
    Ok(command)
}

fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(name).with_extension(env::consts::EXE_EXTENSION))
        .find(|program| program.is_file())
}
