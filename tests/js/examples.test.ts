/** The examples run as they stand. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

for (const [name, says] of [
  ["agent-loop", /^call with 10 messages: \d+ → \d+ tokens, (folded|carried)$/m],
  ["demo", /^\s*0\.75\s+\d+\s/m],
] as const) {
  test(name, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`examples/${name}.mjs`], { cwd: root, encoding: "utf8", timeout: 60_000 });
    assert.equal(status, 0, stderr);
    assert.match(stdout, says);
  });
}
