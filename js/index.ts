/** warmfold: shortens the old tool results in an agent's message history when that saves more than it costs in the provider's prompt cache. */

import { applyPatches, isOfRequest, type Patch } from "./apply.js";
import { WarmfoldError, asWarmfoldError } from "./errors.js";
import { bodies, checkInstance, drop, dropAll, editsIn, find, isSameSoFar, keep, LARGEST_BODY_BYTES, listOf, nextNumber, note, shadowOfPlan, wentOn, type Found } from "./memory.js";
import { isSame, valueOf, type Fields, type Items } from "./shadow.js";
import { forget, isOpaque, isPlain, MAX_BYTES, tapeBytes, writeTape } from "./tape.js";
import type {
  BarOptions, Bytes, ContextStats, Decision, FoldBodyResult, FoldOptions, FoldRequestResult, FoldResult, Plan, Rendered, ReplayOptions, ReplayReport,
  RequestOptions, SessionStats, Splice,
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
  const { patches, texts, ...decision } = folded(...ofMessages(messages, options), true);
  return { messages: applyPatches(messages as M[], patches, texts), ...decision };
}

/**
 * The same of a whole request object: system prompt, messages, tools, tool choice and model are read from it. Where nothing changes, the
 * request itself comes back.
 */
export function foldRequest<R extends object>(request: R, options: RequestOptions = {}): FoldRequestResult<R> {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw new WarmfoldError("invalid_message", "expected a request object, as the provider's API takes it", "request");
  }
  const { patches, texts, ...decision } = folded(request, ofRequest(options), undefined);
  if (patches.length === 0) return { request, ...decision };
  if (!isPlain(request)) throw new WarmfoldError("class_instance", "an instance of a class cannot be copied faithfully: pass a plain object", "request");
  const copied = applyPatches(request, patches.filter(isOfRequest), texts) as R & Record<string, readonly object[]>;
  const list = listOf(request);
  const inMessages = patches.filter((patch) => !isOfRequest(patch));
  if (inMessages.length > 0) {
    const held: readonly object[] | object = copied[list]!; // of Gemini's contents one may stand alone
    const messages = applyPatches(Array.isArray(held) ? held : [held], inMessages, texts);
    (copied as Record<string, unknown>)[list] = Array.isArray(held) ? messages : messages[0];
  }
  return { request: copied, ...decision };
}

/**
 * The same of a request's bytes, UTF-8 JSON: every byte outside a splice is the input's, spacing and spelling of numbers included. Where
 * nothing changes, the very bytes given come back.
 */
export function foldBody<B extends Uint8Array>(body: B, options: RequestOptions = {}): FoldBodyResult<B> {
  if (Object.prototype.toString.call(body) !== "[object Uint8Array]") throw new WarmfoldError("invalid_message", "expected the request's bytes, a Uint8Array", "body");
  const length = lengthOf.call(body) as number;
  if (length > MAX_BYTES) throw new WarmfoldError("too_large", "over 1 GiB: no model takes that much, pass less of it", "body");
  const { plan, cold, usage, calibration, ...rest } = ofRequest(options);
  const { outcome, places, texts } = inWasm("foldBody", () => {
    const samePlan = bodies.ofPlan(plan);
    writeTape({ options: rest, said: { cold, usage, calibration }, plan: samePlan ? undefined : plan });
    const room = wasm().bodyRoom(length);
    if (length > 0) new Uint8Array(wasm().memory.buffer, room, length).set(body);
    const next = nextNumber(length, LARGEST_BODY_BYTES);
    return orElse(bodies.dropAll, () => {
      const { number, ...written } = returned<WrittenBody>(() => wasm().foldBody(length, next, samePlan));
      withEdits(written, plan?.edits ?? (written.sameEdits ? bodies.editsOf(number) : undefined));
      // Those of another plan than the last one are not what is known of the last one.
      const areLast = written.sameEdits && (plan === undefined || samePlan === number);
      if (number) bodies.keep(number, length, written.outcome.plan, areLast);
      return written;
    });
  });
  const { patches: _, ...decision } = outcome;
  const splices = splicesOf(places, texts);
  return { body: splices.length > 0 ? spliced(body, splices) : body, splices, ...decision };
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
  return { messages: applyPatches(messages as M[], patches, texts), ...places };
}

/**
 * A whole transcript, call by call, against a simulated cache: what the policy costs, what is read from the cache, and what the model
 * quoted although it was gone. Costs are in uncached input tokens.
 */
export function replay<M extends object>(messages: readonly M[], options: ReplayOptions = {}): ReplayReport {
  const { times, asScored, ...policy } = anObject(options);
  const told = (["plan", "cold", "usage", "calibration"] as const).find((name) => (policy as FoldOptions)[name] !== undefined);
  if (told) throw new WarmfoldError("invalid_option", "a replay carries the plan itself, and tells cold calls from times: leave it out", `options.${told}`);
  return run<ReplayReport>("replay", messages, policy, { recorded: { times, asScored } }).outcome;
}

