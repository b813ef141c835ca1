import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, beforeEach, describe, mock, test } from "node:test";
import { init, release, wasm } from "../../js/wasm.js";

const MEBIBYTE = 1024 * 1024;

describe("wasm", () => {
  test("says what is missing before init", () => {
    assert.throws(() => wasm(), /init\(bytes\)/);
    release();
  });
});

describe("an instance", () => {
  // The panic hook speaks on the console before the trap.
  beforeEach(() => mock.method(console, "error", () => {}));
  before(() => init(readFileSync(new URL("../../build/warmfold.wasm", import.meta.url))));

  test("is kept after an ordinary call, and by a second init", () => {
    const { memory } = wasm();
    wasm().tapeText(0, MEBIBYTE);
    release();
    init(new Uint8Array());
    assert.equal(wasm().memory, memory);
  });

  test("whose memory grew over the ceiling is replaced at release", () => {
    const { memory } = wasm();
    const address = wasm().tapeText(0, 300 * MEBIBYTE);
    assert.equal(new Uint8Array(wasm().memory.buffer, address, 300 * MEBIBYTE).length, 300 * MEBIBYTE);
    assert.equal(wasm().memory, memory);
    release();
    assert.notEqual(wasm().memory, memory);
    assert.ok(wasm().memory.buffer.byteLength < 8 * MEBIBYTE);
  });

  test("that trapped is replaced, and the next call works", () => {
    const { memory } = wasm();
    // More bytes than there are addresses.
    assert.throws(() => wasm().tapeNodes(0, 0x7fff_ffff), WebAssembly.RuntimeError);
    assert.notEqual(wasm().memory, memory);
    assert.ok(wasm().tapeNodes(0, 16) > 0);
  });
});
