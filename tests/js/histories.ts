/** Generated Chat histories and options, and what the laws need to look at them. */
import fc from "fast-check";
import { WarmfoldError, type FoldOptions, type FoldResult } from "warmfold";

export type Part = string | { type: string; text?: string; [field: string]: unknown };
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}
export interface Message {
  role: string;
  content?: string | Part[] | null;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  [field: string]: unknown;
}

const LINES = [
  "const answer = compute(41) + 1; // the usual\n",
  "[2026-01-01T00:00:00Z] GET /api/items/17 200 12ms\n",
  "日本語のテキストと中文文本。\n",
  "👩‍👩‍👧‍👦 🦀 é 🇩🇪\r\n",
  "lone \ud83d high, lone \udc00 low\n",
  "\u001b[31merror\u001b[0m: expected `;`, \\n found \"\\u00e9\"\n",
  "\u0000 a NUL and no newline ",
];
const IMAGE = `data:image/png;base64,${"iVBORw0KGgo".repeat(40)}`;
const TOOLS = ["read_file", "grep", "bash", "write_file", "memory_save", "todo_write"];
const PATHS = ["a.ts", "src/b.rs", "Ünï[c]ode.md"];

/** Few texts, so that copies come up; long enough that edits pay. */
const text = fc.tuple(fc.constantFrom(...LINES), fc.constantFrom(0, 1, 5, 20, 60)).map(([line, times]) => line.repeat(times));
const image: fc.Arbitrary<Part> = fc.constant({ type: "image_url", image_url: { url: IMAGE, detail: "low" } });
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: text.map((text): Part => ({ type: "text", text, id: "kept" })) },
  { weight: 1, arbitrary: image },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom<Part>({ type: "text", text: "marked", cache_control: { type: "ephemeral" } }, { type: "text", text: "marked", cache_control: { type: "ephemeral", ttl: "1h" } }) },
);
const content = fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: fc.array(part, { maxLength: 3 }) });
const unknownFields = fc.constantFrom<object>({}, {}, {}, { name: "ann" }, { metadata: { tags: ["x", { deep: true }], none: null } });
const reasoning = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: text.map((reasoning) => ({ reasoning })) },
  { weight: 1, arbitrary: text.map((reasoning_content) => ({ reasoning_content })) },
  { weight: 1, arbitrary: text.map((text) => ({ reasoning_details: [{ type: "reasoning.text", text, signature: "s" }] })) },
);

const toolCall = fc.record({
  id: fc.constantFrom("x", "call_1", "call_2", "call_3"), // ids repeat in real traffic
  name: fc.constantFrom(...TOOLS),
  path: fc.constantFrom(...PATHS),
  range: fc.constantFrom({}, {}, { offset: 10, limit: 5 }),
  result: content,
  unknown: unknownFields,
});

const toolRound: fc.Arbitrary<Message[]> = fc
  .record({ said: fc.option(text), reasoning, calls: fc.array(toolCall, { minLength: 1, maxLength: 3 }), turned: fc.boolean() })
  .map(({ said, reasoning, calls, turned }) => {
    const asked = calls.map(({ id, name, path, range }): ToolCall => ({ id, type: "function", function: { name, arguments: JSON.stringify({ path, ...range }) } }));
    const results = calls.map(({ id, result, unknown }): Message => ({ role: "tool", tool_call_id: id, content: result, ...unknown }));
    return [{ role: "assistant", ...reasoning, content: said, tool_calls: asked }, ...(turned ? results.reverse() : results)];
  });
const answer = fc.tuple(content, reasoning).map(([content, reasoning]): Message[] => [{ role: "assistant", content, ...reasoning }]);
const userTurn = fc.tuple(content, unknownFields).map(([content, unknown]): Message[] => [{ role: "user", content, ...unknown }]);
const odd = fc.constantFrom<Message[]>(
  [{ role: "system", content: "A later instruction." }],
  [{ role: "tool", tool_call_id: "nobody", content: LINES[1]!.repeat(40) }],
  [{ role: "assistant", content: "Hm.", reasoning: LINES[0]!.repeat(20) }, { role: "assistant" }],
  [{ role: "function", name: "legacy", content: LINES[0]!.repeat(40) }],
);

/** Any history: it may lack a system message, begin anywhere, and have objects without a prototype in it. */
export const histories: fc.Arbitrary<Message[]> = fc
  .record({
    system: fc.constantFrom<Message[]>([], [{ role: "system", content: "You are careful." }], [
      { role: "developer", content: [{ type: "text", text: "You are careful." }] },
      { role: "system", content: "Be brief." },
    ]),
    rounds: fc.array(
      fc.oneof({ weight: 8, arbitrary: toolRound }, { weight: 2, arbitrary: userTurn }, { weight: 2, arbitrary: answer }, { weight: 1, arbitrary: odd }),
      { maxLength: 14, size: "max" },
    ),
    bare: fc.boolean(),
  })
  .map(({ system, rounds, bare }) => [...system, ...rounds.flat()].map((message) => frozen(bare ? withoutPrototypes(message) : structuredClone(message))));

