/** warmfold: shortens the old tool results in an agent's message history when that saves more than it costs in the provider's prompt cache. */

import { applyPatches, copy, type Patch } from "./apply.js";
import { WarmfoldError, asWarmfoldError } from "./errors.js";
import { forget, isOpaque, isPlain, MAX_BYTES, writeTape } from "./tape.js";
import type {
  Bytes, Decision, FoldBodyResult, FoldOptions, FoldRequestResult, FoldResult, Plan, Rendered, ReplayOptions, ReplayReport, RequestOptions, Splice,
} from "./types.js";
import { release, wasm } from "./wasm.js";

export { WarmfoldError, type WarmfoldErrorCode } from "./errors.js";
export type * from "./types.js";

/**
 * A message array and the carried plan in; edited messages, breakpoints and the next plan out.
 * Synchronous and pure: nothing to await, nothing to free, the input is never changed.
 * @throws {WarmfoldError} for input that it refuses.
 */
export function fold<M extends object>(messages: readonly M[], options: FoldOptions = {}): FoldResult<M> {
  const { outcome, texts } = run<Decision & Patched>("fold", messages, options);
  const { patches, ...decision } = outcome;
  return { messages: applyPatches(messages, patches, texts), ...decision };
}

/**
 * The same of a whole request object: system prompt, messages, tools, tool choice and model are read from it. Where nothing changes, the
 * request itself comes back.
 */
export function foldRequest<R extends object>(request: R, options: RequestOptions = {}): FoldRequestResult<R> {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw new WarmfoldError("invalid_message", "expected a request object, as the provider's API takes it", "request");
  }
  const { outcome, texts } = onTape<Decision & Patched>("fold", request, ofRequest(options));
  const { patches, ...decision } = outcome;
  if (patches.length === 0) return { request, ...decision };
  if (!isPlain(request)) throw new WarmfoldError("class_instance", "an instance of a class cannot be copied faithfully: pass a plain object", "request");
  const folded = copy(request) as R & { messages: readonly object[] };
  folded.messages = applyPatches(folded.messages, patches, texts);
  return { request: folded, ...decision };
}

/**
 * The same of a request's bytes, UTF-8 JSON: every byte outside a splice is the input's, spacing and spelling of numbers included. Where
 * nothing changes, the very bytes given come back.
 */
export function foldBody<B extends Uint8Array>(body: B, options: RequestOptions = {}): FoldBodyResult<B> {
  if (Object.prototype.toString.call(body) !== "[object Uint8Array]") throw new WarmfoldError("invalid_message", "expected the request's bytes, a Uint8Array", "body");
  if (body.length > MAX_BYTES) throw new WarmfoldError("too_large", "over 1 GiB: no model takes that much, pass less of it", "body");
  const { plan, ...rest } = ofRequest(options);
  const written = inWasm("foldBody", () => {
    writeTape({ options: rest, plan });
    const room = wasm().bodyRoom(body.length);
    new Uint8Array(wasm().memory.buffer, room, body.length).set(body);
    return returned<WrittenBody>(() => wasm().foldBody(body.length));
  });
  const { patches: _, ...decision } = withEdits(written, plan);
  const folded = written.body ?? body;
  return { body: folded, splices: splicesOf(written.places, folded), ...decision };
}

/** Decides only: what `fold` would do, without the messages. */
export function decide<M extends object>(messages: readonly M[], options: FoldOptions = {}): Decision {
  const { patches: _, ...decision } = run<Decision & Patched>("decide", messages, options).outcome;
  return decision;
}

/** Applies a plan that was made elsewhere, or earlier, as it stands. Edits that do not match the history are left out. */
export function render<M extends object>(messages: readonly M[], plan: Plan, options: Omit<FoldOptions, "plan"> = {}): Rendered<M> {
  const { outcome, texts } = run<Omit<Rendered<M>, "messages"> & Patched>("render", messages, { ...options, plan });
  const { patches, ...places } = outcome;
  return { messages: applyPatches(messages, patches, texts), ...places };
}

