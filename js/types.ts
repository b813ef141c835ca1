/** What goes in and what comes out. Tokens are estimates; bytes are UTF-8; times are milliseconds. */

export type Format = "openai-chat";
export type ToolKind = "read" | "search" | "list" | "fetch" | "write" | "verify" | "run" | "memory" | "other";
/** `folded` and `fits` in a word. */
export type Verdict = "untouched" | "carried" | "folded" | "cannotFit";
export type CacheProfileName = "anthropic-5m" | "anthropic-1h" | "openai" | "openai-5.6" | "gemini" | "deepseek" | "none";

/** What cached tokens cost, in uncached input tokens, and how long they live unread. */
export interface CacheProfile {
  read: number;
  write: number;
  ttlMs: number;
}

export interface ModelInfo {
  id?: string;
  /** Tokens, prompt and completion together. */
  contextWindow?: number;
  maxOutputTokens?: number;
  cache?: CacheProfile | CacheProfileName;
  /** Of a million uncached input tokens. */
  inputPrice?: number;
}

/** Index of a message in the history, or one part of it. */
export type EntryRef = number | { message: number; part?: number };

export interface FoldOptions {
  // this call
  /** What the last call returned. Omitted: derived from the history, warm without storage. `null`: a new or imported conversation. */
  plan?: Plan | null;
  /** Default: the plan's, else recognised. */
  format?: Format;
  /** A system prompt that is not among the messages, to be counted. */
  system?: unknown;
  /** The tools schema, to be counted. */
  tools?: unknown;
  /** Text appended to the leading system messages; it must be passed on every call. */
  contextBlock?: string;
  /** A forced tool's results are protected. */
  toolChoice?: unknown;
  model?: ModelInfo;
  /** The host knows that the cache is gone, or how long it has idled. */
  cold?: boolean | { modelSwitched?: boolean; retrying?: boolean; idleMs?: number };
  /** The provider's last report, cached reads and writes included; `upTo` is how many messages that request was made from. */
  usage?: { inputTokens: number; upTo: number };
  /** What must stay whole. */
  pins?: EntryRef[];

  // policy
  /** Default true. */
  enabled?: boolean;
  /** Default "spec", the preset that this version has. */
  preset?: "spec";
  /** Default "budget". "never" keeps the edits in force and adds none. */
  when?: "budget" | "never";
  /** Default: by model id, else "anthropic-5m". */
  cache?: CacheProfile | CacheProfileName;
  /** Default 40,000. */
  budgetTokens?: number;
  /** A fold goes down to this share of the limit. Default 1; 0.75 folds more rarely. */
  floorRatio?: number;
  /** Whether the window is a limit too, where `model.contextWindow` is known. Default true. */
  fitToWindow?: boolean;
  /** Share of the window that may be filled. Default 0.9. */
  contextHeadroom?: number;
  /** Tokens kept free for the answer. Default 4,096. */
  completionReserve?: number;
  /** Newest turns that no new edit touches. Default 4. */
  protectRecentTurns?: number;
  /** Results over this are truncated. Default 4,096 bytes. */
  maxToolResultBytes?: number;
  /** Default 512. */
  keepHeadBytes?: number;
  /** Default 512. */
  keepTailBytes?: number;
  /** An edit that saves less is not made. Default 120 bytes. */
  minSavedBytes?: number;
  /** Calls still to come. Default: the larger of 10 and the calls so far. */
  expectedCalls?: number;
  /** Default true. */
  collapseDuplicateResults?: boolean;
  /** Default true. */
  elideSupersededReads?: boolean;
  /** Default true. */
  dropReasoning?: boolean;
  /** Per tool: what it does, where its name does not tell. */
  toolKinds?: Record<string, ToolKind>;
  /** Per tool: the names of the arguments that say what a call is about. */
  resourceOf?: Record<string, string[]>;

  // output
  /** "none": breakpoints are returned only. Else they are written into the messages too. Default "none". */
  marks?: "none" | "anthropic" | "openai";
  /** The caller's own marks included. Default 4. */
  maxBreakpoints?: number;
  /** Distance of milestones in tokens of four bytes. Default 20,000. */
  milestoneTokens?: number;
  /** Our name in breadcrumbs. Default "warmfold". */
  label?: string;
}

/** Plain JSON. Store it, and pass it to the next call; what is in it is the library's. */
export interface Plan {
  version: number;
  format: Format;
  model?: string;
  context?: { system: string; tools: string; block: string };
  edits: Edit[];
  request?: { upTo: number; estimate: number };
  scale?: { ratio: number; upTo: number };
}

/** An entry, shortened: each piece is a span of the original in bytes, or generated text. */
export interface Edit {
  message: number;
  part: number;
  tool?: string;
  fingerprint: string;
  /** Estimated tokens of the whole content. */
  tokens?: number;
  rule: "duplicate" | "superseded" | "truncated" | "reasoning";
  since: number;
  pieces: ([from: number, to: number] | string)[];
  target?: { message: number; part: number; fingerprint: string };
}

/** A breakpoint: the index into the returned messages, and the part that a mark was written into. */
export interface Mark {
  at: number;
  part?: number;
}

export interface Report {
  tokensBefore: number;
  tokensAfter: number;
  tokensSaved: number;
  messagesElided: number;
  editsCarried: number;
  /** Made at this call, of entries that had none. */
  editsAdded: number;
  /** Replaced at this call by shorter ones. */
  editsLowered: number;
  editsDropped: number;
  /** First returned message that this call's edits changed. */
  foldedFrom?: number;
  /** Edits that are eligible and held back. */
  pending: number;
  /** Calls after which this fold has earned what it made useless in the cache. */
  paysAfterCalls?: number;
  /** Tool calls made again after their result was shortened. */
  refetches: number;
  reasons: string[];
  cannotFit?: { floorTokens: number; limitTokens: number; reason: string; entry?: { message: number; part: number } };
}

export interface Decision {
  plan: Plan;
  /** Ascending indices into the messages that `fold` returns. */
  breakpoints: number[];
  marks: Mark[];
  /** Whether an edit was added, lowered, dropped or released: the only kind of call that may rewrite what the provider has cached. */
  folded: boolean;
  /** Whether the prompt fits the model's window, where that is known. */
  fits: boolean;
  verdict: Verdict;
  report: Report;
}

export interface FoldResult<M> extends Decision {
  /** Unedited messages are the very same objects. For the request only, never to be stored as the history. */
  messages: M[];
}

export interface Rendered<M> {
  messages: M[];
  breakpoints: number[];
  marks: Mark[];
}
