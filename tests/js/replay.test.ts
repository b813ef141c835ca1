/** `replay`: a transcript call by call against the simulated cache, on small transcripts whose figures can be told by hand. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { replay, type CacheProfile, type ReplayOptions, type ReplayReport, type WarmfoldErrorCode } from "warmfold";
import { refusal, type Message } from "./histories.js";

const line = (number: number) => `the setting number ${number} of the long configuration file`;
const FILE = Array.from({ length: 200 }, (_, number) => line(number)).join("\n");

function tool(id: string, name: string, argument: object, result: string, said: string | null = null): Message[] {
  return [
    { role: "assistant", content: said, tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(argument) } }] },
    { role: "tool", tool_call_id: id, content: result },
  ];
}

/** Five calls: the file is read, quoted while it is there, and quoted again after it was cut. */
const transcript: Message[] = [
  { role: "user", content: "What does the configuration say?" },
  ...tool("1", "read_file", { path: "app.conf" }, FILE),
  ...tool("2", "run_tests", { filter: "first" }, "ok", line(100)),
  ...tool("3", "run_tests", { filter: "second" }, "ok"),
  ...tool("4", "run_tests", { filter: "third" }, "ok"),
  { role: "assistant", content: `It says:\n${line(101)}\n${line(102)}` },
];
/** Cuts the file to nothing once two calls have held it; a quote saves nothing. */
const policy: ReplayOptions = {
  when: "budget",
  budgetTokens: 500,
  protectRecentTurns: 1,
  protectQuotedCalls: 0,
  byKind: { read: { protectCalls: 2, maxBytes: 1000, keepHeadBytes: 0, keepTailBytes: 0 } },
  cache: "anthropic-5m",
};
/** An answer every so many seconds. */
const paced = (...seconds: (number | null)[]): (number | null)[] =>
  transcript.map(({ role }, index) => {
    const answer = transcript.slice(0, index).filter(({ role }) => role === "assistant").length;
    const time = role === "assistant" ? seconds[answer] : null;
    return typeof time === "number" ? time * 1000 : null;
  });

describe("a report", () => {
  test("has a row for each call, and adds them up", () => {
    const report: ReplayReport = replay(transcript, policy);
    const { byCall } = report;
    const sum = (field: "tokens" | "cost" | "costWithout" | "cached" | "lostQuotes") => byCall.reduce((total, call) => total + call[field], 0);
    assert.deepEqual(byCall.map(({ upTo }) => upTo), [1, 3, 5, 7, 9]);
    assert.equal(report.calls, 5);
    assert.equal(report.tokens, sum("tokens"));
    assert.equal(report.cost, sum("cost"));
    assert.equal(report.costWithout, sum("costWithout"));
    assert.equal(report.cachedShare, sum("cached") / report.tokens);
    assert.equal(report.lostQuotes, sum("lostQuotes"));
    assert.equal(report.folds, byCall.filter(({ folded }) => folded).length);
    assert.ok(report.tokens < report.tokensWithout);
  });

  test("is empty for no messages, and the same each time", () => {
    assert.deepEqual(replay([]).byCall, []);
    assert.deepEqual(replay(transcript, policy), replay(transcript, policy));
  });

  test("does without folding what `when: \"never\"` does", () => {
    for (const asScored of [false, true]) {
      const folding = replay(transcript, { ...policy, asScored });
      const never = replay(transcript, { ...policy, asScored, when: "never" });
      assert.ok(folding.folds > 0 && folding.cost !== folding.costWithout);
      assert.equal(never.folds, 0);
      for (const report of [folding, never]) {
        assert.equal(report.costWithout, never.cost);
        assert.equal(report.tokensWithout, never.tokens);
        assert.equal(report.cachedShareWithout, never.cachedShare);
      }
      assert.equal(never.effective, never.cost);
    }
  });
});

