/** The validators of what a provider takes are in Rust, `tests/rust/wire`: here bodies are handed to them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Bodies by `<format>.<client>`. */
const kept = new Map<string, readonly string[]>();

export function keep(name: string, bodies: readonly string[]): void {
  assert(!kept.has(name), `${name} is kept twice`);
  kept.set(name, bodies);
}

/** Whether the validators can be asked here. */
export const canValidate = spawnSync("cargo", ["--version"]).status === 0;

/** Every body that was kept is taken by its provider. */
export function assertValid(): void {
  const folder = mkdtempSync(join(tmpdir(), "recorded-"));
  try {
    const all = [...kept].flatMap(([name, bodies]) => bodies.map((body, at) => [`${name}.${at}.json`, body] as const));
    all.forEach(([name, body]) => writeFileSync(join(folder, name), body));
    const values = ["test", "--quiet", "--test", "rust", "--", "wire::recorded::bodies_pass", "--exact", "--nocapture"];
    const cwd = fileURLToPath(new URL("../../..", import.meta.url));
    const { status, stdout, stderr } = spawnSync("cargo", values, { cwd, env: { ...process.env, WARMFOLD_RECORDED: folder }, encoding: "utf8" });
    assert.equal(status, 0, `${stdout}${stderr}`);
    assert(stdout.includes(`recorded: ${all.length} bodies pass\n`), stdout); // a test of another name would pass too
  } finally {
    rmSync(folder, { recursive: true });
  }
}
