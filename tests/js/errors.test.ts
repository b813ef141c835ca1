/** Bad input: each gives a WarmfoldError with a stable code, the path to the fault and what to do, and harms nothing. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { WarmfoldError, decide, fold, render, type FoldOptions, type Plan, type WarmfoldErrorCode } from "warmfold";
import { frozen, refusal, type Message } from "./histories.js";

type Case = [name: string, input: unknown, code: WarmfoldErrorCode, path: string, ...advice: string[]];

const user: Message = { role: "user", content: "hi" };
const agentic = frozen<Message[]>([
  user,
  ...["a.ts", "b.ts", "c.ts"].flatMap((path): Message[] => [
    { role: "assistant", content: null, tool_calls: [{ id: path, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } }] },
    { role: "tool", tool_call_id: path, content: `// ${path}\n`.repeat(1000) },
  ]),
]);
const tight = frozen<FoldOptions>({ preset: "spec", budgetTokens: 1000, protectRecentTurns: 1 });
const expected = fold(agentic, tight);
const { plan } = expected;
assert.equal(expected.folded, true);

/** Each case is refused as it says, and a good call after it gives what it always gave. */
function refused(cases: Case[], run: (input: unknown) => unknown): void {
  for (const [name, input, code, path, ...advice] of cases) {
    test(name, () => {
      const error = refusal(() => run(frozen(input))); // a write to what is frozen would throw another error
      assert.deepEqual({ code: error.code, path: error.path }, { code, path });
      assert.ok(error instanceof Error && error instanceof WarmfoldError && error.name === "WarmfoldError");
      assert.ok(error.message.startsWith(`${path}: `), error.message);
      for (const words of advice) assert.ok(error.message.includes(words), error.message);
      assert.deepEqual(fold(agentic, tight), expected);
    });
  }
}

/** `levels` objects, one inside the other. */
function nested(levels: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}

/** An object with a way back to itself; `around` stands before that in the same object. */
function cycle(around: object, key = "self"): Record<string, unknown> {
  const value: Record<string, unknown> = { ...around };
  value[key] = value;
  return value;
}

const deepCycle = { role: "user", content: "x", metadata: { trace: { spans: [cycle({ name: "root" }, "parent")] } } };
const ownMember: unknown[] = [user];
ownMember.push(ownMember);

describe("messages", () => {
  const anArray = "expected an array of messages, as the provider's API takes them";
  const aRole = "every message needs a role: system, developer, user, assistant or tool";
  refused(
    [
      ["undefined", undefined, "not_an_array", "messages", anArray],
      ["null", null, "not_an_array", "messages", anArray],
      ["a text", "hi", "not_an_array", "messages", anArray],
      ["a whole request", { messages: [user] }, "not_an_array", "messages", anArray],
      ["a set", new Set([user]), "not_an_array", "messages", anArray],
      ["a message that is a text", [user, "hi"], "invalid_message", "messages[1]", "expected a message object"],
      ["a message that is null", [null], "invalid_message", "messages[0]", "expected a message object"],
      ["a message that is an array", [user, [user]], "invalid_message", "messages[1]", "expected a message object"],
      ["a hole", [user, , user], "invalid_message", "messages[1]", "expected a message object"],
      ["no role", [user, { content: "x" }], "missing_role", "messages[1].role", aRole],
      ["a role that is a number", [{ role: 1, content: "x" }], "missing_role", "messages[0].role", aRole],
      ["a content that is a number", [user, { role: "user", content: 5 }], "invalid_message", "messages[1].content", "expected a string, an array of parts, or null"],
      ["a content that is a part", [{ role: "user", content: { type: "text", text: "x" } }], "invalid_message", "messages[0].content", "an array of parts"],
      ["a content that is a Date", [{ role: "user", content: new Date(0) }], "invalid_message", "messages[0].content", "expected a string"],
      ["tool calls that are no array", [user, { role: "assistant", tool_calls: {} }], "invalid_message", "messages[1].tool_calls", "expected an array of tool calls"],
      ["blocks of two formats", [{ role: "user", content: [{ type: "tool_result", tool_use_id: "x" }, { type: "image_url", image_url: { url: "data:," } }] }], "unknown_format", "messages[0]", "convert them first"],
      ["items of Responses among Chat messages", [user, { type: "function_call", name: "x" }, { role: "tool", tool_call_id: "x", content: "" }], "unknown_format", "messages[1]", "convert them first"],
      ["2,000 levels", [{ ...user, extra: nested(2000) }], "too_deep", "messages[0].extra.value.value", "512 levels", "flatten the value, or send it as text"],
      ["a cycle", [user, cycle(user)], "cyclic", "messages[1].self", "it contains itself", "break the cycle"],
      ["a cycle deep inside", [deepCycle], "cyclic", "messages[0].metadata.trace.spans[0].parent", "break the cycle"],
      ["a cycle beside other objects", [user, cycle({ role: "user", content: [{ type: "text", text: "x" }] })], "cyclic", "messages[1].self", "break the cycle"],
      ["an array in itself", ownMember, "cyclic", "messages[1]", "break the cycle"],
    ],
    (messages) => fold(messages as Message[]),
  );
});

