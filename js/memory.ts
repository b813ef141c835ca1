/**
 * What is remembered of conversations whose message objects live on from call to call: their tapes stay in wasm memory, and the next call
 * adds only what is new. Every value is compared again first, since hosts change messages in place; where one differs, all is read anew.
 *
 * A first call only notes that it has seen the messages, for most hosts make new objects for every call; the second keeps.
 */

import type { Patch } from "./apply.js";
import { isSame, type Fields, type Items, type Shadow } from "./shadow.js";
import { tapeBytes } from "./tape.js";
import { wasm } from "./wasm.js";

/** Wasm memory that all conversations together may take. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Conversations at a time. */
const MOST = 16;
/** What the reading of a message takes beside its tape, about. */
const BYTES_PER_MESSAGE = 512;
/** A message that an earlier call knew is looked for among so many of the newest. */
const NEWEST = 64;

/** A conversation whose history stands in wasm memory. */
export interface Kept {
  readonly number: number;
  /** Of the instance that keeps it. */
  readonly memory: WebAssembly.Memory;
  readonly messages: Shadow[];
  /** The request, with nothing where its messages are. */
  readonly request: Fields;
  /** The options that are not of one call alone. */
  readonly options: Shadow;
  /** What the last call returned. */
  plan: Fields;
  patches: readonly Patch[];
  texts: string;
  newest: object;
}

/** By the newest message of the last call. Nothing of a host's values is held by anything else. */
const known = new WeakMap<object, Kept | "seen">();
/** Bytes of each that is kept, the least recently used first. */
const held = new Map<number, number>();
let lastNumber = 0;

const ended = typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<number>(drop);

/** What is known of a message array: nothing, that it was seen, or the conversation and how many of the messages are of it. */
export function find(messages: readonly unknown[]): Found | "seen" | undefined {
  for (let at = messages.length - 1; at >= Math.max(0, messages.length - NEWEST); at--) {
    const message = messages[at];
    const found = typeof message === "object" && message !== null ? known.get(message) : undefined;
    if (found !== undefined) return found === "seen" ? found : { one: found, length: at + 1 };
  }
  return undefined;
}

export interface Found {
  one: Kept;
  length: number;
}

/** Whether the conversation can go on: it is still there, and nothing of what it was begun with has changed. */
export function isSameSoFar({ one, length }: Found, request: object, messages: readonly unknown[], options: object): boolean {
  if (one.messages.length !== length || !held.has(one.number) || one.memory !== wasm().memory) return false;
  for (let at = 0; at < length; at++) if (!isSame(messages[at], one.messages[at])) return false;
  return isSame(options, one.options) && isSame({ ...request, messages: undefined }, one.request);
}

export function nextNumber(): number {
  return ++lastNumber;
}

/** Takes note of a conversation that is now kept under this number. `traced` is the shadow of `{ request, options }`. */
export function keep(number: number, traced: Fields, messages: readonly unknown[], returned: Returned): void {
  const [request, options] = traced.values as [Fields, Shadow];
  const at = request.keys.indexOf("messages");
  const all = (request.values[at] as Items).values;
  request.values[at] = undefined;
  const newest = messages[messages.length - 1] as object;
  const one: Kept = { number, memory: wasm().memory, messages: all, request, options, newest, ...returned };
  ended?.register(one, number);
  known.set(newest, one);
  hold(number, all.length);
}

interface Returned {
  plan: Fields;
  patches: readonly Patch[];
  texts: string;
}

/** The same of one that went on with these messages. */
export function wentOn(one: Kept, more: Shadow[], messages: readonly unknown[], returned: Returned): void {
  one.messages.push(...more);
  Object.assign(one, returned);
  known.delete(one.newest);
  one.newest = messages[messages.length - 1] as object;
  known.set(one.newest, one);
  hold(one.number, more.length);
}

/** Another copy would cost more than it is worth. */
export function isTooLarge(): boolean {
  return tapeBytes() > MOST_BYTES / 2;
}

function hold(number: number, messages: number): void {
  const bytes = (held.get(number) ?? 0) + tapeBytes() + messages * BYTES_PER_MESSAGE;
  held.delete(number);
  held.set(number, bytes);
  let sum = [...held.values()].reduce((sum, bytes) => sum + bytes, 0);
  for (const [oldest, bytes] of held) {
    if (oldest === number || (sum <= MOST_BYTES && held.size <= MOST)) break;
    sum -= bytes;
    drop(oldest);
  }
}

/** Gives a conversation's memory back; it will be read anew. */
export function drop(number: number): void {
  if (held.delete(number)) wasm().forget(number);
}

/** The instance that kept them all is no more. */
export function dropAll(): void {
  held.clear();
}

/** The next call will know that it has seen the newest message. */
export function note(messages: readonly unknown[]): void {
  const newest = messages[messages.length - 1];
  if (typeof newest === "object" && newest !== null) known.set(newest, "seen");
}
