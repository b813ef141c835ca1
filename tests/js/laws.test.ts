/** The laws of DESIGN.md where objects matter, over generated histories. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { decide, fold, render, type FoldOptions, type FoldResult, type Plan } from "warmfold";
import { callLengths, frozen, histories, policy, surroundings, wire, withoutMarks, type Message } from "./histories.js";

const RUNS = { numRuns: 150 };
const options = fc.tuple(policy, surroundings).map(([policy, surroundings]): FoldOptions => frozen({ ...policy, ...surroundings }));
const MARK = /"(cache_control|prompt_cache_breakpoint)":/g;
const block = { contextBlock: "Project notes 🦀" };

/** A property of one history under one set of options. */
function law(name: string, check: (history: Message[], options: FoldOptions) => void): void {
  test(name, () => fc.assert(fc.property(histories, options, check), RUNS));
}

/** Folds call by call, as an agent's loop does; `optionsOf` may give other options at each. */
function* calls(history: Message[], optionsOf: (call: number) => FoldOptions, plan?: Plan | null) {
  for (const [call, length] of callLengths(history).entries()) {
    const result: FoldResult<Message> = fold(history.slice(0, length), { ...optionsOf(call), plan });
    yield { length, result };
    if (plan !== undefined) plan = result.plan;
  }
}

/** Law 4, between a call and the one before it. `messages` are without marks. */
function assertWarm(before: string[] | undefined, messages: string[], { folded, report }: FoldResult<Message>): void {
  if (!before) return;
  if (folded) assert.notEqual(report.foldedFrom, undefined);
  const same = Math.min(report.foldedFrom ?? Infinity, before.length);
  assert.deepEqual(messages.slice(0, same), before.slice(0, same));
}

describe("untouched is untouched", () => {
  law("the input is as it was", (history, options) => {
    const before = structuredClone(history);
    fold(history, options); // everything is frozen: writing to it would throw
    assert.deepEqual(structuredClone(history), before);
  });

  law("unedited messages and unedited parts are the host's own, edited ones keep their keys in order", (history, options) => {
    const { contextBlock: _, ...rest } = options;
    const { messages, plan } = fold(history, rest);
    assert.equal(messages.length, history.length);
    const edited = new Map(history.map((_, at) => [at, plan.edits.filter((edit) => edit.message === at)]));
    for (const [at, message] of messages.entries()) {
      const original = history[at]!;
      const edits = edited.get(at)!;
      if (edits.length === 0) {
        assert.equal(message, original);
        continue;
      }
      assert.equal(Object.getPrototypeOf(message), Object.getPrototypeOf(original));
      const dropped = edits.some((edit) => edit.rule === "reasoning") ? /^reasoning/ : /^$/;
      assert.deepEqual(Object.keys(message), Object.keys(original).filter((key) => !dropped.test(key)));
      for (const key of Object.keys(message)) if (key !== "content") assert.equal(message[key], original[key]);
      if (!Array.isArray(original.content)) continue;
      for (const [index, part] of original.content.entries()) {
        const now: unknown = (message.content as typeof original.content)[index]!;
        if (!edits.some((edit) => edit.part === index)) assert.equal(now, part);
        else if (typeof part === "object") assert.deepEqual({ ...(now as object), text: 0 }, { ...part, text: 0 });
      }
    }
  });

  law("disabled, messages and plan come back as given", (history, options) => {
    const { plan } = fold(history, options);
    const result = fold(history, { ...options, plan, enabled: false });
    assert.ok(result.messages.every((message, at) => message === history[at]));
    assert.deepEqual(result.plan, plan);
    assert.equal(result.folded, false);
  });
});

