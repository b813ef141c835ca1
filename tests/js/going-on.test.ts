/** Conversations that go on: what is remembered of an earlier call changes no answer, and is not asked for where it might. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, beforeEach, describe, mock, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { fold, foldBody, foldRequest, WarmfoldError } from "../../js/index.js";
import type { FoldBodyResult, FoldOptions, FoldResult, Plan } from "../../js/types.js";
import { init, wasm } from "../../js/wasm.js";
import { callLengths, histories, policy, surroundings, type Message } from "./histories.js";

const RUNS = { numRuns: 200 };
const LOG = "line of a build log\n".repeat(100);

function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (ArrayBuffer.isView(value) || value instanceof Date) return structuredClone(value);
  return Object.assign(Object.create(Object.getPrototypeOf(value)), Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item)])));
}

const round = (id: string, content: unknown = LOG + id): Message[] =>
  [
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "build", arguments: `{"target":"${id}"}` } }] },
    { role: "tool", tool_call_id: id, content },
  ] as Message[];
const conversation = (length: number, first = "Build it"): Message[] => [{ role: "user", content: first }, ...Array.from({ length }, (_, at) => round(`c${at}`)).flat()];

/** How often a call went on with an earlier one while `run` ran. */
function gone(run: () => void): number {
  const { mock: spy } = mock.method(wasm(), "goOn");
  run();
  spy.restore();
  return spy.callCount();
}

/** The error of a call, if it fails. */
function outcome(run: () => unknown): { e?: string; p?: string | undefined } {
  try {
    return (run(), {});
  } catch (error) {
    assert.ok(WarmfoldError.isInstance(error));
    return { e: error.code, p: error.path };
  }
}

/** What a host does between two calls. */
type Step = { further: number; plan: "last" | "none" | "null" | "copied" | "older"; change: "nothing" | "content" | "field" | "key order" | "tools" | "label"; at: number; signals: FoldOptions };
const step: fc.Arbitrary<Step> = fc.record({
  further: fc.nat(3),
  plan: fc.constantFrom("last", "last", "last", "none", "none", "null", "copied", "older"),
  change: fc.constantFrom("nothing", "nothing", "nothing", "nothing", "content", "field", "key order", "tools", "label"),
  at: fc.nat(30),
  signals: fc.constantFrom<FoldOptions>({}, {}, {}, { cold: true }, { cold: { idleMs: 1e9 } }, { usage: { inputTokens: 900, upTo: 3 } }),
});
const hosts = fc.tuple(histories, policy, surroundings, fc.array(step, { maxLength: 10, minLength: 3 }));

function* steps(history: readonly Message[], options: FoldOptions, all: readonly Step[]) {
  const live = history.map(copyOf);
  const lengths = callLengths(live);
  let [call, given] = [0, { ...options }];
  for (const { further, change, at, ...step } of all) {
    call = Math.min(call + further, lengths.length - 1);
    const message = live[at % Math.max(live.length, 1)];
    if (message && change === "content") message.content = `${JSON.stringify(message.content)} changed`;
    if (message && change === "field") message.name = `n${at}`;
    if (message && change === "key order") for (const [key, value] of Object.entries(message)) (delete message[key], (message[key] = value));
    if (change === "tools") given = { ...given, tools: [{ type: "function", function: { name: `t${at}` } }] };
    if (change === "label") given = { ...given, label: `l${at}` };
    yield { messages: live.slice(0, lengths[call]), given, ...step };
  }
}

function chosen(plans: readonly Plan[], which: Step["plan"]): Plan | null | undefined {
  if (which === "none") return undefined;
  if (which === "null" || plans.length === 0) return null;
  const plan = plans.at(which === "older" ? -2 : -1) ?? null;
  return which === "copied" ? structuredClone(plan) : plan;
}