describe("options", () => {
  const whole = "a whole number";
  const share = "a share over 0 and at most 1";
  const notYet = "this version does not carry it out yet: leave it out";
  const one = (value: Record<string, unknown>, path: string, ...advice: string[]): Case => [
    `${path} ${typeof Object.values(value)[0]}`, value, "invalid_option", `options.${path}`, ...advice,
  ];
  refused(
    [
      ["null", null, "invalid_option", "options", "expected an object of options", "leave it out for the defaults"],
      ["a text", "spec", "invalid_option", "options", "expected an object of options"],
      ...[0, -1, 1.5, Infinity, 2 ** 32, "40000", 10n, new Date(0), () => 1].map((value) => one({ budgetTokens: value }, "budgetTokens", whole)),
      ...[0, -0.5, 1.5, NaN, "0.5"].flatMap((value) => [one({ floorRatio: value }, "floorRatio", share), one({ contextHeadroom: value }, "contextHeadroom", share)]),
      ...["completionReserve", "protectRecentTurns", "maxToolResultBytes", "keepHeadBytes", "keepTailBytes", "minSavedBytes", "expectedCalls", "protectQuotedCalls"].map((name) =>
        one({ [name]: -1 }, name, whole),
      ),
      ...["enabled", "fitToWindow", "collapseDuplicateResults", "elideSupersededReads", "elideStaleReads", "dropReasoning"].map((name) => one({ [name]: 1 }, name, "true or false")),
      one({ milestoneTokens: 0 }, "milestoneTokens", whole),
      one({ maxBreakpoints: 5 }, "maxBreakpoints", "0 to 4", "the most that providers take"),
      one({ label: "[router]" }, "label", "printable ASCII characters without brackets"),
      one({ label: "" }, "label", "1 to 120"),
      one({ contextBlock: ["x"] }, "contextBlock", "a text"),
      one({ pins: 3 }, "pins", "an array"),
      one({ pins: [0, -1] }, "pins[1]", "the index of a message or { message, part }"),
      one({ pins: [{ part: 1 }] }, "pins[0].message", "missing"),
      one({ pins: [{ message: 1, parts: 1 }] }, "pins[0].parts", "there is no such field", "did you mean part?"),
      one({ cold: "yes" }, "cold", "true, false or { modelSwitched, retrying, idleMs }"),
      one({ cold: { idle: 1 } }, "cold.idle", "there is no such field", "idleMs"),
      one({ cold: { idleMs: NaN } }, "cold.idleMs", "a number of at least 0"),
      one({ usage: { inputTokens: 100 } }, "usage.upTo", "missing"),
      one({ usage: { inputTokens: 0, upTo: 1 } }, "usage.inputTokens", "at least 1"),
      one({ usage: { input_tokens: 5, upTo: 1 } }, "usage.input_tokens", "there is no such field", "did you mean inputTokens?"),
      one({ model: "gpt-5.6" }, "model", "an object"),
      one({ model: { contextWindow: 0 } }, "model.contextWindow", "at least 1"),
      one({ model: { window: 1 } }, "model.window", "there is no such field", "contextWindow"),
      one({ cache: "claude" }, "cache", "anthropic-5m", "{ read, write, ttlMs }"),
      one({ cache: { read: 0.1 } }, "cache.write", "missing"),
      one({ cache: { read: 0.1, write: 1, ttlMs: 1, ttl: 5 } }, "cache.ttl", "there is no such field", "did you mean ttlMs?"),
      one({ cache: { read: 0.1, write: 1, ttlMs: 1, granularityTokens: 0 } }, "cache.granularityTokens", "at least 1"),
      one({ cache: { read: -1, write: 1, ttlMs: 1 } }, "cache.read", "at least 0"),
      one({ toolKinds: { cat: "reed" } }, "toolKinds.cat", "read, search"),
      one({ toolKinds: ["read"] }, "toolKinds", "an object by tool name"),
      one({ resourceOf: { cat: "path" } }, "resourceOf.cat", "an array"),
      one({ resourceOf: { cat: [1] } }, "resourceOf.cat[0]", "a text"),
      one({ marks: "claude" }, "marks", "none, anthropic, openai"),
      one({ when: "always" }, "when", "pays, budget, never"),
      one({ preset: "fast" }, "preset", "careful, balanced, thrifty, spec"),
      one({ byKind: ["read"] }, "byKind", "an object by kind"),
      one({ byKind: { reads: {} } }, "byKind.reads", "there is no such field", "did you mean read?"),
      one({ byKind: { read: { calls: 1 } } }, "byKind.read.calls", "there is no such field", "protectCalls, maxBytes"),
      one({ byKind: { read: { maxBytes: -1 } } }, "byKind.read.maxBytes", whole),
      one({ format: "chat" }, "format", "openai-chat"),
      ["a window that the reserve fills", { model: { contextWindow: 4000 } }, "window_too_small", "options.completionReserve", "lower completionReserve, or choose a larger model"],
      ["a near name", { floorRatoi: 0.5 }, "unknown_option", "options.floorRatoi", "did you mean floorRatio?"],
      ["a near name in another case", { budget_tokens: 5 }, "unknown_option", "options.budget_tokens", "did you mean budgetTokens?"],
      ["a short name", { budgt: 5 }, "unknown_option", "options.budgt", "did you mean budgetTokens?"],
      ["a near name of what TypeScript keeps", { toolchoice: "auto" }, "unknown_option", "options.toolchoice", "did you mean toolChoice?"],
      ["a name from inside", { contextWindow: 5 }, "unknown_option", "options.contextWindow", "did you mean model.contextWindow?"],
      ["a name of a replay", { times: [] }, "unknown_option", "options.times", "no option of this call"],
      ["a far name", { temperature: 1 }, "unknown_option", "options.temperature", "the options are", "budgetTokens"],
      ["a plan in place of options", plan, "unknown_option", "options.version", "the options are"],
      ...Object.entries({
        dropImages: "fit", summarize: {},
      }).map(([name, value]): Case => [name, { [name]: value }, "unsupported_option", `options.${name}`, notYet]),
    ],
    (options) => fold([user], options as FoldOptions),
  );

  test("what is not there yet may be off, and null is not given", () => {
    const off = { outline: false, dropImages: false, budgetTokens: null, marks: null, cold: null, label: undefined };
    assert.deepEqual(fold([user], off as unknown as FoldOptions), fold([user]));
  });

  test("numbers are shown as they were written", () => {
    assert.match(refusal(() => fold([user], { budgetTokens: 0 })).message, /got 0$/);
  });
});

