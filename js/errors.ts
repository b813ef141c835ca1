/** The one error that callers see. */

/** Stable codes. All but `reentrant` and `too_large` say that the input is wrong: sending the same again will not help. */
export type WarmfoldErrorCode =
  /** The messages are not an array. */
  | "not_an_array"
  /** What should be a request, a message or one of its fields is something else. */
  | "invalid_message"
  /** A message has no `role`. */
  | "missing_role"
  /** No format that this version reads fits the messages. */
  | "unknown_format"
  /** An option has a value outside its range or of another type. */
  | "invalid_option"
  /** There is no such option. */
  | "unknown_option"
  /** An option, or a value of it, that this version does not carry out yet. */
  | "unsupported_option"
  /** The plan is not a plan: wrong shape, or of a newer version. */
  | "invalid_plan"
  /** Window × headroom − reserve leaves nothing for the prompt. */
  | "window_too_small"
  /** An edit would have to go through an instance of a class. */
  | "class_instance"
  /** A value contains itself. */
  | "cyclic"
  /** A value is nested over 512 levels. */
  | "too_deep"
  /** Over 1 GiB of text or values. */
  | "too_large"
  /** A body is not JSON. */
  | "invalid_json"
  /** A getter of the input called warmfold again. */
  | "reentrant";

const MARKER = Symbol.for("warmfold.error");

/**
 * A refused input: `code` is stable, `path` names the fault, the message says what to do.
 * The host's data is untouched, and the plan it holds is still valid.
 */
export class WarmfoldError extends Error {
  override readonly name = "WarmfoldError";
  readonly code: WarmfoldErrorCode;
  readonly path?: string;

  constructor(code: WarmfoldErrorCode, message: string, path?: string) {
    super(path === undefined ? message : `${path}: ${message}`);
    this.code = code;
    if (path !== undefined) this.path = path;
    Object.defineProperty(this, MARKER, { value: true });
  }

  /** Like `instanceof`, and true across duplicate installs and realms too. */
  static isInstance(value: unknown): value is WarmfoldError {
    return typeof value === "object" && value !== null && MARKER in value;
  }
}

/** What Rust returned as an error, as the class; anything else as it is. */
export function asWarmfoldError(thrown: unknown): unknown {
  const { code, path, message } = (thrown ?? {}) as { code?: unknown; path?: unknown; message?: unknown };
  if (thrown instanceof Error || typeof code !== "string" || typeof message !== "string") return thrown;
  return new WarmfoldError(code as WarmfoldErrorCode, message, typeof path === "string" ? path : undefined);
}