/**
 * A whole transcript, call by call, against a simulated cache: what the policy costs, what is read from the cache, and what the model
 * quoted although it was gone. Costs are in uncached input tokens.
 */
export function replay<M extends object>(messages: readonly M[], options: ReplayOptions = {}): ReplayReport {
  const { times, asScored, ...policy } = anObject(options);
  const told = (["plan", "cold", "usage"] as const).find((name) => (policy as FoldOptions)[name] !== undefined);
  if (told) throw new WarmfoldError("invalid_option", "a replay carries the plan itself, and tells cold calls from times: leave it out", `options.${told}`);
  return run<ReplayReport>("replay", messages, policy, { times, asScored }).outcome;
}

interface Patched {
  patches: Patch[];
}

/** See `Written` in `src/wasm.rs`. */
interface Written<O> {
  texts: string;
  sameEdits: boolean;
  outcome: O;
}

/** See `WrittenBody` there. */
interface WrittenBody {
  places: Uint8Array;
  body?: Bytes | null;
  sameEdits: boolean;
  outcome: Decision & Patched;
}

type Exported = "fold" | "decide" | "render" | "replay";

/** Of a message array; what else there is of the request stands among the options. */
function run<O>(name: Exported, messages: unknown, options: FoldOptions, recorded?: object): Written<O> {
  const { system, tools, toolChoice, ...rest } = anObject(options);
  return onTape(name, { messages, system, tools, tool_choice: toolChoice }, rest, recorded);
}

function onTape<O>(name: Exported, request: object, { plan, ...options }: FoldOptions, recorded?: object): Written<O> {
  const written = inWasm(name, () => {
    writeTape({ request, options, plan, recorded });
    return returned<Written<O>>(wasm()[name]);
  });
  withEdits(written as Written<Decision>, plan);
  return written;
}

/** The outcome; edits that stayed as they were given did not cross again. */
function withEdits<O extends Decision>({ sameEdits, outcome }: { sameEdits: boolean; outcome: O }, plan: Plan | null | undefined): O {
  if (sameEdits) outcome.plan.edits = plan!.edits;
  return outcome;
}

let busy = false;

/** One call at a time works in wasm memory. */
function inWasm<T>(name: string, work: () => T): T {
  if (busy) throw new WarmfoldError("reentrant", "a getter of the input called warmfold again: pass plain values", name);
  busy = true;
  try {
    return work();
  } finally {
    busy = false;
    if (release()) forget();
  }
}

function ofRequest(options: RequestOptions): FoldOptions {
  const given = anObject(options) as FoldOptions;
  const told = (["system", "tools", "toolChoice"] as const).find((name) => given[name] !== undefined);
  if (told) throw new WarmfoldError("invalid_option", "it is read from the request: leave it out", `options.${told}`);
  return options;
}

/** What was put in stands in the folded body. */
function splicesOf(places: Uint8Array, folded: Uint8Array): Splice[] {
  const numbers = new DataView(places.buffer, places.byteOffset, places.length);
  const number = (at: number) => numbers.getUint32(4 * at, true);
  let shift = 0;
  return Array.from({ length: places.length / 12 }, (_, at) => {
    const [start, end, length] = [number(3 * at), number(3 * at + 1), number(3 * at + 2)];
    const bytes = folded.subarray(start + shift, start + shift + length);
    shift += length - (end - start);
    return { start, end, bytes };
  });
}

function anObject<O extends object>(options: O): O {
  if (typeof options === "object" && options !== null && !Array.isArray(options) && !isOpaque(options)) return options;
  throw new WarmfoldError("invalid_option", "expected an object of options; leave it out for the defaults", "options");
}

/** What a getter of the host threw passes through; what Rust refused becomes a WarmfoldError. */
function returned<W>(exported: () => unknown): W {
  try {
    return exported() as W;
  } catch (thrown) {
    throw asWarmfoldError(thrown);
  }
}
