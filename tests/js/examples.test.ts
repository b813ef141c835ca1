/** The examples run as they stand. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

for (const [name, ...says] of [
  ["agent-loop", /^call with \d+ messages: \d+ → \d+ tokens, folded$/m, /^All twenty files/m],
  // What its text and the README say of it.
  ["demo", /^balanced, the default .* [1-9]\d%  +\d+ +0 of \d+$/m, /^spec: 40k budget .* 1\d\d%  +\d+ /m, /^A budget alone costs more than not folding here/m, /^  \[warmfold: \d+ of \d+ lines elided; /m],
] as const) {
  test(name, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`examples/${name}.mjs`], { cwd: root, encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    for (const line of says) assert.match(stdout, line);
  });
}