/**
 * How full the context is, and of what: the request as it is sent, which under a carried `plan` is what that plan leaves of the messages.
 * Without a plan all is counted in full. It plans nothing and changes nothing.
 */
export function stats<M extends object>(messages: readonly M[], options: FoldOptions = {}): ContextStats {
  return counted<ContextStats>("stats", messages, options);
}

/** The same, with what the system prompt, the tools schema and the conversation take each. */
export function sessionStats<M extends object>(messages: readonly M[], options: FoldOptions = {}): SessionStats {
  return counted<SessionStats>("sessionStats", messages, options);
}

/** Statistics in a line of at most `width` columns; `color` is for terminals: green under 60%, yellow to 80%, red above. */
export function statusBar(stats: Pick<ContextStats, "estimatedUsed" | "promptBudget" | "messageCount">, options: BarOptions = {}): string {
  return inWasm("statusBar", () => {
    writeTape({ stats, options });
    return returned<string>(wasm().statusBar);
  });
}

/** A tokenizer of the host is called between two calls, so that it may do as it likes. */
function counted<S>(name: "stats" | "sessionStats", messages: unknown, options: FoldOptions): S {
  const { count } = anObject(options);
  if (typeof count !== "function") return run<S>(name, messages, options).outcome;
  const counts = run<string[]>("statsTexts", messages, options).outcome.map((text) => {
    const tokens = count(text);
    if (Number.isInteger(tokens) && tokens >= 0 && tokens < 2 ** 32) return tokens;
    throw new WarmfoldError("invalid_option", "expected it to return a whole number of tokens", "options.count");
  });
  return run<S>(name, messages, options, { counts }).outcome;
}

interface Patched {
  patches: readonly Patch[];
}

/** See `Written` in `src/wasm.rs`. */
interface Written<O> {
  texts: string;
  sameEdits: boolean;
  samePatches: boolean;
  kept: boolean;
  outcome: O;
}

/** See `WrittenBody` there. */
interface WrittenBody {
  places: Bytes;
  texts: Bytes;
  number: number;
  sameEdits: boolean;
  outcome: Decision & Patched;
}

/** A decision, and the patches that carry it out with their texts. */
type Folded = Decision & Patched & { texts: string };

/** Of a request whose messages may be those of an earlier call, and more. */
function folded(request: object, given: FoldOptions, alone: Alone): Folded {
  const { plan, cold, usage, calibration, ...options } = given;
  const said = { cold, usage, calibration };
  return inWasm("fold", () => {
    const list = listOf(request);
    // What is inherited is no field of the request's JSON.
    const messages: unknown = Object.prototype.propertyIsEnumerable.call(request, list) ? (request as Record<string, unknown>)[list] : undefined;
    const asked = { request, options, alone, said, plan };
    if (!Array.isArray(messages) || messages.length === 0 || options.enabled === false) return foldedOnce(asked);
    const found = find(messages);
    if (typeof found === "object") {
      const result = isSameSoFar(found, asked, messages) && goneOn(found, asked, messages);
      if (result) return result;
      drop(found.one.number);
    }
    if (found !== undefined) return foldedAndKept(asked, messages);
    const once = foldedOnce(asked);
    note(messages);
    return once;
  });
}

type Said = Pick<FoldOptions, "cold" | "usage" | "calibration">;
type Given = FoldOptions["plan"];
/** Only the messages are returned. */
type Alone = true | undefined;

/** What a call asks for, in the order in which it is written. */
interface Asked {
  request: object;
  options: FoldOptions;
  alone: Alone;
  said: Said;
  plan: Given;
}

function foldedOnce(asked: Asked): Folded {
  writeTape(asked);
  return foldedFrom(asked.plan);
}

/** What stands on the tape. */
function foldedFrom(plan: Given): Folded {
  const { texts, ...written } = returned<Written<Decision & Patched>>(wasm().fold);
  return { texts, ...withEdits(written, plan?.edits) };
}

function foldedAndKept(asked: Asked, messages: readonly unknown[]): Folded {
  const { request, options, alone, said, plan } = asked;
  const traced = writeTape({ request, options, alone, said, plan }, true) as Fields;
  const number = nextNumber(tapeBytes());
  if (number === 0) return foldedFrom(plan);
  forget(); // Rust keeps the tape, so its memory is ours no more
  return orElse(() => drop(number), () => {
    const { texts, ...written } = returned<Written<Decision & Patched>>(() => wasm().foldAndKeep(number));
    const outcome = withEdits(written, plan?.edits);
    const last = { plan: shadowOfPlan(outcome.plan, undefined), patches: outcome.patches, texts };
    if (written.kept) keep(number, traced, listOf(request), messages, last);
    return { texts, ...outcome };
  });
}