const policies = {
  preset: fc.constantFrom("careful", "balanced", "thrifty", "spec"),
  when: fc.constantFrom("pays", "pays", "pays", "budget", "budget", "never"),
  budgetTokens: fc.constantFrom(50, 300, 1000, 3000, 100_000),
  floorRatio: fc.constantFrom(0.3, 0.75, 1),
  protectRecentTurns: fc.constantFrom(0, 1, 2, 4),
  maxToolResultBytes: fc.constantFrom(0, 200, 2000),
  keepHeadBytes: fc.constantFrom(0, 64, 300),
  keepTailBytes: fc.constantFrom(0, 64, 300),
  minSavedBytes: fc.constantFrom(0, 120),
  byKind: fc.constantFrom({ read: { protectCalls: 0 } }, { read: { protectCalls: 2, maxBytes: 300 }, run: { protectCalls: 0, keepHeadBytes: 40 } }),
  protectQuotedCalls: fc.constantFrom(0, 1, 5),
  expectedCalls: fc.constantFrom(0, 1000),
  elideStaleReads: fc.boolean(),
  collapseDuplicateResults: fc.boolean(),
  elideSupersededReads: fc.boolean(),
  dropReasoning: fc.boolean(),
  toolKinds: fc.constant({ bash: "read", memory_save: "run" }),
  resourceOf: fc.constant({ grep: ["path"] }),
  pins: fc.array(fc.oneof(fc.nat(20), fc.record({ message: fc.nat(20), part: fc.nat(2) })), { maxLength: 3 }),
  toolChoice: fc.constant({ type: "function", function: { name: "read_file" } }),
  cache: fc.constantFrom("anthropic-1h", "openai", "none"),
  completionReserve: fc.constant(10),
  model: fc.constant({ contextWindow: 2000 }),
  fitToWindow: fc.boolean(),
  label: fc.constantFrom("router", "x".repeat(120)),
  maxBreakpoints: fc.nat(4),
  milestoneTokens: fc.constantFrom(50, 500),
} satisfies { [name in keyof FoldOptions]?: fc.Arbitrary<unknown> };

/** All options that may change between two calls without a word to the cache; the window is never too small for the reserve. */
export const policy = fc
  .record(policies, { requiredKeys: ["budgetTokens", "protectRecentTurns", "maxToolResultBytes"] })
  .map((options) => ("model" in options ? { completionReserve: 10, ...options } : options) as FoldOptions);

const beside = <T>(more: { [name in keyof T]: fc.Arbitrary<T[name]> }) =>
  fc.record({ tools: fc.constant([{ type: "function", function: { name: "grep" } }]), ...more }, { requiredKeys: [] }) as fc.Arbitrary<FoldOptions>;

/** What stands beside the messages, and must be the same on every call: a block goes into the messages, a separate prompt stays outside. */
export const surroundings = fc.oneof(
  beside({ contextBlock: fc.constantFrom("Project notes:\n- be kind 🦀", "") }),
  beside({ system: fc.constant("Separate.") }),
);

/** Lengths of the history at each model call, as the planner counts them. */
export function callLengths(history: readonly Message[]): number[] {
  return [...history.keys()].filter((at) => at > 0 && history[at]!.role === "assistant").concat(history.length);
}

/** What the provider gets of each message, as bytes. */
export const wire = (messages: readonly unknown[]): string[] => messages.map((message) => JSON.stringify(message));

/** What `fold` returned with its own marks taken off again; `plain` is the same without marks asked for. */
export function withoutMarks(result: Pick<FoldResult<Message>, "messages" | "marks">, plain: readonly Message[]): Message[] {
  const messages = structuredClone(result.messages);
  for (const { at, part } of result.marks) {
    if (part === undefined || typeof at !== "number") continue;
    const message = messages[at]!;
    const marked = (message.content as Part[])[part] as Record<string, unknown>;
    delete marked.cache_control;
    delete marked.prompt_cache_breakpoint;
    if (typeof plain[at]!.content === "string") message.content = marked.text as string;
  }
  return messages;
}

export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

export function withoutPrototypes<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypes) as T;
  return Object.assign(Object.create(null), Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutPrototypes(item)])));
}

/** Runs it, and gives back the WarmfoldError that it must throw. */
export function refusal(run: () => unknown): WarmfoldError {
  try {
    run();
  } catch (thrown) {
    if (WarmfoldError.isInstance(thrown)) return thrown;
    throw new Error(`expected a WarmfoldError, got ${String(thrown)}`, { cause: thrown });
  }
  throw new Error("expected a WarmfoldError, nothing was thrown");
}
