/**
 * Writes any JavaScript value onto the tape, straight into wasm memory. It knows no provider.
 * The layout is described in `src/tape.rs`.
 */

import { WarmfoldError } from "./errors.js";
import { Fields, Items, Opaque, type Shadow } from "./shadow.js";
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
let tracing = false;
const keys = new Map<string, number>();
const ancestors: unknown[] = [];

/** Writes the value as the tape's root; with `traced` its shadow comes back. Getters run once each. */
export function writeTape(value: object, traced = false): Shadow {
  nodeCount = textLength = 0;
  tracing = traced;
  keys.clear();
  if (memory !== wasm().memory) forget(); // a new instance has none of the old one's room
  moved(0, 1 << 10, 1 << 16);
  try {
    const shadow = write(value, NO_KEY, 0);
    for (const key of keys.keys()) writeString(key, NO_KEY);
    wasm().tapeCommit(nodeCount, keys.size, textLength);
    return shadow;
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

/** How many bytes of wasm memory the tape takes that was written last. */
export function tapeBytes(): number {
  return textLength + nodeCount * WORDS * 4;
}

/** Lets go of memory that is the tape's no more. */
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

function write(value: unknown, key: number, depth: number): Shadow {
  switch (typeof value) {
    case "string":
      writeString(value, key);
      return value;
    case "number":
      float[0] = value;
      node(NUMBER, key, floatWords[0]!, floatWords[1]!);
      return value;
    case "boolean":
      node(value ? TRUE : FALSE, key, 0, 0);
      return value;
    case "object":
      if (value !== null) return Array.isArray(value) ? writeArray(value, key, depth) : writeObject(value, key, depth);
      node(NULL, key, 0, 0);
      return value;
    case "undefined":
      node(NULL, key, 0, 0); // as JSON has it in arrays
      return value;
    default: // function, symbol, bigint
      node(OPAQUE, key, 0, 0);
      return value as Shadow;
  }
}

function writeArray(value: unknown[], key: number, depth: number): Shadow {
  enter(value, depth);
  const at = node(ARRAY, key, value.length, 0);
  const values: Shadow[] = [];
  for (let index = 0; index < value.length; index++) {
    const shadow = write(value[index], NO_KEY, depth + 1);
    if (tracing) values.push(shadow);
  }
  nodes[at + 3] = nodeCount;
  return tracing ? new Items(values) : undefined;
}

function writeObject(value: object, key: number, depth: number): Shadow {
  enter(value, depth);
  const plain = isPlain(value);
  if (!plain && isOpaque(value)) {
    const bytes = (value as { byteLength?: number }).byteLength;
    node(OPAQUE, key, bytes ?? 0, 0);
    return tracing ? new Opaque(value, bytes) : undefined;
  }
  const at = node(plain ? OBJECT : OBJECT | INSTANCE, key, 0, 0);
  const names = Object.keys(value);
  const values: Shadow[] = [];
  let count = 0;
  for (const name of names) {
    const field = (value as Record<string, unknown>)[name];
    const left = field === undefined; // as JSON leaves it out
    const shadow = left ? undefined : write(field, keyNumber(name), depth + 1);
    if (!left) count++;
    if (tracing) values.push(shadow);
  }
  nodes[at + 2] = count;
  nodes[at + 3] = nodeCount;
  return tracing ? new Fields(Object.getPrototypeOf(value), names, values) : undefined;
}

function enter(value: object, depth: number): void {
  if (depth >= MAX_DEPTH) throw tooDeep(value, ancestors.slice(0, depth));
  ancestors[depth] = value;
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
