/** What goes in and what comes out. Tokens are estimates; bytes are UTF-8; times are milliseconds. */

/** "ai-sdk" are `ModelMessage`s; "ai-sdk-ui" are `UIMessage`s, for `decide`, `replay` and statistics only; "gemini" are contents of `generateContent`. */
export type Format = "openai-chat" | "anthropic" | "openai-responses" | "ai-sdk" | "ai-sdk-ui" | "gemini";
export type ToolKind = "read" | "search" | "list" | "fetch" | "write" | "verify" | "run" | "memory" | "other";
/** Of work: looking around, changing, checking, answering. */
export type Phase = "exploration" | "execution" | "verification" | "conclusion";
/** `folded` and `fits` in a word. */
export type Verdict = "untouched" | "carried" | "folded" | "cannotFit";
/**
 * Providers' public figures of 2026, which `model.id` makes precise: "openai-4o" is GPT-4o, o1 and o3-mini, "openai-4.1" is GPT-4.1, o3 and
 * o4-mini, "openai" is GPT-5 to 5.5, "openai-5.6" is all from there on.
 */
export type CacheProfileName =
  | "anthropic-5m"
  | "anthropic-1h"
  | "openai"
  | "openai-4o"
  | "openai-4.1"
  | "openai-5.6"
  | "gemini"
  | "deepseek"
  | "mistral"
  | "xai"
  | "none";

/** What cached tokens cost, in uncached input tokens, how long they live unread, and what is cached at all. */
export interface CacheProfile {
  read: number;
  /** No less than `read`. */
  write: number;
  ttlMs: number;
  /** The smallest prefix that is cached. Default 0. */
  minimumTokens?: number | undefined;
  /** Prefixes are cached in steps of this many tokens. Default 1. */
  granularityTokens?: number | undefined;
}

export interface ModelInfo {
  id?: string | undefined;
  /** Tokens, prompt and completion together. */
  contextWindow?: number | undefined;
  /** Of the model's description, which is taken as it is: `fold` does not ask for it. */
  maxOutputTokens?: number | undefined;
  cache?: CacheProfile | CacheProfileName | undefined;
  /** Of a million uncached input tokens; likewise. */
  inputPrice?: number | undefined;
}

/** Index of a message in the history, or one part of it. */
export type EntryRef = number | { message: number; part?: number | undefined };

export interface FoldOptions {
  // this call
  /**
   * What the last call returned. Omitted: derived from the history, warm without storage as long as the other options stay the same.
   * `null`: a new or imported conversation, nothing of which is cached.
   */
  plan?: Plan | null | undefined;
  /** Default: the plan's, else recognised. */
  format?: Format | undefined;
  /** A system prompt that is not among the messages, to be counted. */
  system?: unknown;
  /** The tools schema, to be counted. */
  tools?: unknown;
  /**
   * Text kept at the end of the leading system messages. Pass it, unchanged, on every call: a change makes the cache cold.
   * Where there is no system message one is put in front, and returned indices are shifted by one.
   */
  contextBlock?: string | undefined;
  /** The results of the tool that the model is forced to call are protected. */
  toolChoice?: unknown;
  model?: ModelInfo | undefined;
  /** The host knows that the cache is gone, or how long it has idled. */
  cold?: boolean | { modelSwitched?: boolean | undefined; retrying?: boolean | undefined; idleMs?: number | undefined } | undefined;
  /**
   * The provider's last report: all input tokens (`usage.prompt_tokens` in Chat, `promptTokenCount` in Gemini), cached reads and writes
   * included; `upTo` is the length of the history that the request was made from.
   */
  usage?: { inputTokens: number; upTo: number } | undefined;
  /**
   * What earlier reports have taught of our estimate, by model id: merge each `report.calibration` into it, store it, and pass it on. A
   * conversation that has had no report yet starts from it.
   */
  calibration?: Calibration | undefined;
  /** What must stay whole. */
  pins?: readonly EntryRef[] | undefined;