describe("the plan is plain JSON", () => {
  law("it survives a round trip, and a database that sorts keys", (history, options) => {
    const { messages: _, ...decision } = fold(history, options);
    assert.deepEqual(JSON.parse(JSON.stringify(decision)), decision);
    const carried = fold(history, { ...options, plan: decision.plan });
    assert.deepEqual(fold(history, { ...options, plan: JSON.parse(JSON.stringify(decision.plan)) }), carried);
    assert.deepEqual(fold(history, { ...options, plan: sorted(decision.plan) }), carried);
  });

  law("carrying it again changes nothing", (history, options) => {
    const first = fold(history, options);
    const second = fold(history, { ...options, plan: first.plan });
    assert.deepEqual(wire(second.messages), wire(first.messages));
    assert.deepEqual(second.plan, first.plan);
    assert.equal(second.folded, false);
  });
});

describe("warm", () => {
  for (const [name, plan] of [["a carried plan", null], ["no plan given", undefined]] as const) {
    law(`each call extends the one before it, with ${name}`, (history, options) => {
      let before: string[] | undefined;
      // Without a plan each call recognises the format anew, and beside a separate system prompt the first messages may be Anthropic's, too.
      for (const { result } of calls(history, () => ({ format: "openai-chat", ...options }), plan)) {
        const messages = wire(result.messages);
        assertWarm(before, messages, result);
        before = messages;
      }
    });
  }

  law("no plan given is what carrying gives", (history, options) => {
    const derived = calls(history, () => options);
    for (const { length, result } of calls(history, () => options, null)) {
      const { messages, plan } = derived.next().value!.result;
      assert.deepEqual(wire(messages), wire(result.messages), `call with ${length} messages`);
      assert.deepEqual(plan, result.plan);
    }
  });

  const changing = fc.array(
    fc.tuple(policy, fc.record({ marks: fc.constantFrom("anthropic", "openai", "none"), factor: fc.constantFrom(0.5, 1, 3), cold: fc.boolean() }, { requiredKeys: [] })),
    { minLength: 1, maxLength: 6 },
  );
  test("each call extends the one before it, whatever options change between the two", () => {
    fc.assert(
      fc.property(histories, surroundings, changing, (history, surroundings, policies) => {
        let before: { length: number; messages: string[]; result: FoldResult<Message> } | undefined;
        const optionsOf = (call: number): FoldOptions => {
          const [policy, { marks, factor, cold }] = policies[call % policies.length]!;
          const usage = before && factor && { inputTokens: Math.ceil(before.result.report.tokensAfter * factor) || 1, upTo: before.length };
          return { ...surroundings, ...policy, ...(marks && { marks }), ...(usage && { usage }), ...(cold && { cold: { idleMs: 1e9 } }) };
        };
        let call = 0;
        for (const { length, result } of calls(history, optionsOf, null)) {
          const plain = render(history.slice(0, length), result.plan, surroundings).messages;
          assert.deepEqual(wire(withoutMarks(result, plain)), wire(plain), `marks of call ${call++}`);
          const messages = wire(plain);
          assertWarm(before?.messages, messages, result);
          before = { length, messages, result };
        }
      }),
      RUNS,
    );
  });
});

describe("one decision", () => {
  law("twice the same bytes", (history, options) => {
    assert.equal(JSON.stringify(fold(history, options)), JSON.stringify(fold(structuredClone(history), structuredClone(options))));
  });

  law("decide says what fold does", (history, options) => {
    const { messages: _, ...decision } = fold(history, options);
    assert.deepEqual(decide(history, options), decision);
    const { marks, ...decided } = decide(history, { ...options, marks: "anthropic" });
    const { messages: __, marks: written, ...folded } = fold(history, { ...options, marks: "anthropic" });
    assert.deepEqual(decided, folded);
    assert.deepEqual(marks.map(({ at }) => at), written.map(({ at }) => at));
  });

  law("render replays what fold gave, object by object", (history, options) => {
    const { messages, plan } = fold(history, options);
    const replayed = render(history, plan, options);
    assert.deepEqual(replayed.messages, messages);
    assert.deepEqual(wire(replayed.messages), wire(messages));
  });
});

