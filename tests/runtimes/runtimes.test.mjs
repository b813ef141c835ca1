// One small program in every runtime, as plain files and through bundlers: each must answer with the very bytes of Node's answer.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { esbuild, rollup, viteBuild, viteDev, webpack } from "./bundlers.mjs";
import { noChromium, resultAt, resultOf } from "./chromium.mjs";
import { edgeLight, noWorkerd, workerd } from "./edge.mjs";
import { app, find, node, run } from "./installed.mjs";

const LIMIT_MS = 60_000;
const deno = find(["deno"], "@deno", "deno");
const bun = find(["bun"], "@oven", "bin/bun");
const cannotCompile = /code generation disallowed/i;

const expected = await node("main.mjs");
const same = (runtime, answer, skip = false) =>
  test(`${runtime}: the same result`, { skip, timeout: LIMIT_MS }, async () => {
    const answered = await answer();
    if (answered === expected) return;
    // In full they would fill a screen many times.
    let at = 0;
    while (answered[at] === expected[at]) at += 1;
    assert.fail(`differs from Node's at ${at}: ${JSON.stringify([answered, expected].map((text) => text.slice(at, at + 80)))}`);
  });
const inNode = async (folder, name) => node(join(await folder, name));
const inPage = async (folder, name) => resultOf(await folder, name);

test("Node, ESM: a history is folded and what need not change is the same object", () => {
  const result = JSON.parse(expected);
  assert.equal(result.folded, true);
  assert.equal(result.firstUnchanged, true);
  assert.equal(result.lastUnchanged, true);
  assert.ok(result.tokensSaved > 0, `saved ${result.tokensSaved} tokens`);
});
same("Node, CommonJS", () => node("main.cjs"));
same("Node, slim with the host's bytes", () => node("slim.mjs"));
same("Node, bundled by Rollup", () => inNode(rollup("main.mjs", "main.mjs"), "main.mjs"));
same("Node, bundled by esbuild to CommonJS, as editor extensions are", () =>
  inNode(esbuild("main.mjs", "main.cjs", { platform: "node", format: "cjs" }), "main.cjs"));

// It is granted no permission, so the package needs none.
same("Deno", () => run(deno, "run", "--no-prompt", "main.mjs"), !deno && "skipped: no deno");
same("Bun", () => run(bun, "main.mjs"), !bun && "skipped: no bun");

same("Chromium, a plain page", () => resultOf(app, "plain.html"), noChromium);
same("Chromium, a web worker", () => resultOf(app, "worker.html"), noChromium);
same("Chromium, bundled by esbuild to an IIFE", () => inPage(esbuild("page.mjs", "page.js", { format: "iife" }), "classic.html"), noChromium);
same("Chromium, bundled by webpack", () => inPage(webpack("page.mjs", "page.js"), "classic.html"), noChromium);
same("Chromium, bundled by webpack, slim", () => inPage(webpack("slim-page.mjs", "page.js"), "classic.html"), noChromium);
same("Chromium, built by Vite", () => inPage(viteBuild("index.html"), "index.html"), noChromium);
same("Chromium, built by Vite, slim", () => inPage(viteBuild("slim.html"), "slim.html"), noChromium);
same("Chromium, served by Vite in development", () => viteDev(resultAt), noChromium);

same("workerd", () => workerd(["workerd"]), noWorkerd);
test("workerd: the condition is needed", { skip: noWorkerd, timeout: LIMIT_MS }, () => assert.rejects(workerd([]), cannotCompile));
same("edge-light", () => edgeLight(["edge-light"]));
test("edge-light: the condition is needed", () => assert.rejects(edgeLight([]), cannotCompile));
