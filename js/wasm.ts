/**
 * The one wasm instance that a copy of this module works with, and when it is replaced.
 *
 * The glue that wasm-bindgen writes keeps the instance in module-level state; `__wbg_reset_state`
 * puts a new one in its place, made from the module that was compiled at `init`.
 */

import * as glue from "../build/bindgen/warmfold.js";

/** What Rust exports, always of the instance in force. */
export interface Wasm {
  readonly memory: WebAssembly.Memory;
  /** Room for `wanted` nodes, of which the first `used` are kept; returns its byte address in memory. */
  tapeNodes(used: number, wanted: number): number;
  /** Room for `wanted` bytes of text, of which the first `used` are kept; returns its byte address in memory. */
  tapeText(used: number, wanted: number): number;
  tapeCommit(nodes: number, keys: number, text: number): void;
  /** Room for so many bytes of a request; returns its byte address in memory. */
  bodyRoom(bytes: number): number;
  /** The same as `fold`, of the request that stands in that room; see `src/wasm.rs`. */
  foldBody(bytes: number, next: number, samePlan: number): unknown;
  fold(): unknown;
  /** The same, kept under this number; the tape is gone afterwards. */
  foldAndKeep(number: number): unknown;
  /** The next call of a conversation that was kept. */
  goOn(number: number, samePlan: boolean): unknown;
  forget(number: number): void;
  decide(): unknown;
  render(): unknown;
  replay(): unknown;
  stats(): unknown;
  sessionStats(): unknown;
  statsTexts(): unknown;
  statusBar(): string;
}

/** Wasm memory never shrinks, and one huge history must not hold its memory for ever. */
const MEMORY_CEILING_BYTES = 256 * 1024 * 1024;

let source: BufferSource | WebAssembly.Module | undefined;
let current: glue.InitOutput | undefined;
let stale = false;

const bound: Wasm = {
  get memory() {
    return current!.memory;
  },
  tapeNodes: guarded(glue.tapeNodes),
  tapeText: guarded(glue.tapeText),
  tapeCommit: guarded(glue.tapeCommit),
  bodyRoom: guarded(glue.bodyRoom),
  foldBody: guarded(glue.foldBody),
  fold: guarded(glue.fold),
  foldAndKeep: guarded(glue.foldAndKeep),
  goOn: guarded(glue.goOn),
  forget: guarded(glue.forget),
  decide: guarded(glue.decide),
  render: guarded(glue.render),
  replay: guarded(glue.replay),
  stats: guarded(glue.stats),
  sessionStats: guarded(glue.sessionStats),
  statsTexts: guarded(glue.statsTexts),
  statusBar: guarded(glue.statusBar),
};

/** Takes the bytes of `warmfold/warmfold.wasm`, or the module compiled from them. Synchronous; only the first call counts. */
export function init(bytesOrModule: ArrayBuffer | Uint8Array | WebAssembly.Module): void {
  if (current) return;
  source = bytesOrModule as BufferSource | WebAssembly.Module;
  // Next.js compiles in one realm and runs edge functions in another; the glue asks whether it is a module of this one.
  if (isModuleOfAnyRealm(source)) Object.setPrototypeOf(source, WebAssembly.Module.prototype);
  current = glue.initSync({ module: source });
}

function isModuleOfAnyRealm(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}

/** The exports to call now. Ask again for each call: memory is another one after `release` or a trap. */
export function wasm(): Wasm {
  if (!current) throw new Error("warmfold/slim needs init(bytes) once, before the first call");
  if (stale) replaceInstance();
  return bound;
}

/** To be called when a call is over and nothing of it is needed from memory any more; tells whether the memory is gone. */
export function release(atOnce = false): boolean {
  if (!current || (!stale && !atOnce && current.memory.buffer.byteLength <= MEMORY_CEILING_BYTES)) return false;
  replaceInstance();
  return true;
}

function replaceInstance(): void {
  // Stale until the end: where the stack is nearly full this too may throw half-way.
  stale = true;
  glue.__wbg_reset_state();
  // Once initialised, initSync only returns the exports in force.
  current = glue.initSync({ module: source! });
  stale = false;
}

/** An instance that was left in the middle of its work is replaced before the next call. */
function guarded<Arguments extends unknown[], Result>(
  call: (...values: Arguments) => Result,
): (...values: Arguments) => Result {
  return (...values) => {
    stale = true; // while it works: at the end of the stack nothing can be called any more that would tell
    try {
      const result = call(...values);
      stale = false;
      return result;
    } catch (thrown) {
      if (isReturnedError(thrown)) stale = false;
      throw thrown;
    }
  };
}

/**
 * Errors that Rust returns carry a `code`. A trap, a stack overflow or what a host's getter threw
 * has none: those unwound through wasm frames. Told by shape, because test runners have realms.
 */
function isReturnedError(thrown: unknown): boolean {
  return typeof (thrown as { code?: unknown } | null | undefined)?.code === "string";
}
