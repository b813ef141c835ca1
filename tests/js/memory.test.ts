/** How much memory bodies take, and how long the worst of them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, beforeEach, describe, mock, test } from "node:test";
import { foldBody } from "../../js/index.js";
import { init, wasm } from "../../js/wasm.js";

const MEGABYTE = 1e6;
/** Of small bodies the instance itself is the larger part, and of tiny messages what is known of each. */
const INSTANCE = 8 * MEGABYTE;
const EACH_MESSAGE = 512;
/** 8 times the bytes: linear is 8, quadratic 64. Tables outgrow the processor's caches, and the machine may be busy. */
const MOST = 40;

const bytesOf = (messages: object[], user = "0") => new TextEncoder().encode(JSON.stringify({ messages, user }));
const called = (at: number, id = `c${at}`) => ({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "bash", arguments: `{"command":"ls ${at}"}` } }] });

const BODIES: Record<string, (megabytes: number) => object[]> = {
  "one text": (megabytes) => [{ role: "user", content: "x".repeat(megabytes * MEGABYTE) }],
  "one result of escapes": (megabytes) => [called(0), { role: "tool", tool_call_id: "c0", content: '"\n\t\\'.repeat((megabytes * MEGABYTE) / 8) }, { role: "assistant", content: "x" }],
  "results": (megabytes) => Array.from({ length: megabytes * 100 }, (_, at) => [called(at), { role: "tool", tool_call_id: `c${at}`, content: `line ${at} of a log\n`.repeat(500) }]).flat(),
  "tiny messages": (megabytes) => Array.from({ length: (megabytes * MEGABYTE) / 31 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: "" })),
  "calls of one id": (megabytes) => {
    const calls = Array.from({ length: megabytes * 2500 }, (_, at) => called(at, "x"));
    return [...calls, ...calls.map((_, at) => ({ role: "tool", tool_call_id: "x", content: `result ${at} ${"y".repeat(200)}` }))];
  },
};

describe("bodies", () => {
  before(() => init(readFileSync(new URL("../../build/warmfold.wasm", import.meta.url))));

  // An instance that traps is replaced: each test has the memory of a new one.
  beforeEach(() => {
    mock.method(console, "error", () => {});
    assert.throws(() => wasm().tapeNodes(0, 0x7fff_ffff), WebAssembly.RuntimeError);
  });

  for (const [name, make] of Object.entries(BODIES)) {
    test(`${name}: memory is at most three times the body beside the messages, and time grows with it`, () => {
      const messages = make(16);
      const short = make(2);
      const time = (messages: object[], at: number) => {
        const body = bytesOf(messages, `${at}`); // another body each time: one that goes on with an earlier one is not read again
        const start = performance.now();
        foldBody(body, { plan: null });
        return performance.now() - start;
      };
      const fastest = (messages: object[]) => Math.min(...[1, 2, 3].map((at) => time(messages, at)));
      const [long, growth] = [bytesOf(messages), fastest(messages) / fastest(short)];
      const memory = wasm().memory.buffer.byteLength;
      assert.ok(memory <= 3 * long.length + EACH_MESSAGE * messages.length + INSTANCE, `${(memory / MEGABYTE).toFixed(0)} MB for ${(long.length / MEGABYTE).toFixed(0)} MB`);
      assert.ok(growth < MOST, `8 times the bytes took ${growth.toFixed(1)} times as long`);
    });
  }
});