/** Nothing where the new messages tell of another format than the conversation was taken to have. */
function goneOn({ one, length }: Found, asked: Asked, messages: readonly unknown[]): Folded | undefined {
  const { said, plan } = asked;
  const samePlan = plan !== undefined && plan !== null && isSame(plan, one.plan);
  const newer = Array.from({ length: messages.length - length }, (_, at) => messages[length + at]); // a class may slice in its own way
  let more: Fields;
  try {
    more = writeTape({ request: { messages: newer }, said, plan: samePlan ? undefined : plan }, true) as Fields;
  } catch (error) {
    if (!(error instanceof WarmfoldError)) throw error;
    return foldedOnce(asked); // to name the place in all of the messages
  }
  return orElse(() => drop(one.number), () => {
    const written = returned<Written<Decision & Patched> | undefined>(() => wasm().goOn(one.number, samePlan));
    if (!written) return undefined;
    const { patches, texts } = written.samePatches ? one : { patches: written.outcome.patches, texts: written.texts };
    const outcome = withEdits(written, plan?.edits ?? (written.sameEdits ? (valueOf(editsIn(one.plan)) as Plan["edits"]) : undefined));
    const before = written.sameEdits && (plan === undefined || samePlan) ? one.plan : undefined;
    wentOn(one, ((more.values[0] as Fields).values[0] as Items).values, messages, { plan: shadowOfPlan(outcome.plan, before), patches, texts });
    return { ...outcome, patches, texts };
  });
}

/** Whether Rust has gone further than what is noted here. */
let torn = false;

/** What fails half-way leaves nothing behind; where the stack is too full to clean up, the next call gives the instance up. */
function orElse<T>(cleanUp: () => void, call: () => T): T {
  torn = true;
  try {
    const result = call();
    torn = false;
    return result;
  } catch (error) {
    cleanUp();
    torn = false;
    throw error;
  }
}

type Exported = "decide" | "render" | "replay" | "stats" | "sessionStats" | "statsTexts";

/** Of a message array; what else there is of the request stands among the options. */
function run<O>(name: Exported, messages: unknown, options: FoldOptions, beside?: { recorded: object } | { counts: number[] }): Written<O> {
  const [request, { plan, cold, usage, calibration, ...rest }] = ofMessages(messages, options);
  const written = inWasm(name, () => {
    writeTape({ request, options: rest, alone: true, said: { cold, usage, calibration }, plan, ...beside });
    return returned<Written<O>>(wasm()[name]);
  });
  withEdits(written as Written<Decision>, plan?.edits);
  return written;
}

function ofMessages(messages: unknown, options: FoldOptions): [request: object, options: FoldOptions] {
  const { system, tools, toolChoice, ...rest } = anObject(options);
  return [{ messages, system, tools, tool_choice: toolChoice }, rest];
}

/** The outcome; edits that stayed as they were did not cross again. */
function withEdits<O extends Decision>({ sameEdits, outcome }: { sameEdits: boolean; outcome: O }, edits: Plan["edits"] | undefined): O {
  if (sameEdits) outcome.plan.edits = edits!;
  return outcome;
}

let busy = false;

/** One call at a time works in wasm memory. */
function inWasm<T>(name: string, work: () => T): T {
  if (busy) throw new WarmfoldError("reentrant", "a getter of the input called warmfold again: pass plain values", name);
  busy = true;
  try {
    if (torn) release(true);
    torn = false;
    checkInstance();
    return work();
  } finally {
    busy = false;
    if (release()) {
      forget();
      dropAll();
    }
  }
}

function ofRequest(options: RequestOptions): FoldOptions {
  const given = anObject(options) as FoldOptions;
  const told = (["system", "tools", "toolChoice"] as const).find((name) => given[name] !== undefined);
  if (told) throw new WarmfoldError("invalid_option", "it is read from the request: leave it out", `options.${told}`);
  return options;
}

/** The length that the bytes have, whatever an own property says. */
const lengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), "length")!.get!;

/** What is put in stands in one array of bytes, one behind the other. */
function splicesOf(places: Bytes, texts: Bytes): Splice[] {
  const numbers = new DataView(places.buffer, places.byteOffset, places.length);
  const number = (at: number) => numbers.getUint32(4 * at, true);
  let from = 0;
  return Array.from({ length: places.length / 12 }, (_, at) => {
    const bytes = texts.subarray(from, (from += number(3 * at + 2)));
    return { start: number(3 * at), end: number(3 * at + 1), bytes };
  });
}

function spliced(body: Uint8Array, splices: readonly Splice[]): Bytes {
  const whole = lengthOf.call(body) as number;
  const result = new Uint8Array(splices.reduce((length, { start, end, bytes }) => length + bytes.length - (end - start), whole));
  let [at, to] = [0, 0];
  for (const { start, end, bytes } of [...splices, { start: whole, end: whole, bytes: new Uint8Array() }]) {
    result.set(body.subarray(at, start), to);
    result.set(bytes, (to += start - at));
    [at, to] = [end, to + bytes.length];
  }
  return result;
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