describe("objects that live on", () => {
  before(() => init(readFileSync(new URL("../../build/warmfold.wasm", import.meta.url))));

  test("whatever a host does between two calls, the answer is that of new objects", () => {
    const property = fc.property(hosts, ([history, policy, surroundings, all]) => {
      const plans: Plan[] = [];
      for (const { messages, given, plan, signals } of steps(history, { ...policy, ...surroundings }, all)) {
        const options = { ...given, ...signals, plan: chosen(plans, plan) };
        const anew = fold(messages.map(copyOf), copyOf(options));
        const result = fold(messages, options);
        assert.deepEqual(result, anew);
        for (const [at, message] of result.messages.entries()) if (typeof message.content === "string" && messages.length === result.messages.length && message.content === messages[at]!.content && Object.keys(message).length === Object.keys(messages[at]!).length) assert.equal(message, messages[at]);
        plans.push(result.plan);
      }
    });
    fc.assert(property, RUNS);
  });

  test("a loop that keeps its messages is read once", () => {
    const messages = conversation(40);
    for (const plan of [null, undefined] as const) {
      let last: Plan | null | undefined = plan;
      const calls = callLengths(messages).slice(5);
      const times = gone(() => {
        for (const length of calls) {
          const { plan } = fold(messages.slice(0, length), { plan: last });
          if (last !== undefined) last = plan;
        }
      });
      assert.ok(times >= calls.length - 3, `${times} of ${calls.length} calls`);
    }
  });

  test("a request object, too", () => {
    const messages = conversation(20);
    let plan: Plan | null = null;
    const times = gone(() => {
      for (const length of callLengths(messages).slice(5)) {
        const request = { model: "gpt-5", tools: [{ type: "function" }], messages: messages.slice(0, length) };
        const result = foldRequest(request, { plan });
        assert.deepEqual(result, foldRequest(copyOf(request), { plan: copyOf(plan) }));
        plan = result.plan;
      }
    });
    assert.ok(times >= 12, `${times}`);
  });

  test("what was returned belongs to the host: changing it changes no later answer", () => {
    const messages = conversation(12);
    let plan: Plan | null = null;
    for (const length of callLengths(messages)) {
      const result: FoldResult<Message> = fold(messages.slice(0, length), { plan });
      plan = structuredClone(result.plan);
      for (const message of result.messages) if (!messages.includes(message)) message.content = "gone";
      result.plan.edits.forEach((edit) => edit.pieces.push("!"));
      result.plan.edits.length = 0;
      assert.deepEqual(fold(messages.slice(0, length), { plan }), fold(copyOf(messages.slice(0, length)), { plan }));
    }
  });

  const CHANGES: Record<string, (messages: Message[]) => unknown> = {
    "a text": (messages) => (messages[2]!.content = LOG),
    "a deeper value": (messages) => ((messages[1]!.tool_calls![0]!.function as { arguments: string }).arguments = "{}"),
    "a field more": (messages) => (messages[2]!.name = "x"),
    "a field less": (messages) => delete messages[1]!.content,
    "a part more": (messages) => (messages[4]!.content as unknown[]).push({ type: "text", text: LOG }),
    "a part of another kind": (messages) => ((messages[4]!.content as unknown[])[0] = { type: "image_url", image_url: { url: "data:," } }),
    "bytes for others": (messages) => (messages[6]!.data = new Uint8Array(90_000)),
    "another prototype": (messages) => Object.setPrototypeOf(messages[2], null),
    "a message in the middle": (messages) => messages.splice(3, 2),
  };
  for (const [name, change] of Object.entries(CHANGES)) {
    test(`a change in place is seen: ${name}`, () => {
      const messages = conversation(6);
      messages[4]!.content = [{ type: "text", text: LOG }];
      messages[6]!.data = new Uint8Array(4);
      fold(messages, { plan: null });
      const { plan } = fold(messages, { plan: null });
      change(messages);
      messages.push(...round("last"));
      assert.equal(gone(() => assert.deepEqual(fold(messages, { plan }), fold(copyOf(messages), { plan }))), 0);
    });
  }

  test("what is bytes, date or frozen goes on while it is the same; of a proxy the values count", () => {
    const messages = conversation(6).map((message, at) => Object.freeze({ ...message, data: [new Uint8Array(9), new Date(), undefined, 10n][at % 4] }));
    const proxied = messages.map((message) => new Proxy(message, {}));
    for (const all of [messages, proxied]) {
      let plan: Plan | null = null;
      const times = gone(() => {
        for (const length of callLengths(all as Message[]).slice(1)) plan = fold(all.slice(0, length), { plan }).plan;
      });
      assert.ok(times >= 3, `${times}`);
    }
  });

  test("instances of a class are refused where an edit would go through them, as ever", () => {
    class ToolMessage {
      role = "tool";
      content = LOG.repeat(10);
      constructor(readonly tool_call_id: string) {}
    }
    const messages: object[] = conversation(4);
    messages[2] = new ToolMessage("c0");
    for (let call = 0; call < 3; call++) {
      assert.throws(() => fold(messages, { plan: null }), (error) => WarmfoldError.isInstance(error) && error.code === "class_instance");
    }
  });

  test("an error in a new message names it, and the conversation goes on without it", () => {
    const messages: object[] = conversation(6);
    fold(messages, { plan: null });
    let { plan } = fold(messages, { plan: null });
    for (const wrong of [{ role: "tool", content: 7 }, { content: "x" }, 7]) {
      assert.throws(() => fold([...messages, ...round("x"), wrong as object], { plan }), (error) => WarmfoldError.isInstance(error) && error.path?.startsWith("messages[15]") === true);
      messages.push(...round(`y${messages.length}`));
      const result = fold(messages, { plan });
      assert.deepEqual(result, fold(copyOf(messages), { plan }));
      plan = result.plan;
      messages.splice(-2);
    }
  });

  test("nor does a place in an error change, nor the depth that is taken", () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
    const cyclic: Record<string, unknown> = { role: "user", content: "x" };
    cyclic.itself = cyclic;
    const foreign = { role: "user", content: [{ type: "tool_use" }] };
    const wrong: [object, string, string?][] = [[cyclic, "cyclic", "messages[9].itself"], [foreign, "unknown_format", "messages[9]"]];
    for (let depth = 506; depth < 514; depth++) wrong.push([{ role: "user", content: "x", nested: nested(depth) }, depth < 510 ? "fine" : "too_deep"]);
    for (const [message, code, path] of wrong) {
      const messages: object[] = conversation(4);
      for (let call = 0; call < 3; call++) fold(messages);
      messages.push(message);
      const times = gone(() => {
        const { e, p } = outcome(() => fold(messages));
        const anew = outcome(() => fold([...conversation(4), message]));
        assert.deepEqual([e ?? "fine", p], [anew.e ?? "fine", anew.p], code);
        assert.equal(e ?? "fine", code);
        if (path) assert.equal(p, path);
      });
      assert.ok(times > 0 || code === "cyclic" || code === "too_deep", code);
    }
  });

  test("a carried plan names the format; without one it is recognised in all messages, too", () => {
    const messages: object[] = conversation(4);
    const { plan } = fold(messages, { plan: null });
    messages.push({ role: "user", content: [{ type: "tool_use" }] });
    for (const none of [null, undefined]) {
      for (let call = 0; call < 3; call++) fold(messages, { plan });
      const { e, p } = outcome(() => fold(messages, { plan: none }));
      assert.deepEqual([e, p], ["unknown_format", "messages[9]"]);
    }
  });

  test("system messages that follow at the beginning stand before the history", () => {
    for (const contextBlock of [undefined, "Notes"]) {
      const messages: Message[] = [];
      for (const more of [[{ role: "system", content: "one" }], [], [], [{ role: "developer", content: "two" }], [{ role: "system", content: "three" }], conversation(3)]) {
        messages.push(...more);
        const options = contextBlock === undefined ? {} : { contextBlock };
        if (messages.length > 0) assert.ok(isDeepStrictEqual(fold(messages, options), fold(copyOf(messages), options)), `${messages.length}`);
      }
    }
  });

  test("an array that slices in its own way is read by its items", () => {
    const messages = Object.assign(conversation(4), { slice: () => [...messages].reverse() });
    for (let call = 0; call < 4; call++) assert.ok(isDeepStrictEqual(fold(messages).plan, fold(conversation(4)).plan), `call ${call}`);
  });

  test("messages that a request inherits are none of its own", () => {
    const messages = conversation(4);
    for (let call = 0; call < 3; call++) foldRequest({ messages });
    for (const request of [Object.create({ messages }), Object.defineProperty({}, "messages", { value: messages })]) assert.equal(outcome(() => foldRequest(request)).e, "not_an_array");
  });

  test("what fails at the end of the stack leaves nothing behind that is wrong", () => {
    for (let frames = 0; frames < 120; frames += 3) {
      const messages = conversation(5);
      const body = new TextEncoder().encode(JSON.stringify({ messages }));
      const { plan } = foldBody(body, { plan: null });
      for (let call = 0; call < 2; call++) fold(messages);
      messages.push(...round("last"));
      let left = 0;
      const atTheEnd = (): void => {
        try {
          atTheEnd();
        } catch (error) {
          if (left++ === frames) fold(messages);
          throw error;
        }
      };
      assert.throws(atTheEnd);
      assert.equal(foldBody(body, { plan }).report.editsCarried, plan.edits.length, `${frames}`);
      assert.ok(isDeepStrictEqual(fold(messages), fold(copyOf(messages))), `${frames}`);
    }
  });

  test("a getter that calls warmfold is refused, and nothing is left behind", () => {
    const messages: object[] = conversation(6);
    for (let call = 0; call < 3; call++) fold(messages);
    messages.push(Object.defineProperty({ role: "user" }, "content", { enumerable: true, get: () => fold([{ role: "user", content: "x" }]) && "x" }));
    assert.throws(() => fold(messages), (error) => WarmfoldError.isInstance(error) && error.code === "reentrant");
    messages.pop();
    assert.deepEqual(fold(messages), fold(copyOf(messages)));
  });

  test("the same call again and again takes no memory", () => {
    const messages = conversation(10);
    for (let call = 0; call < 100; call++) fold(messages);
    const before = wasm().memory.buffer.byteLength;
    for (let call = 0; call < 3000; call++) fold(messages);
    assert.ok(wasm().memory.buffer.byteLength - before < 2e6, `${wasm().memory.buffer.byteLength - before}`);
  });

  test("many conversations at once take no more memory than is set for them", () => {
    const all = Array.from({ length: 60 }, (_, at) => [{ role: "user", content: "x".repeat(2e6) + at } as Message, ...round("a")]);
    for (let turn = 0; turn < 4; turn++) {
      for (const messages of all) {
        assert.deepEqual(fold(messages).messages.length, messages.length);
        messages.push(...round(`t${turn}`));
      }
    }
    assert.ok(wasm().memory.buffer.byteLength < 160e6, `${wasm().memory.buffer.byteLength}`);
  });
});

