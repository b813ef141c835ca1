/**
 * Writes any JavaScript value onto the tape, straight into wasm memory. It knows no provider.
 * The layout is described in `src/tape.rs`.
 */

import { WarmfoldError } from "./errors.js";
import { wasm } from "./wasm.js";

const NULL = 0, FALSE = 1, TRUE = 2, NUMBER = 3, STRING = 4, ARRAY = 5, OBJECT = 6, OPAQUE = 7;
const INSTANCE = 1 << 8;
const NO_KEY = 0xffffffff;
const WORDS = 4;
/** Of the request; what it is written in is one more. */
const MAX_DEPTH = 512 + 1;
/** Of text, and of nodes, in bytes: wasm memory is 4 GiB, and both may have to move. */
export const MAX_BYTES = 2 ** 30;
/** Up to this length a loop beats a call of the encoder. */
const SHORT = 24;

const encoder = new TextEncoder();
const float = new Float64Array(1);
const floatWords = new Uint32Array(float.buffer);

let memory: WebAssembly.Memory | undefined;
let nodes = new Uint32Array(0);
let text = new Uint8Array(0);
let nodeCount = 0;
let textLength = 0;
const keys = new Map<string, number>();
const ancestors: unknown[] = [];

/** Writes the value as the tape's root. Getters run once each; nothing of the value is kept. */
export function writeTape(value: object): void {
  nodeCount = textLength = 0;
  keys.clear();
  if (memory !== wasm().memory) forget(); // a new instance has none of the old one's room
  moved(0, 1 << 10, 1 << 16);
  try {
    write(value, NO_KEY, 0);
    for (const key of keys.keys()) writeString(key, NO_KEY);
    wasm().tapeCommit(nodeCount, keys.size, textLength);
  } finally {
    ancestors.length = 0;
    keys.clear();
  }
}

/** Makes room. Memory may move when it grows, so both views are taken anew. */
function moved(used: number, nodesWanted: number, textWanted: number): void {
  const exports = wasm();
  const nodeRoom = Math.max(nodesWanted, nodes.length / WORDS);
  const textRoom = Math.max(textWanted, text.length);
  if (nodeRoom * WORDS * 4 > MAX_BYTES || textRoom > MAX_BYTES) {
    throw new WarmfoldError("too_large", "over 1 GiB of text or values in one request: no model takes that much, pass less of it", "messages");
  }
  const nodesAt = exports.tapeNodes(used, nodeRoom);
  const textAt = exports.tapeText(textLength, textRoom);
  memory = exports.memory;
  nodes = new Uint32Array(memory.buffer, nodesAt, nodeRoom * WORDS);
  text = new Uint8Array(memory.buffer, textAt, textRoom);
}

/** Twice as much as before, for as long as that is allowed, and at least what is needed. */
function roomFor(bytes: number): number {
  return Math.max(bytes, Math.min(text.length * 2, MAX_BYTES));
}

/** Lets go of the memory of an instance that is no more. */
export function forget(): void {
  memory = undefined;
  nodes = new Uint32Array(0);
  text = new Uint8Array(0);
}

function node(head: number, key: number, low: number, high: number): number {
  if ((nodeCount + 1) * WORDS > nodes.length) moved(nodeCount, nodeCount * 2, 0);
  const at = nodeCount++ * WORDS;
  nodes[at] = head;
  nodes[at + 1] = key;
  nodes[at + 2] = low;
  nodes[at + 3] = high;
  return at;
}

function write(value: unknown, key: number, depth: number): void {
  switch (typeof value) {
    case "string":
      return writeString(value, key);
    case "number":
      float[0] = value;
      return void node(NUMBER, key, floatWords[0]!, floatWords[1]!);
    case "boolean":
      return void node(value ? TRUE : FALSE, key, 0, 0);
    case "object":
      return value === null ? void node(NULL, key, 0, 0) : writeObject(value, key, depth);
    case "undefined":
      return void node(NULL, key, 0, 0); // as JSON has it in arrays
    default: // function, symbol, bigint
      return void node(OPAQUE, key, 0, 0);
  }
}

function writeObject(value: object, key: number, depth: number): void {
  if (depth >= MAX_DEPTH) throw tooDeep(value, ancestors.slice(0, depth));
  ancestors[depth] = value;
  if (Array.isArray(value)) {
    const at = node(ARRAY, key, value.length, 0);
    for (let index = 0; index < value.length; index++) {
      write(value[index], NO_KEY, depth + 1);
    }
    nodes[at + 3] = nodeCount;
    return;
  }
  const plain = isPlain(value);
  if (!plain && isOpaque(value)) return void node(OPAQUE, key, (value as { byteLength?: number }).byteLength ?? 0, 0);
  const at = node(plain ? OBJECT : OBJECT | INSTANCE, key, 0, 0);
  let count = 0;
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name];
    if (field === undefined) continue; // as JSON leaves it out
    write(field, keyNumber(name), depth + 1);
    count++;
  }
  nodes[at + 2] = count;
  nodes[at + 3] = nodeCount;
}

/** Whether it is no instance of a class; of whatever realm. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether JSON cannot hold it; of whatever realm, and where there is no `URL`. */
export function isOpaque(value: object): boolean {
  return ArrayBuffer.isView(value) || /^\[object (?:(?:Shared)?ArrayBuffer|Date|Map|Set|URL)\]$/.test(Object.prototype.toString.call(value));
}

function keyNumber(name: string): number {
  const known = keys.get(name);
  if (known !== undefined) return known;
  keys.set(name, keys.size);
  return keys.size - 1;
}

function writeString(value: string, key: number): void {
  const start = textLength;
  if (value.length > SHORT || !writeAscii(value)) encode(value);
  node(STRING, key, start, textLength - start);
}

function writeAscii(value: string): boolean {
  if (textLength + SHORT > text.length) moved(nodeCount, 0, roomFor(textLength + SHORT));
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code > 0x7f) return false;
    text[textLength + index] = code;
  }
  textLength += value.length;
  return true;
}

function encode(value: string): void {
  let rest = value;
  for (;;) {
    const { read, written } = encoder.encodeInto(rest, text.subarray(textLength));
    textLength += written;
    if (read === rest.length) return;
    rest = rest.slice(read);
    const most = textLength + rest.length * 3; // a UTF-16 unit is at most three bytes
    moved(nodeCount, 0, Math.max(roomFor(textLength + rest.length), Math.min(most, MAX_BYTES), text.length + 1));
  }
}

function tooDeep(value: object, ancestors: unknown[]): WarmfoldError {
  const way = [...ancestors, value];
  const seen = new Set<unknown>();
  for (const [depth, ancestor] of way.entries()) {
    if (seen.has(ancestor)) return new WarmfoldError("cyclic", "it contains itself, which no provider can be sent: break the cycle", place(way.slice(0, depth + 1)));
    seen.add(ancestor);
  }
  return new WarmfoldError("too_deep", `nested over ${MAX_DEPTH - 1} levels: flatten the value, or send it as text`, place(way.slice(0, 7)));
}

/** The path along these objects, each inside the one before; what the caller knows begins below `request`. */
function place(way: unknown[]): string {
  const steps = way.slice(1).map((inner, index) => {
    const outer = way[index] as Record<string, unknown>;
    const key = Object.keys(outer).find((name) => outer[name] === inner) ?? "…";
    return Array.isArray(outer) ? `[${key}]` : `.${key}`;
  });
  return steps.join("").replace(/^\.request(?=\.)/, "").slice(1);
}