describe("breakpoints", () => {
  law("ascend, and are indices into the returned messages", (history, options) => {
    const { messages, breakpoints, marks } = fold(history, options);
    assert.ok(breakpoints.length <= (options.maxBreakpoints ?? 4));
    assert.ok(breakpoints.every((at, index) => at < messages.length && at > (breakpoints[index - 1] ?? -1)), String(breakpoints));
    const apart = marks.length - breakpoints.length; // a system prompt apart has no index
    assert.deepEqual(marks.slice(0, apart), apart && options.system !== undefined ? [{ at: "system" }] : []);
    assert.deepEqual(marks.slice(apart), breakpoints.map((at) => ({ at })));
  });

  for (const [marks, key] of [["anthropic", "cache_control"], ["openai", "prompt_cache_breakpoint"]] as const) {
    law(`marks for ${marks}: at most 4, where they say, and removing them gives the output without`, (history, options) => {
      const marked = fold(history, { ...options, marks });
      const plain = render(history, marked.plan, options); // marks bound what can be read again, so they may decide when a fold is made
      assert.ok(count(marked.messages, MARK) <= Math.max(4, count(history, MARK)));
      for (const { at, part } of marked.marks) {
        if (part !== undefined) assert.ok(key in ((marked.messages[at as number]!.content as object[])[part] as object));
      }
      assert.deepEqual(wire(withoutMarks(marked, plain.messages)), wire(plain.messages));
    });
  }
});

describe("context block", () => {
  law("is one message more, or the end of the leading system messages; indices follow", (history, options) => {
    const { contextBlock: _, system: __, ...rest } = options; // a separate system prompt takes no block
    const result = fold(history, { ...rest, ...block });
    const rendered = render(history, result.plan, rest).messages;
    const leading = history.findIndex(({ role }) => role !== "system" && role !== "developer");
    const last = (leading < 0 ? history.length : leading) - 1;
    const shift = last < 0 ? 1 : 0;
    if (shift) assert.deepEqual(result.messages[0], { role: "system", content: block.contextBlock });
    else assert.ok(JSON.stringify(result.messages[last]).includes(block.contextBlock));
    for (const [at, message] of rendered.entries()) {
      if (at !== last) assert.deepEqual(result.messages[at + shift], message);
    }
    const { report, messages } = result;
    if (report.foldedFrom !== undefined) assert.notEqual(messages[report.foldedFrom], history[report.foldedFrom - shift]);
  });

  law("is recognised where it stands already", (history, options) => {
    const { system: _, ...rest } = options;
    const once = fold(history, { ...rest, ...block, when: "never" }).messages;
    assert.deepEqual(wire(fold(once, { ...rest, ...block, when: "never" }).messages), wire(once));
  });
});

describe("usage", () => {
  law("scales what is estimated, once", (history, options) => {
    const { model: _, ...rest } = options; // the window would refuse a scale of two, rightly
    const sent = fold(history, { ...rest, when: "never" });
    const estimate = sent.plan.request!.estimate;
    if (estimate === 0) return;
    const usage = { inputTokens: estimate * 2, upTo: history.length };
    const learned = fold(history, { ...rest, when: "never", plan: sent.plan, usage });
    assert.equal(learned.plan.scale!.ratio, 2);
    assert.equal(learned.report.tokensAfter, sent.report.tokensAfter * 2);
    const again = fold(history, { ...rest, when: "never", plan: learned.plan, usage });
    assert.deepEqual(again.plan, learned.plan);
    const other = fold(history, { ...rest, when: "never", plan: sent.plan, usage: { ...usage, upTo: history.length + 1 } });
    assert.equal(other.plan.scale, undefined);
    assert.match(other.report.reasons.join("\n"), /usage ignored/);
  });
});

function count(value: unknown, what: RegExp): number {
  return JSON.stringify(value).match(what)?.length ?? 0;
}

function sorted<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted) as T;
  return Object.fromEntries(Object.entries(value).sort().map(([key, item]) => [key, sorted(item)])) as T;
}