describe("quotes", () => {
  test("are lost where the line no longer stands in the prompt", () => {
    const { quotes, lostQuotes, hurtCalls, cost, effective, byCall } = replay(transcript, policy);
    assert.deepEqual({ quotes, lostQuotes, hurtCalls }, { quotes: 3, lostQuotes: 2, hurtCalls: 1 });
    assert.deepEqual(byCall.map(({ lostQuotes }) => lostQuotes), [0, 0, 0, 0, 2]);
    assert.ok(byCall.some(({ folded }) => folded));
    assert.ok(effective > cost);
  });

  test("are not where it is kept, or nothing was cut", () => {
    assert.equal(replay(transcript, { ...policy, byKind: { read: { protectCalls: 5 } } }).lostQuotes, 0);
    assert.equal(replay(transcript, { ...policy, when: "never" }).lostQuotes, 0);
  });

  test("cost another call, and carrying the result", () => {
    const { byCall, cost, effective } = replay(transcript, { ...policy, asScored: true });
    const result = FILE.length / 4 + 4;
    const again = 0.1 * byCall[4]!.tokens + 1.25 * (result + 60) + 0.1 * result; // one call is left
    assert.ok(Math.abs(effective - cost - again) < 1e-6);
  });
});

describe("times", () => {
  test("make a call cold after a gap over the lifetime", () => {
    const { coldCalls, byCall } = replay(transcript, { ...policy, times: paced(0, 300, 601, 602, 603) });
    assert.equal(coldCalls, 1);
    assert.deepEqual(byCall.map(({ cold }) => cold), [false, false, true, false, false]);
    assert.equal(byCall[2]!.cachedWithout, 0);
    assert.ok(byCall[3]!.cachedWithout > 0);
  });

  test("may be missing", () => {
    assert.equal(replay(transcript, { ...policy, times: paced(0, null, 1000, null, 2000) }).coldCalls, 0);
    assert.equal(replay(transcript, { ...policy, times: [] }).coldCalls, 0);
  });

  test("are held against the lifetime of the given cache", () => {
    const cache: CacheProfile = { read: 0.1, write: 1, ttlMs: 10_000 };
    assert.equal(replay(transcript, { ...policy, cache, times: paced(0, 10, 21, 32, 33) }).coldCalls, 2);
  });
});

describe("figures", () => {
  const finite = (value: unknown): boolean =>
    typeof value === "number" ? Number.isFinite(value) : typeof value !== "object" || value === null || Object.values(value).every(finite);
  test("stay finite at the dearest prices and with any times and lifetimes", () => {
    for (const ttlMs of [0, 1, Number.MAX_VALUE])
      for (const read of [0, 1e6]) {
        const report = replay(transcript, { ...policy, cache: { read, write: 1e6, ttlMs }, times: paced(0, 1, 1e9, 1e300, 1e305), expectedCalls: 2 ** 32 - 1 });
        assert.ok(finite(report), JSON.stringify(report));
      }
  });
});

describe("asScored", () => {
  const tokens = (...messages: Message[]) => replay([...messages, { role: "assistant", content: "" }], { asScored: true }).byCall.at(-1)!.tokens;

  test("counts four bytes a token, and four tokens a message", () => {
    assert.equal(tokens({ role: "user", content: "hi, 深" }), 7 / 4 + 4);
    const { cost, effective } = replay([{ role: "user", content: "12345678" }, { role: "assistant", content: "" }], { asScored: true, cache: "anthropic-5m" });
    assert.deepEqual([cost, effective], [7.5, 7.5]);
  });

  test("counts tool calls as Python writes JSON, and 300 tokens an image", () => {
    const [call] = tool("id-1", "read", { path: 'a "b"\n' }, "");
    const written = '{"id": "id-1", "type": "function", "function": {"name": "read", "arguments": "{\\"path\\":\\"a \\\\\\"b\\\\\\"\\\\n\\"}"}}';
    assert.deepEqual(JSON.parse(written), call!.tool_calls![0]);
    assert.equal(tokens({ role: "user", content: "" }, call!, { role: "tool", tool_call_id: "id-1", content: "" }), written.length / 4 + 3 * 4);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    assert.equal(tokens({ role: "user", content: [image, image] }), 600 + 4);
  });

  test("reads from the cache whatever was sent, however short", () => {
    const short: Message[] = [{ role: "user", content: "1234" }, { role: "assistant", content: "5678" }, { role: "user", content: "go on" }, { role: "assistant", content: "" }];
    assert.deepEqual(replay(short, { asScored: true }).byCall.map(({ cached }) => cached), [0, 5]);
    assert.deepEqual(replay(short).byCall.map(({ cached }) => cached), [0, 0]); // under the minimum
  });
});

