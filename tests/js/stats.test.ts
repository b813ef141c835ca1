/** Statistics and the status bar: what they say is what `fold` says, and what they refuse has a path. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fold, sessionStats, stats, statusBar, type ContextStats, type FoldOptions } from "warmfold";
import { frozen, refusal, type Message } from "./histories.js";

const log = Array.from({ length: 400 }, (_, line) => `line ${line} of a build log`).join("\n");
const call = (id: string, name: string, args: object, result: string): Message[] => [
  { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }] },
  { role: "tool", tool_call_id: id, content: result },
];
const history = frozen<Message[]>([
  { role: "system", content: "Be brief." },
  { role: "user", content: "Why does the build take so long?" },
  ...call("1", "read_file", { path: "build.mjs" }, "export const build = 1;"),
  ...call("2", "bash", { command: "make" }, log),
  ...call("3", "edit_file", { path: "build.mjs", content: "export const build = 2;" }, "edited build.mjs"),
  ...call("4", "run_tests", {}, "12 passed, 0 failed"),
  { role: "assistant", content: "It compiles one by one." },
  { role: "user", content: "Can we compile fewer?" },
]);
const options = frozen<FoldOptions>({ model: { contextWindow: 32_768 }, tools: [{ type: "function", function: { name: "bash", parameters: { type: "object" } } }] });
const sum = (of: object) => Object.values(of).reduce((all: number, part: number) => all + part, 0);

describe("stats", () => {
  test("adds up, and follows from the window", () => {
    const found = sessionStats(history, options);
    assert.deepEqual([found.contextWindow, found.completionReserve, found.promptBudget], [32_768, 4096, 28_672]);
    assert.equal(found.estimatedRemaining, 28_672 - found.estimatedUsed);
    assert.equal(found.utilizationPercent, Math.round((100 * found.estimatedUsed) / 28_672));
    for (const part of [found.roleTokens, found.resolutionTokens, found.phaseTokens]) assert.equal(sum(part), found.estimatedUsed - found.toolSchemaTokens);
    assert.equal(found.systemPromptTokens + found.toolSchemaTokens + found.conversationTokens, found.estimatedUsed);
    assert.equal(found.systemPromptTokens, found.roleTokens.system);
    assert.ok(Object.values(found.phaseTokens).every((tokens) => tokens > 0), JSON.stringify(found.phaseTokens));
    assert.deepEqual([found.messageCount, found.pathEntryCount, found.entryCount], [12, 12, 12]);
    assert.deepEqual([found.compactionTokens, found.compactedEntryCount], [0, 0]);
    const { systemPromptTokens: _, toolSchemaTokens: __, conversationTokens: ___, ...rest } = found;
    assert.deepEqual(stats(history, options), rest);
    assert.equal(JSON.stringify(stats(history, options)), JSON.stringify(rest));
  });

  test("counts what a plan leaves", () => {
    const folded = fold(history, { ...options, plan: null });
    assert.equal(folded.folded, true);
    const sent = stats(history, { ...options, plan: folded.plan });
    assert.equal(sent.estimatedUsed, folded.report.tokensAfter);
    assert.equal(stats(history, options).estimatedUsed, folded.report.tokensBefore);
    assert.ok(sent.resolutionTokens.outlined > 0 && sent.resolutionTokens.outlined < 200);
    assert.deepEqual(stats(history, { ...options, plan: null }), stats(history, options));
    const learned = fold(history, { ...options, plan: folded.plan, usage: { inputTokens: 2 * folded.report.tokensAfter, upTo: history.length } });
    assert.equal(stats(history, { ...options, plan: learned.plan }).estimatedUsed, learned.report.tokensAfter);
  });

  test("without a window there is no share", () => {
    const found = stats(history);
    assert.deepEqual([found.contextWindow, found.promptBudget, found.estimatedRemaining, found.utilizationPercent], [null, null, null, null]);
    assert.match(statusBar(found), /^\d\.\dk tokens │ 12 messages$/);
  });

  test("the host tells its entries and the phase of a tool, and fold takes the same options", () => {
    const told: FoldOptions = { ...options, entryCount: 40, phases: { read_file: "verification" }, count: (text) => text.length };
    assert.equal(stats(history, told).entryCount, 40);
    const plain = stats(history, options).phaseTokens;
    const phases = stats(history, { ...options, phases: { read_file: "verification" } }).phaseTokens;
    assert.ok(phases.exploration < plain.exploration && phases.verification > plain.verification);
    assert.deepEqual(fold(history, told), fold(history, options));
  });

  test("a tokenizer counts the texts, and may use warmfold itself", () => {
    const texts: string[] = [];
    const zero = stats(history, { ...options, count: () => 0 }).estimatedUsed;
    const counted = sessionStats(history, {
      ...options,
      count(text) {
        texts.push(text);
        stats([{ role: "user", content: text }]);
        return text.length;
      },
    });
    assert.ok(texts.includes(log) && texts.includes("Be brief.") && texts.includes('{"command":"make"}') && texts.some((text) => text.includes('"parameters"')));
    assert.equal(counted.estimatedUsed - zero, texts.reduce((all, text) => all + text.length, 0));
    assert.equal(sum(counted.roleTokens), counted.estimatedUsed - counted.toolSchemaTokens);
    const { plan } = fold(history, { plan: null });
    const sent: string[] = [];
    stats(history, { plan, count: (text) => sent.push(text) });
    assert.ok(!sent.includes(log) && sent.some((text) => text.startsWith("[warmfold: ")));
    const thrown = new Error("mine");
    assert.throws(() => stats(history, { count: () => { throw thrown; } }), thrown);
  });

  test("UI messages are counted as what is sent of them", () => {
    const ui = [
      { id: "a", role: "user", parts: [{ type: "text", text: "what is in a.txt?" }] },
      { id: "b", role: "assistant", parts: [
        { type: "step-start" },
        { type: "tool-read", toolCallId: "1", state: "output-available", input: { path: "a.txt" }, output: "hello" },
        { type: "step-start" }, { type: "text", text: "It says hello." },
      ] },
    ];
    const found = stats(ui);
    assert.deepEqual([found.pathEntryCount, found.messageCount], [2, 4]);
    assert.ok(found.roleTokens.tool > 0 && found.phaseTokens.exploration > 0 && found.phaseTokens.conclusion > 0);
  });

  test("what is refused has a code and a path", () => {
    const told = (run: () => unknown) => (({ code, path }) => [code, path])(refusal(run));
    assert.deepEqual(told(() => stats("hi" as never)), ["not_an_array", "messages"]);
    assert.deepEqual(told(() => stats(history, { entryCounts: 1 } as never)), ["unknown_option", "options.entryCounts"]);
    assert.deepEqual(told(() => stats(history, { plan: {} as never })), ["invalid_plan", "plan.version"]);
    assert.deepEqual(told(() => stats(history, { completionReserve: 40_000, model: { contextWindow: 32_768 } })), ["window_too_small", "options.completionReserve"]);
    for (const answer of [-1, 1.5, NaN, "4", 2 ** 32]) {
      assert.deepEqual(told(() => stats(history, { count: () => answer as number })), ["invalid_option", "options.count"], String(answer));
    }
    assert.deepEqual(told(() => stats(history, { count: 3 as never })), ["invalid_option", "options.count"]);
    assert.deepEqual(told(() => stats(history, [] as never)), ["invalid_option", "options"]);
    assert.deepEqual(told(() => statusBar({} as ContextStats)), ["invalid_option", "stats.estimatedUsed"]);
    assert.deepEqual(told(() => statusBar(undefined as never)), ["invalid_option", "stats.estimatedUsed"]);
    assert.deepEqual(told(() => statusBar(stats(history), { width: -1 })), ["invalid_option", "options.width"]);
    assert.deepEqual(told(() => statusBar(stats(history), { colour: true } as never)), ["invalid_option", "options.colour"]);
  });
});

describe("statusBar", () => {
  const half = { estimatedUsed: 12_288, promptBudget: 24_576, messageCount: 10 };

  test("draws the share of the prompt budget", () => {
    assert.equal(statusBar(half), "[██████████░░░░░░░░░░] 12.3k/24.6k tokens (50%) │ 12.3k remaining │ 10 messages");
    assert.equal(statusBar(half, { color: true }), `\u001b[32m[██████████░░░░░░░░░░]\u001b[0m 12.3k/24.6k tokens (50%) │ 12.3k remaining │ 10 messages`);
    assert.match(statusBar({ ...half, estimatedUsed: 17_000 }, { color: true }), /^\u001b\[33m/);
    assert.match(statusBar({ ...half, estimatedUsed: 24_000 }, { color: true }), /^\u001b\[31m/);
  });

  test("is never wider than it may be", () => {
    for (let width = 0; width < 100; width++) assert.ok(statusBar(half, { width }).length <= width, String(width));
    assert.equal(statusBar(half, { width: 12 }), "[███░░░] 50%");
    assert.equal(statusBar(half, { width: undefined, color: undefined }), statusBar(half));
  });
});
