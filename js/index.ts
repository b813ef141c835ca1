/** warmfold: shortens the old tool results in an agent's message history when that saves more than it costs in the provider's prompt cache. */

import { applyPatches, type Patch } from "./apply.js";
import { WarmfoldError, asWarmfoldError } from "./errors.js";
import { forget, writeTape } from "./tape.js";
import type { Decision, FoldOptions, FoldResult, Plan, Rendered, ReplayOptions, ReplayReport } from "./types.js";
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

let busy = false;

function run<O>(name: "fold" | "decide" | "render" | "replay", messages: unknown, options: FoldOptions, recorded?: object): Written<O> {
  if (busy) throw new WarmfoldError("reentrant", "a getter of the input called warmfold again: pass plain values", name);
  const { plan, system, tools, toolChoice, ...rest } = anObject(options);
  busy = true;
  try {
    writeTape({ request: { messages, system, tools, tool_choice: toolChoice }, options: rest, plan, recorded });
    const written = returned<O>(wasm()[name]);
    if (written.sameEdits) (written.outcome as Decision).plan.edits = plan!.edits;
    return written;
  } finally {
    busy = false;
    if (release()) forget();
  }
}

function anObject<O extends object>(options: O): O {
  if (typeof options === "object" && options !== null) return options;
  throw new WarmfoldError("invalid_option", "expected an object of options; leave it out for the defaults", "options");
}

/** What a getter of the host threw passes through; what Rust refused becomes a WarmfoldError. */
function returned<O>(exported: () => unknown): Written<O> {
  try {
    return exported() as Written<O>;
  } catch (thrown) {
    throw asWarmfoldError(thrown);
  }
}