describe("the plan", () => {
  const advice = "pass the plan that the last call returned, unchanged, or null to start anew";
  const edit = plan.edits[0]!;
  const bad = (path: string, change: object): Case => [`${path} = ${JSON.stringify(Object.values(change)[0])}`, { ...plan, ...change }, "invalid_plan", `plan.${path}`, advice];
  const badEdit = (path: string, change: object): Case => bad(`edits[0].${path}`, { edits: [{ ...edit, ...change }] });
  refused(
    [
      ["a number", 5, "invalid_plan", "plan", "expected an object", advice],
      ["an array", [], "invalid_plan", "plan", advice],
      ["its JSON text", JSON.stringify(plan), "invalid_plan", "plan", "JSON.parse"],
      ["nothing in it", {}, "invalid_plan", "plan.version", "missing", advice],
      ["a cyclic one", cycle(plan), "cyclic", "plan.self", "break the cycle"],
      bad("version", { version: plan.version + 1 }),
      bad("version", { version: "1" }),
      bad("format", { format: "telegram" }),
      bad("format", { format: undefined }),
      bad("model", { model: 5 }),
      bad("context", { context: "x" }),
      bad("context.tools", { context: { tools: 7 } }),
      bad("request.estimate", { request: { upTo: 1 } }),
      bad("request.upTo", { request: { upTo: -1, estimate: 1 } }),
      bad("scale.upTo", { scale: { ratio: 1 } }),
      ...[-1, 0, 1e300].map((ratio) => bad("scale.ratio", { scale: { ratio, upTo: 1 } })),
      bad("edits", { edits: {} }),
      bad("edits", { edits: undefined }),
      bad("edits[0]", { edits: [null] }),
      badEdit("message", { message: 1.5 }),
      badEdit("part", { part: -1 }),
      badEdit("tool", { tool: {} }),
      badEdit("fingerprint", { fingerprint: 5 }),
      badEdit("rule", { rule: "shortened" }),
      badEdit("since", { since: null }),
      badEdit("pieces", { pieces: "x" }),
      badEdit("pieces[0]", { pieces: [5] }),
      badEdit("pieces[0]", { pieces: [[9, 3]] }),
      badEdit("pieces[1]", { pieces: ["x", [1, 2, 3]] }),
      badEdit("target.fingerprint", { target: { message: 0, part: 0 } }),
    ],
    (plan) => fold(agentic, { ...tight, plan: plan as Plan }),
  );

  refused(
    [
      ["null to render", null, "invalid_plan", "plan", "pass the plan that the last call returned"],
      ["no plan to render", undefined, "invalid_plan", "plan", "pass the plan that the last call returned"],
    ],
    (plan) => render(agentic, plan as Plan),
  );

  test("of another conversation: its edits are dropped, which is reported, and none lands on this one's text", () => {
    const other = agentic.map((message): Message => (message.role === "tool" ? { ...message, content: `${message.content} of another` } : message));
    const { messages, folded, report } = fold(other, { plan, when: "never" });
    assert.deepEqual(messages, other);
    assert.equal(folded, true);
    assert.equal(report.editsDropped, plan.edits.length);
    assert.match(report.reasons.join("\n"), /no longer has the text they were made for/);
  });

  test("with spans out of range or inside a character: those edits are dropped", () => {
    const crabs = agentic.map((message): Message => (message.role === "tool" ? { ...message, content: "🦀".repeat(2000) } : message));
    const { edits, ...rest } = fold(crabs, tight).plan;
    assert.equal(fold(crabs, { ...tight, plan: { ...rest, edits } }).report.editsCarried, edits.length);
    for (const span of [[0, 8001], [4e9, 4e9], [1, 4], [0, 6]] as [number, number][]) {
      const cut = edits.map((edit) => ({ ...edit, pieces: [span] }));
      assert.equal(fold(crabs, { plan: { ...rest, edits: cut }, when: "never" }).report.editsDropped, edits.length);
    }
  });
});

describe("WarmfoldError", () => {
  const copy = createRequire(import.meta.url)("../../pkg/cjs/warmfold.js") as typeof import("warmfold");

  test("is told across two copies of the module", () => {
    const [ours, theirs] = [refusal(() => fold(null as never)), refusal(() => copy.fold(null as never))];
    assert.notEqual(copy.WarmfoldError, WarmfoldError);
    assert.equal(theirs instanceof WarmfoldError, false);
    assert.equal(ours.message, theirs.message);
    const told = [WarmfoldError, copy.WarmfoldError].flatMap(({ isInstance }) => [ours, theirs].map((error) => isInstance(error)));
    assert.deepEqual(told, [true, true, true, true]);
  });

  test("is nothing else", () => {
    const alike = Object.assign(new Error("x"), { code: "cyclic", path: "messages" });
    for (const value of [null, undefined, 5, "x", alike, { ...alike }, {}, () => 1]) assert.equal(WarmfoldError.isInstance(value), false);
  });

  test("is what decide and render throw too", () => {
    for (const run of [() => decide(null as never), () => render(null as never, plan)]) assert.equal(refusal(run).code, "not_an_array");
  });
});