describe("bodies that go on", () => {
  beforeEach(() => init(readFileSync(new URL("../../build/warmfold.wasm", import.meta.url))));
  const bytesOf = (request: object, space?: string) => new TextEncoder().encode(JSON.stringify(request, null, space));
  const parsed = (body: Uint8Array) => JSON.parse(new TextDecoder().decode(body)) as unknown;

  test("whatever a host does between two calls, the answer is that of objects", () => {
    const property = fc.property(hosts, fc.constantFrom(undefined, " "), fc.boolean(), ([history, policy, surroundings, all], space, behind) => {
      const plans: Plan[] = [];
      for (const { messages, given, plan, signals } of steps(history, { ...policy, ...surroundings }, all)) {
        const { system, tools, toolChoice: tool_choice, ...rest } = given;
        const request = JSON.parse(JSON.stringify(behind ? { messages, model: "gpt-5", system, tools, tool_choice } : { model: "gpt-5", system, tools, tool_choice, messages }));
        const wellFormed = JSON.parse(JSON.stringify(request, (_, value: unknown) => (typeof value === "string" ? Buffer.from(value).toString() : value)));
        const options = { ...rest, ...signals, plan: chosen(plans, plan) };
        const { request: folded, ...decision } = foldRequest(wellFormed, copyOf(options));
        const { body, splices, ...same } = foldBody(bytesOf(wellFormed, space), options);
        assert.deepEqual(same, decision);
        assert.deepEqual(parsed(body), folded);
        plans.push(same.plan);
      }
    });
    fc.assert(property, RUNS);
  });

  test("only what is new is read, and offsets are those of the body given", () => {
    const messages = conversation(60);
    const { mock: spy } = mock.method(wasm(), "foldBody");
    let plan: Plan | null = null;
    for (const length of callLengths(messages).slice(20)) {
      const body = bytesOf({ model: "gpt-5", messages: messages.slice(0, length), max_tokens: 100 });
      const result: FoldBodyResult = foldBody(body, { plan });
      const text = (from: number, to: number) => new TextDecoder().decode(body.subarray(from, to));
      assert.ok(result.splices.every(({ start, end }) => text(start, end).startsWith('"line of a build log')), `${length}`);
      assert.deepEqual(parsed(result.body), foldRequest(parsed(body) as { messages: Message[] }, { plan }).request);
      ({ plan } = result);
    }
    const numbers = spy.calls.map(({ result }) => (result as { number: number }).number);
    assert.ok(numbers.length > 30 && numbers.every((number) => number === numbers[0]), `${numbers}`);
    spy.restore();
  });

  test("what looks like a body that goes on and is none gives the error of the whole", () => {
    const messages = conversation(4);
    const good = JSON.stringify({ model: "gpt-5", messages });
    foldBody(bytesOf({ model: "gpt-5", messages }));
    for (const [more, offset] of [[',{"role"', 2], [",1,", 1], [" x", 0], [",{}]", 0], ["],\"messages\":[", 0]] as const) {
      const body = new TextEncoder().encode(good.replace(/\]\}$/, `${more}]}`));
      const fault = (run: () => unknown) => {
        try {
          return (run(), undefined);
        } catch (error) {
          assert.ok(WarmfoldError.isInstance(error));
          return { code: error.code, path: error.path, message: error.message };
        }
      };
      const anew = fault(() => foldBody(body, { milestoneTokens: 1000 + offset })); // other options: nothing is known
      assert.deepEqual(fault(() => foldBody(body)), anew);
    }
    assert.equal(foldBody(bytesOf({ model: "gpt-5", messages })).verdict, foldRequest({ model: "gpt-5", messages }).verdict);
  });

  test("a derived plan has its own edits, not those of the call before the last", () => {
    const messages = conversation(6).map((message) => (message.role === "tool" ? { ...message, content: LOG.repeat(30) + message.tool_call_id } : message));
    const [body, options] = [bytesOf({ messages }), { when: "budget", budgetTokens: 200_000, preset: "careful" } as const];
    const first = foldBody(body, { ...options, plan: null }).plan;
    const kept = structuredClone(first);
    const usage = { inputTokens: first.request!.estimate * 4, upTo: messages.length };
    const counts = [{ plan: first, usage }, { plan: kept }, {}].map((given) => foldBody(body, { ...options, ...given }).plan.edits.length);
    assert.ok(first.edits.length === 0 && counts[0]! > 0, `${counts}`);
    assert.deepEqual(counts.slice(1), [0, 0]);
  });

  test("a field behind the messages that ends as they did is none of them", () => {
    const messages = conversation(4);
    const more = [',"tools":[{"type":"function","function":{"name":"t"}}]', ',"messages":[{"role":"user","content":"x"}]', ',"":[{"role":"user","content":"x"}]'];
    for (const field of more) {
      foldBody(bytesOf({ messages }));
      const body = new TextEncoder().encode(JSON.stringify({ messages }).replace(/\}$/, `${field}}`));
      const { body: folded, splices: _, ...decision } = foldBody(body);
      const { request, ...anew } = foldRequest(parsed(body) as { messages: Message[] });
      assert.ok(isDeepStrictEqual([decision, parsed(folded)], [anew, request]), field);
    }
  });

  test("a cold call that releases an edit is as good as a first one", () => {
    const text = Array.from({ length: 40 }, (_, line) => `line ${line} of file a`).join("\n");
    const round = (id: string, name: string, args: object, content: string): Message[] => [
      { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }] },
      { role: "tool", tool_call_id: id, content },
    ];
    const reads = ["1", "2"].flatMap((id) => round(id, "read_file", { path: "a" }, text));
    const messages: Message[] = [{ role: "user", content: "go" }, ...reads, ...round("3", "bash", { command: "make" }, "ok"), ...round("4", "bash", { command: "ls" }, "a")];
    const options = { cache: "none", preset: "thrifty" } as const;
    let { plan } = fold(messages.slice(0, 5), { ...options, plan: null });
    assert.equal(plan.edits[0]?.rule, "superseded");
    for (const length of [5, 7]) ({ plan } = fold(messages.slice(0, length), { ...options, pins: [2], plan }));
    const cold = { ...options, pins: [2], plan, cold: true };
    const fresh = fold(structuredClone(messages), cold);
    assert.deepEqual(fresh.plan.edits.map(({ message, rule }) => [message, rule]), [[4, "duplicate"]]);
    assert.deepEqual(fold(messages, cold).plan, fresh.plan);
  });
});