  // policy
  /** Default true. */
  enabled?: boolean | undefined;
  /**
   * A table of the values below; single options override it. "careful" loses least, "thrifty" saves most, "spec" is the specification
   * as it ships. Default "balanced".
   */
  preset?: "careful" | "balanced" | "thrifty" | "spec" | undefined;
  /**
   * "pays": when edits earn more than rewriting what is cached costs, and over the budget or the window. "budget": only over these.
   * "never" keeps the edits in force and adds none. Default "pays" ("spec": "budget").
   */
  when?: "pays" | "budget" | "never" | undefined;
  /** Default: by model id, else "anthropic-5m". */
  cache?: CacheProfile | CacheProfileName | undefined;
  /** Default: none ("spec": 40,000). */
  budgetTokens?: number | undefined;
  /** Over the limit, a fold goes down to this share of it. Default 0.5 ("spec": 1). */
  floorRatio?: number | undefined;
  /** Whether the window is a limit too, where `model.contextWindow` is known. Default true. */
  fitToWindow?: boolean | undefined;
  /** Share of the window that may be filled. Default 0.9. */
  contextHeadroom?: number | undefined;
  /** Tokens kept free for the answer. Default 4,096. */
  completionReserve?: number | undefined;
  /**
   * What may happen to whole exchanges where shortening results is not enough to fit the window: nothing ("report", the default), a message of
   * ours says what was done in them ("digest"), or they go and one line says so ("evict"). Without `model.contextWindow` nothing happens.
   */
  overflow?: "report" | "digest" | "evict" | undefined;
  /** With `overflow: "digest"`: the share of the prompt budget over which exchanges are digested before they must be. Default 1: not before. */
  autoCompactThreshold?: number | undefined;
  /** Newest turns that no new edit touches, whatever the kind. Default 1 ("spec": 4). */
  protectRecentTurns?: number | undefined;
  /** Calls for which a result stays after the model has quoted a line of it. Default 10 ("careful": 15, "thrifty": 6, "spec": 0). */
  protectQuotedCalls?: number | undefined;
  /** By kind of tool: from which age, over which size, and down to what results are cut. Default: the preset's table. */
  byKind?: Partial<Readonly<Record<ToolKind, KindPolicy>>> | undefined;
  /** `byKind[kind].maxBytes` for every kind at once. */
  maxToolResultBytes?: number | undefined;
  /** The same for `keepHeadBytes`. */
  keepHeadBytes?: number | undefined;
  /** The same for `keepTailBytes`. */
  keepTailBytes?: number | undefined;
  /** An edit that saves less is not made. Default 120 bytes. */
  minSavedBytes?: number | undefined;
  /** Calls still to come. Default: the larger of 10 and the calls so far. */
  expectedCalls?: number | undefined;
  /** Default true. */
  collapseDuplicateResults?: boolean | undefined;
  /** Default true. */
  elideSupersededReads?: boolean | undefined;
  /** A read of a file that was changed since goes. Default true ("spec": false). */
  elideStaleReads?: boolean | undefined;
  /**
   * Whether what stays of a large result is what matters by the kind of its content (signatures, errors, first hits, headings), and not its head
   * and tail. Default false: on recorded sessions it does not keep more of what is quoted yet.
   */
  outline?: boolean | undefined;
  /** Default false ("spec": true). */
  dropReasoning?: boolean | undefined;
  /** Per tool: what it does, where its name does not tell. */
  toolKinds?: Readonly<Record<string, ToolKind>> | undefined;
  /** Per tool: the names of the arguments that say what a call is about. */
  resourceOf?: Readonly<Record<string, readonly string[]>> | undefined;

  // statistics
  /** Per tool: the phase of work that its calls belong to, where their kind does not tell. */
  phases?: Readonly<Record<string, Phase>> | undefined;
  /** Entries of the host's session tree. Default: the messages given. */
  entryCount?: number | undefined;
  /** A tokenizer, for `stats` and `sessionStats` alone: the tokens of a text. What is no text stays estimated. */
  count?: ((text: string) => number) | undefined;

  // output
  /**
   * "none": breakpoints are returned only. "anthropic" writes `cache_control`, which OpenRouter takes on Chat bodies too; "openai" writes
   * `prompt_cache_breakpoint` (GPT-5.6 and later), all but the last, which OpenAI sets itself. A mark on a message whose content is a string
   * makes it one text part. Gemini takes none, and none is written. Default "none".
   */
  marks?: "none" | "anthropic" | "openai" | undefined;
  /** The caller's own marks included. Default 4. */
  maxBreakpoints?: number | undefined;
  /** Distance of milestones in tokens of four bytes. Default 20,000. */
  milestoneTokens?: number | undefined;
  /** Our name in breadcrumbs. Default "warmfold". */
  label?: string | undefined;
}

/** By model id: reported over estimated tokens, and how many reports that was learned from. */
export type Calibration = Readonly<Record<string, { readonly ratio: number; readonly reports: number }>>;

