// What every script of package.json starts with, so that each works alone on a fresh clone:
// installs when node_modules is missing or old, builds when a source is newer than pkg/. Uses nothing but Node.
//     node scripts/setup.mjs [install|test]
import { execSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const SOURCES = [
  ".cargo", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "xtask",
  "js", "pkg-template", "tsconfig.json", "tsconfig.types.json", "LICENSE",
  "package-lock.json", "scripts/build.mjs",
];

install("development dependencies", ".");
if (process.argv[2] === "test") install("bundlers and runtimes to test in (200 MB)", "tests/runtimes");
if (process.argv[2] !== "install" && Math.max(...SOURCES.map(changed)) > changed("pkg/package.json")) {
  run("building pkg/ (a minute or two the first time)", "node scripts/build.mjs");
}

function install(what, folder) {
  if (changed(`${folder}/package-lock.json`) <= changed(`${folder}/node_modules/.package-lock.json`)) return;
  run(`installing ${what}`, "npm ci --ignore-scripts --no-fund --no-audit", folder);
}

/** The latest change in a file or folder; 0 when there is none. */
function changed(path) {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status) return 0;
  if (!status.isDirectory()) return status.mtimeMs;
  // The folder itself counts too: its time tells that a file was removed.
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => changed(`${path}/${name}`)));
}

function run(what, command, cwd = ".") {
  console.log(`setup: ${what}`);
  try {
    execSync(command, { cwd, stdio: "inherit" });
  } catch {
    console.error(`setup: failed while ${what}`);
    process.exit(1);
  }
}
