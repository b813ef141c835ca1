/** The one error that callers see. */

/** Stable codes; see `src/error.rs` for what each means. */
export type WarmfoldErrorCode =
  | "not_an_array"
  | "invalid_message"
  | "missing_role"
  | "unknown_format"
  | "invalid_option"
  | "unknown_option"
  | "unsupported_option"
  | "invalid_plan"
  | "window_too_small"
  | "class_instance"
  | "cyclic"
  | "too_deep"
  | "too_large"
  | "invalid_json"
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
