// Everything that can be tested on this machine. What cannot be prints one line that says why.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const testFiles = (folder, ending) =>
  readdirSync(folder).filter((name) => name.endsWith(ending)).map((name) => `${folder}/${name}`);
const nodeTest = ["--test", "--test-reporter=spec"];
const javascript = testFiles("tests/js", ".test.ts");

const steps = [
  ["Rust", "cargo", ["test", "--quiet"]],
  ["wasm in Node", "cargo", ["xtask", "test-wasm", "node"]],
  ["wasm in Chromium", "cargo", ["xtask", "test-wasm", "chromium"]],
  ["types", process.execPath, ["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]],
  javascript.length > 0
    ? ["JavaScript", process.execPath, ["--import", "tsx", ...nodeTest, ...javascript]]
    : ["JavaScript", "there is no test in tests/js"],
  ["the package and its runtimes", process.execPath, [...nodeTest, ...testFiles("tests/runtimes", ".test.mjs")]],
];

const failed = [];
for (const [name, command, values] of steps) {
  if (!values) {
    console.log(`skipped: ${name}: ${command}`);
    continue;
  }
  console.log(`\ntest: ${name}`);
  if (spawnSync(command, values, { stdio: "inherit" }).status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? "\ntest: all passed" : `\ntest: failed: ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