/** Counts tokens as a model does, without its tokenizer, and learns from what its provider reports. Nothing to free. */
export interface Estimator {
  /** Tokens of a text. */
  count(text: string): number;
  /** Takes in what a provider reported for what was estimated by `count`. The first report counts whole, a later one 0.3. */
  observe(reportedTokens: number, estimatedTokens: number): void;
  /** What has been learned, with what was passed in of other models: store it, and pass it on. */
  readonly calibration: Calibration;
}

/** How results of one kind are cut. */
export interface KindPolicy {
  /** A result stays whole until so many earlier calls have held it. */
  protectCalls?: number | undefined;
  /** A result over this is cut. */
  maxBytes?: number | undefined;
  keepHeadBytes?: number | undefined;
  keepTailBytes?: number | undefined;
}

/** Each distribution adds up to `estimatedUsed` without the tools schema. What needs the window is `null` where `model.contextWindow` is not known. */
export interface ContextStats {
  contextWindow: number | null;
  completionReserve: number;
  /** Window less reserve. */
  promptBudget: number | null;
  /** The request as it is sent, scaled by what reported usage has taught the plan. */
  estimatedUsed: number;
  /** Of the prompt budget; no less than 0. */
  estimatedRemaining: number | null;
  /** How much of the prompt budget is used, from 0 to 100. */
  utilizationPercent: number | null;
  /** Of the request as it is sent. */
  messageCount: number;
  /** As told; else `pathEntryCount`. */
  entryCount: number;
  /** The messages given. */
  pathEntryCount: number;
  /** A result is the tool's wherever it stands, a system prompt the system's. */
  roleTokens: { system: number; user: number; assistant: number; tool: number };
  /** `outlined`: parts of the original stay; `summarized`: a line; `pinned`: system prompt, first and last turn, `pins`. */
  resolutionTokens: { full: number; outlined: number; summarized: number; pinned: number };
  /** By the phase of work that an answer and its results belong to. System and user are of none, nor are answers before the first tool call. */
  phaseTokens: Record<Phase | "unclassified", number>;
  /** Of the tokens used, those of digests and of lines in place of what was evicted. */
  compactionTokens: number;
  /** Messages that such a text stands for. */
  compactedEntryCount: number;
}

export interface SessionStats extends ContextStats {
  /** The leading system messages, or a system prompt that stands apart, with the context block. */
  systemPromptTokens: number;
  toolSchemaTokens: number;
  conversationTokens: number;
}

export interface BarOptions {
  /** ANSI colours. Default false. */
  color?: boolean | undefined;
  /** Columns of the line, at the most. */
  width?: number | undefined;
}

export interface ReplayOptions extends Omit<FoldOptions, "plan" | "cold" | "usage" | "calibration"> {
  /**
   * When each message came, in milliseconds, `null` where that is not known. A gap over the cache's lifetime between two answers of the
   * model makes the later call cold; times of other messages do not count. An answer before an earlier one is an error.
   */
  times?: readonly (number | null)[] | undefined;
  /** Reckon as `eval/score.py` does: four bytes a token, and whatever was sent is found again. Default false. */
  asScored?: boolean | undefined;
}

/** What a transcript costs under a policy, and without. Costs are in uncached input tokens. */
export interface ReplayReport {
  calls: number;
  folds: number;
  /** Calls that found the cache gone. */
  coldCalls: number;
  tokens: number;
  tokensWithout: number;
  /** Of the tokens sent, the share that was read from the cache. */
  cachedShare: number;
  cachedShareWithout: number;
  cost: number;
  costWithout: number;
  /** Cost, and what each loss costs if the agent runs the tool again. */
  effective: number;
  /** Lines of results that the model quoted. */
  quotes: number;
  /** Those that no longer stood in the prompt. */
  lostQuotes: number;
  hurtCalls: number;
  byCall: ReplayedCall[];
}

export interface ReplayedCall {
  /** Messages of the history that the request was made from. */
  upTo: number;
  tokens: number;
  cached: number;
  cachedWithout: number;
  cost: number;
  costWithout: number;
  folded: boolean;
  cold: boolean;
  lostQuotes: number;
}

/** Messages of the history, from one up to another, that one message stands for. */
export interface Segment {
  from: number;
  to: number;
  fingerprint: string;
  rule: "digest" | "evicted";
  since: number;
  text: string;
}

