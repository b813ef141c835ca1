/** Time grows with the length of a history, not with its square, whatever is in it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fold, replay, type FoldOptions } from "warmfold";
import type { Message } from "./histories.js";

const SHORT = 1000;
const TIMES_LONGER = 8;
/** Linear is 8, quadratic 64; the machine may be busy. */
const MOST = 25;

const tight: FoldOptions = { preset: "spec", budgetTokens: 1000, protectRecentTurns: 1, maxToolResultBytes: 100, keepHeadBytes: 20, keepTailBytes: 20, minSavedBytes: 10 };
const text = "const answer = compute(41) + 1;\n".repeat(20);

function rounds(length: number, path: (at: number) => string, content: (at: number) => string): Message[] {
  const round = (_: unknown, at: number): Message[] => [
    { role: "assistant", content: null, tool_calls: [{ id: `c${at}`, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path: path(at) }) } }] },
    { role: "tool", tool_call_id: `c${at}`, content: content(at) },
  ];
  return [{ role: "user", content: "x" }, ...Array.from({ length }, round).flat()];
}

const HISTORIES: Record<string, (length: number) => Message[]> = {
  "different results": (length) => rounds(length, (at) => `p${at}`, (at) => text + at),
  "the same result over and over": (length) => rounds(length, (at) => `p${at}`, () => text),
  "one file read over and over": (length) => rounds(length, () => "p", (at) => text + at),
  "one result of many parts": (length) => [
    ...rounds(1, () => "p", () => text).slice(0, -1),
    { role: "tool", tool_call_id: "c0", content: Array.from({ length }, (_, at) => ({ type: "text", text: text + at })) },
    { role: "user", content: "y" },
    { role: "assistant", content: "z" },
  ],
  "one id for all calls, answered in the end": (length) => {
    const calls = rounds(length, (at) => `p${at}`, () => "").filter(({ role }) => role === "assistant");
    calls.forEach((call) => (call.tool_calls![0]!.id = "x"));
    return [...calls, ...calls.map((_, at): Message => ({ role: "tool", tool_call_id: "x", content: text + at })), { role: "user", content: "y" }];
  },
};

for (const [name, make] of Object.entries(HISTORIES)) {
  for (const [plan, options] of Object.entries<FoldOptions>({ "a new plan": { ...tight, plan: null }, "a derived plan": tight, "a derived plan, always over": { ...tight, budgetTokens: 1, minSavedBytes: 1000 } })) {
    test(`${name}, ${plan}`, () => {
      const [short, long] = [make(SHORT), make(SHORT * TIMES_LONGER)];
      const growth = ratio((messages) => fold(messages, options), long, short);
      assert.ok(growth < MOST, `${TIMES_LONGER} times the messages took ${growth.toFixed(1)} times as long`);
    });
  }
}

for (const [name, make] of Object.entries(HISTORIES)) {
  test(`${name}, replayed`, () => {
    const [short, long] = [make(SHORT), make(SHORT * TIMES_LONGER)];
    const growth = ratio((messages) => replay(messages), long, short);
    assert.ok(growth < MOST, `${TIMES_LONGER} times the messages took ${growth.toFixed(1)} times as long`);
  });
}

/** Of the fastest of a few runs of each, in turn; with new objects, since of the same ones only what is new is read. */
function ratio(run: (messages: Message[]) => unknown, long: Message[], short: Message[]): number {
  const fastest = [Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    for (const [which, messages] of [long, short].entries()) {
      const anew = structuredClone(messages);
      const start = performance.now();
      run(anew);
      fastest[which] = Math.min(fastest[which]!, performance.now() - start);
    }
  }
  return fastest[0]! / fastest[1]!;
}