describe("what is refused", () => {
  const cases: [options: unknown, code: WarmfoldErrorCode, path: string][] = [
    [{ times: "now" }, "invalid_option", "options.times"],
    [{ times: [0, "1"] }, "invalid_option", "options.times[1]"],
    [{ times: [-1] }, "invalid_option", "options.times[0]"],
    [{ times: [NaN] }, "invalid_option", "options.times[0]"],
    [{ times: [Infinity] }, "invalid_option", "options.times[0]"],
    [{ cache: { read: 0.1, write: 1e300, ttlMs: 1 } }, "invalid_option", "options.cache.write"],
    [{ cache: { read: 0.1, write: 1, ttlMs: Infinity } }, "invalid_option", "options.cache.ttlMs"],
    [{ cache: { read: NaN, write: 1, ttlMs: 1 } }, "invalid_option", "options.cache.read"],
    [{ asScored: "yes" }, "invalid_option", "options.asScored"],
    [{ preset: "bold" }, "invalid_option", "options.preset"],
    [{ asscored: true }, "unknown_option", "options.asscored"],
    [null, "invalid_option", "options"],
    ["fast", "invalid_option", "options"],
  ];
  for (const [options, code, path] of cases) {
    test(`${path}: ${JSON.stringify(options)}`, () => {
      const error = refusal(() => replay(transcript, options as ReplayOptions));
      assert.deepEqual({ code: error.code, path: error.path }, { code, path });
    });
  }

  test("messages that are none", () => {
    assert.equal(refusal(() => replay("hi" as unknown as Message[])).path, "messages");
    assert.equal(refusal(() => replay([{ role: "user", content: "hi" }, {}])).path, "messages[1].role");
  });

  test("what a replay decides itself, by the compiler too", () => {
    // @ts-expect-error the plan of each call is that of the call before
    assert.equal(refusal(() => replay([], { plan: null })).path, "options.plan");
    // @ts-expect-error told by times
    assert.equal(refusal(() => replay([], { cold: true })).path, "options.cold");
    // @ts-expect-error milliseconds, not text
    replay([], { times: [] as string[] });
  });

  test("times that are not one for each message", () => {
    for (const length of [1, transcript.length - 1, transcript.length + 1]) {
      const error = refusal(() => replay(transcript, { times: Array.from({ length }, () => 1) }));
      assert.equal(error.path, "options.times");
      assert.match(error.message, new RegExp(`each of the ${transcript.length} messages, got ${length}`));
    }
  });

  test("answers that come before earlier ones; other messages may be listed as they were sent", () => {
    const error = refusal(() => replay(transcript, { times: paced(0, 300, null, 299, 603) }));
    assert.deepEqual([error.code, error.path], ["invalid_option", "options.times[7]"]);
    assert.match(error.message, /299000 is before 300000, the time of the answer in messages\[3\]/);
    const shuffled = paced(0, 300, 301, 302, 303).map((time, at) => (transcript[at]!.role === "assistant" ? time : 1e9 - at));
    assert.equal(replay(transcript, { ...policy, times: shuffled }).coldCalls, 0);
  });
});
