/**
 * What is remembered of conversations whose message objects live on from call to call: their tapes stay in wasm memory, and the next call
 * adds only what is new. Every value is compared again first, since hosts change messages in place; where one differs, all is read anew.
 *
 * A first call only notes that it has seen the messages, for most hosts make new objects for every call; the second keeps.
 */

import type { Patch } from "./apply.js";
import { isSame, shadowOf, valueOf, type Fields, type Items, type Shadow } from "./shadow.js";
import { tapeBytes } from "./tape.js";
import type { Plan } from "./types.js";
import { wasm } from "./wasm.js";

/** Wasm memory that all conversations together may take. */
const MOST_BYTES = 128 * 1024 * 1024;
/** A conversation that begins over this is read anew at every call. */
const LARGEST_BYTES = 64 * 1024 * 1024;
/** The same of a body, of which the bytes are kept too, and the next one beside them. */
export const LARGEST_BODY_BYTES = 8 * 1024 * 1024;
/** Conversations at a time. */
const MOST = 16;
/** What the reading of a message takes beside its tape, about. */
const BYTES_PER_MESSAGE = 512;
/** A message that an earlier call knew is looked for among so many of the newest. */
const NEWEST = 64;

/** A conversation whose history stands in wasm memory. */
export interface Kept {
  readonly number: number;
  readonly messages: Shadow[];
  /** The request, with nothing where its messages are. */
  readonly request: Fields;
  /** The options that are not of one call alone. */
  readonly options: Shadow;
  /** Whether only the messages are returned. */
  readonly alone: Shadow;
  /** What the last call returned. */
  plan: Fields;
  patches: readonly Patch[];
  texts: string;
  newest: object | undefined;
}

/** By the newest message of the last call. Nothing of a host's values is held by anything else. */
const known = new WeakMap<object, Kept | "seen">();
/** Bytes of each that is kept, the least recently used first. */
const held = new Map<number, number>();
let lastNumber = 0;
/** Of the instance that keeps them. */
let memory: WebAssembly.Memory | undefined;

const ended = typeof FinalizationRegistry === "undefined" ? undefined : new FinalizationRegistry<number>(drop);

/** Under which key a request has its messages; `src/wire.rs` chooses likewise. */
export function listOf(request: object): (typeof LISTS)[number] {
  return LISTS.find((list) => ((request as Record<string, unknown>)[list] ?? undefined) !== undefined) ?? "messages";
}

const LISTS = ["messages", "input", "contents"] as const;

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

/** What a call is told beside its messages and what is of this call alone. */
export interface Told {
  request: object;
  options: object;
  alone: true | undefined;
}

/** Whether the conversation can go on: it is still there, and nothing of what it was begun with has changed. */
export function isSameSoFar({ one, length }: Found, { request, options, alone }: Told, messages: readonly unknown[]): boolean {
  if (one.messages.length !== length || !held.has(one.number)) return false;
  for (let at = 0; at < length; at++) if (!isSame(messages[at], one.messages[at])) return false;
  return alone === one.alone && isSame(options, one.options) && isSame({ ...request, [listOf(request)]: undefined }, one.request);
}

/** A number for what is to be kept; 0 for what is too large to be. */
export function nextNumber(bytes: number, most = LARGEST_BYTES): number {
  return bytes > most ? 0 : ++lastNumber;
}

/** Takes note of a conversation that is now kept under this number. `traced` is the shadow of `{ request, options, alone }`. */
export function keep(number: number, traced: Fields, list: string, messages: readonly unknown[], returned: Returned): void {
  const [request, options, alone] = traced.values as [Fields, Shadow, Shadow];
  const at = request.keys.indexOf(list);
  const all = (request.values[at] as Items).values;
  request.values[at] = undefined;
  const one: Kept = { number, messages: all, request, options, alone, newest: undefined, ...returned };
  ended?.register(one, number);
  one.newest = mark(messages, one);
  hold(number, tapeBytes() + all.length * BYTES_PER_MESSAGE);
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
  if (one.newest) known.delete(one.newest);
  one.newest = mark(messages, one);
  hold(one.number, (held.get(one.number) ?? 0) + tapeBytes() + more.length * BYTES_PER_MESSAGE);
}

function hold(number: number, bytes: number): void {
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
  lastPlans.delete(number);
  held.delete(number);
  wasm().forget(number);
}

/** The instance that kept them all is no more. */
export function dropAll(): void {
  held.clear();
  lastPlans.clear();
  memory = undefined;
}

/** At the beginning of a call: one that failed may have replaced the instance. */
export function checkInstance(): void {
  if (memory === wasm().memory) return;
  dropAll();
  memory = wasm().memory;
}

/** The next call will know that it has seen the newest message. */
export function note(messages: readonly unknown[]): void {
  mark(messages, "seen");
}

/** What is known of the newest message; of an array with getters it may be none by now. */
function mark(messages: readonly unknown[], as: Kept | "seen"): object | undefined {
  const newest = messages[messages.length - 1];
  if (typeof newest !== "object" || newest === null) return undefined;
  known.set(newest, as);
  return newest;
}

/** A body and its tape. */
const BYTES_PER_BYTE = 3;
/** The plan that was returned last for the bodies of a conversation, by its number; and the numbers by plan. */
const lastPlans = new Map<number, { plan: Plan; shadow: Fields }>();
const numbers = new WeakMap<Plan, number>();

/** The same of bodies. They have no identity, so Rust compares bytes; here it is told which plan the host carries. */
export const bodies = {
  /** The conversation for which a plan was returned last; 0 where there is none any more. */
  ofPlan(plan: Plan | null | undefined): number {
    const number = (plan && numbers.get(plan)) ?? 0;
    const last = lastPlans.get(number);
    return last?.plan === plan && isSame(plan, last?.shadow) ? number : 0;
  },

  /** The edits of the plan that was returned last. */
  editsOf(number: number): Plan["edits"] {
    return valueOf(editsIn(lastPlans.get(number)!.shadow)) as Plan["edits"];
  },

  /** Takes note of a body that is now kept under this number. */
  keep(number: number, bytes: number, plan: Plan, sameEdits: boolean): void {
    const before = sameEdits ? lastPlans.get(number)?.shadow : undefined;
    lastPlans.set(number, { plan, shadow: shadowOfPlan(plan, before) });
    numbers.set(plan, number);
    hold(number, bytes * BYTES_PER_BYTE);
  },

  /** After an error nobody knows which is still there. */
  dropAll(): void {
    for (const number of lastPlans.keys()) drop(number);
  },
};

/** The shadow of a plan, with the edits of an earlier one where they are the same. */
export function shadowOfPlan(plan: Plan, before: Fields | undefined): Fields {
  if (!before) return shadowOf(plan) as Fields;
  const shadow = shadowOf({ ...plan, edits: undefined }) as Fields;
  shadow.values[shadow.keys.indexOf("edits")] = editsIn(before);
  return shadow;
}

/** The edits in the shadow of a plan. */
export function editsIn(plan: Fields): Shadow {
  return plan.values[plan.keys.indexOf("edits")];
}