/** Plain JSON. Store it, and pass it to the next call; what is in it is the library's. */
export type Plan = {
  version: number;
  format: Format;
  model?: string;
  context?: { system: string; tools: string; block: string };
  edits: Edit[];
  /** Whole exchanges that go out as one message. */
  segments?: Segment[];
  request?: { upTo: number; estimate: number };
  scale?: { ratio: number; upTo: number };
};

/** An entry, shortened: each piece is a span of the original in bytes, or generated text. */
export type Edit = {
  message: number;
  part: number;
  tool?: string;
  fingerprint: string;
  /** Estimated tokens of the whole content. */
  tokens?: number;
  rule: "duplicate" | "superseded" | "stale" | "truncated" | "summarized" | "reasoning";
  since: number;
  pieces: ([from: number, to: number] | string)[];
  target?: { message: number; part: number; fingerprint: string };
};

/**
 * A breakpoint: the index into the returned messages, or what stands before them, and the part that a mark was written into. One without a
 * part is not written: set it yourself, or pass `marks` (and the whole request to `foldRequest`, for one before the messages).
 */
export interface Mark {
  at: number | "system" | "tools";
  part?: number;
}

/** What happened in exchanges that a digest stands for. */
export interface CompactionSummary {
  messages: number;
  calls: { tool: string; calls: number; failed: number }[];
  findings: { errors: number; warnings: number; failedTests: number; passedTests: number };
  /** Exchanges by phase; `null` before the first tool call. */
  phases: { phase: Phase | null; exchanges: number }[];
  filesRead: string[];
  filesEdited: string[];
  /** The first lines of distinct errors. */
  errors: string[];
  /** A narrative in a model's words, where the host has one written. */
  notes?: string;
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
  /** Carried edits that the history no longer matches, that a cold call let go of, or that went with their exchange. */
  editsDropped: number;
  /** Messages of the history that are digested or evicted. */
  messagesCondensed: number;
  /** Digests and evictions made at this call. */
  segmentsAdded: number;
  /** What this call's digests tell, as data. */
  digests?: CompactionSummary[];
  /** For each message of the history the returned message that it is, or that stands for it; absent where each is one message. */
  indexMap?: number[];
  /** First returned message that this call's edits changed. */
  foldedFrom?: number;
  /** Whether the provider's cache was taken to be cold: what was sent before may then be rewritten without a fold. */
  cold: boolean;
  /** Edits that are due and held back, since rewriting what is cached costs more than they have missed; some may be held by quotes alone. */
  pending: number;
  /** What this call's edits cost more than going without, in uncached input tokens; under 0 for a gain at once. */
  foldCost?: number;
  /** What they save on each later call, in uncached input tokens. */
  savedPerCall?: number;
  /** Calls after which this fold has earned what it made useless in the cache. */
  paysAfterCalls?: number;
  /** Tool calls made again after their result was shortened. */
  refetches: number;
  /** What is known by now of the model whose `usage` was taken in at this call. */
  calibration?: Calibration;
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
  /** Whether the prompt fits the model's window, where that is known. Over `budgetTokens` alone it still fits: `report.reasons` says why it stays over. */
  fits: boolean;
  verdict: Verdict;
  report: Report;
}

export interface FoldResult<M> extends Decision {
  /**
   * For the request only, never to be stored as the history. Unedited messages are the very same objects. With `marks` the content of a
   * marked message is an array of parts, and `contextBlock` may put a system message in front.
   */
  messages: M[];
}

/** As `FoldOptions`, without what the request itself says. Its `model` is the model id, unless `model.id` names another. */
export type RequestOptions = Omit<FoldOptions, "system" | "tools" | "toolChoice">;

export interface FoldRequestResult<R> extends Decision {
  /** To be sent, never to be stored. The request given, where nothing changes; else one with other messages. */
  request: R;
}

/** Bytes of an `ArrayBuffer`, as `fetch` takes them; older TypeScript knows no other. */
export type Bytes = ReturnType<Uint8Array["slice"]>;

export interface FoldBodyResult<B extends Uint8Array = Bytes> extends Decision {
  /** To be sent. The bytes given, where nothing changes. */
  body: B | Bytes;
  /** The changes, ascending, for hosts that patch a stream or a buffer of their own. */
  splices: Splice[];
}

/** Bytes `start` up to `end` of the body given are replaced by `bytes`. */
export interface Splice {
  start: number;
  end: number;
  bytes: Uint8Array;
}

export interface Rendered<M> {
  messages: M[];
  breakpoints: number[];
  marks: Mark[];
}
