// The package as a user gets it: packed, installed outside the repository, run in every runtime.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { findChromium, resultOfPage } from "./chromium.mjs";

// The wasm is inlined, so a page that uses warmfold loads all of this before its first fold: about what
// one photograph weighs. A core that outgrows it has taken in something that belongs in another entry.
// A third of it knows prices, tools, shell commands and replays: what makes a fold pay.
const CEILING_GZIP_BYTES = 195 * 1024;

const root = fileURLToPath(new URL("../..", import.meta.url));
const app = mkdtempSync(join(tmpdir(), "warmfold-"));
after(() => rmSync(app, { recursive: true, force: true }));

const run = (command, values, cwd = app) => execFileSync(command, values, { cwd, encoding: "utf8" });
const node = (...values) => run(process.execPath, values).trimEnd();
const tool = (script, ...values) => run(process.execPath, [join(root, "node_modules", script), ...values], root);

const tarball = join(app, JSON.parse(run("npm", ["pack", "--json", "--pack-destination", app, join(root, "pkg")]))[0].filename);
cpSync(fileURLToPath(new URL("app", import.meta.url)), app, { recursive: true });
writeFileSync(join(app, "package.json"), '{ "private": true }\n');
run("npm", ["install", "--no-fund", "--no-audit", tarball]);

const expected = node("main.mjs");

test("Node, ESM: a history is folded and what need not change is the same object", () => {
  const result = JSON.parse(expected);
  assert.equal(result.folded, true);
  assert.equal(result.firstUnchanged, true);
  assert.equal(result.lastUnchanged, true);
  assert.ok(result.tokensSaved > 0, `saved ${result.tokensSaved} tokens`);
});

test("Node, CommonJS: the same result", () => {
  assert.equal(node("main.cjs"), expected);
});

test("Node, slim with the host's bytes: the same result", () => {
  assert.equal(node("slim.mjs"), expected);
});

const chromium = findChromium();
test("a plain page in Chromium: the same result", { skip: !chromium && "skipped: no chromium on PATH" }, async () => {
  assert.equal(await resultOfPage(chromium, app), expected);
});

test("size", () => {
  const installed = join(app, "node_modules/warmfold");
  const measured = readdirSync(installed, { recursive: true })
    .filter((path) => [".js", ".wasm"].includes(extname(path)))
    .map((path) => ({ path, bytes: readFileSync(join(installed, path)) }))
    .map(({ path, bytes }) => ({ path, bytes: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length }));
  console.table([...measured, { path: "the packed package", bytes: statSync(tarball).size, gzip: statSync(tarball).size }]);
  const main = measured.find(({ path }) => path === join("esm", "warmfold.js"));
  assert.ok(main.gzip <= CEILING_GZIP_BYTES, `${main.path}: ${main.gzip} bytes gzipped, over ${CEILING_GZIP_BYTES}`);
});

test("publint finds nothing to say", () => {
  tool("publint/src/cli.js", "pkg", "--strict");
});

test("types resolve for ESM and CommonJS", () => {
  // node16: older resolution knows no exports map. A wasm file has no types.
  tool("@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "node16", "--exclude-entrypoints", "./warmfold.wasm", "--no-color");
});
