/** What JSON cannot hold and what JavaScript hides behind an object: untouched where nothing is edited, an error where it would be. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";
import { decide, fold, type FoldOptions } from "warmfold";
import { frozen, refusal, wire, type Message } from "./histories.js";

const tight: FoldOptions = { preset: "spec", budgetTokens: 1000, protectRecentTurns: 1 };
const LONG = "const answer = compute(41) + 1;\n".repeat(500);

/** Three calls of a tool; `result` makes the message with each result. */
function agentic(result: (message: Message) => object): object[] {
  const round = (id: string): object[] => [
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: `{"path":"${id}.ts"}` } }] },
    result({ role: "tool", tool_call_id: id, content: `${LONG}// ${id}` }),
  ];
  return [{ role: "user", content: "hi" }, ...["a", "b", "c"].flatMap(round)];
}

const expected = fold(agentic((message) => message), tight);
assert.deepEqual(expected.plan.edits.map(({ message }) => message), [2, 4]);

const ODD = {
  NaN, Infinity, bigint: 10n, function: () => 1, symbol: Symbol("s"), Date: new Date(0), "invalid Date": new Date(NaN), Map: new Map([["a", 1]]), Set: new Set([1]),
  Uint8Array: new Uint8Array(5), RegExp: /x/, URL: new URL("http://localhost"), Error: new Error("x"), "boxed text": new String("x"), undefined: undefined,
  Promise: Promise.resolve(), WeakMap: new WeakMap(), "array with a hole": [1, , 3], "no prototype": Object.create(null), Proxy: new Proxy({}, {}),
};

describe("odd values", () => {
  for (const [name, value] of Object.entries(ODD)) {
    test(`${name} in an unknown field is kept, also in an edited message`, () => {
      const { messages, plan } = fold(agentic((message) => ({ ...message, value, deep: { list: [value] } })), tight);
      assert.equal(plan.edits.length, 2);
      for (const at of [2, 4, 6]) assert.ok(Object.is((messages[at] as Message).value, value));
    });

    test(`${name} as a part of a content, an argument or a tool's schema does no harm`, () => {
      const part = { type: "text", text: "x", value };
      const history = [{ role: "user", content: [value, part] }, { role: "assistant", tool_calls: [value, { id: value, function: { name: value, arguments: value } }] }];
      const { messages } = fold(history, { tools: [value], system: value, toolChoice: value });
      assert.ok(messages.every((message, at) => message === history[at]));
    });
  }

  test("300 levels are not too deep", () => {
    let deep: object = {};
    for (let level = 0; level < 300; level++) deep = { deep };
    assert.equal(fold([{ role: "user", content: "x", deep }]).verdict, "untouched");
  });

  test("an empty history", () => {
    for (const options of [{}, { plan: null }, { contextBlock: "Notes", marks: "anthropic" }] as FoldOptions[]) {
      const { messages, breakpoints, folded, fits } = fold([], options);
      assert.deepEqual([messages.length, folded, fits], [options.contextBlock ? 1 : 0, false, true]);
      assert.ok(breakpoints.every((at) => at < messages.length));
    }
  });

  test("lone surrogates and NULs: kept where nothing is edited, U+FFFD and NUL where something is", () => {
    const odd = "\ud83d\u0000\udc00 ";
    const { messages, plan } = fold(agentic((message) => ({ ...message, content: `${odd}${message.content}`, name: odd })), tight);
    assert.ok((messages[6] as Message).content!.includes(odd));
    assert.ok((messages[2] as Message).content!.includes("\ufffd\u0000\ufffd "));
    assert.equal((messages[2] as Message).name, odd);
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  });

  test("20 MB in one text, and what is left is small", () => {
    const { messages, report } = fold(agentic((message) => ({ ...message, content: String(message.content).repeat(message.tool_call_id === "a" ? 1250 : 1) })), tight);
    assert.ok(report.tokensBefore > 3e6 && report.tokensAfter < 1e4, JSON.stringify(report));
    assert.ok(JSON.stringify(messages[2]).length < 2000);
  });

  test("__proto__ as a field, symbols as keys, objects of another realm", () => {
    const key = Symbol("key");
    const foreign = runInNewContext("text => JSON.parse(text)") as (text: string) => object;
    const history = agentic((message) => Object.assign(foreign(JSON.stringify({ ...message, own: 1 }).replace('"own"', '"__proto__"')), { [key]: 1 }));
    const { messages } = fold(history, tight);
    assert.notEqual(messages[2], history[2]);
    assert.equal(messages[6], history[6]);
    for (const at of [2, 6]) {
      assert.deepEqual(Object.keys(messages[at]!), ["role", "tool_call_id", "content", "__proto__"]);
      assert.equal(Object.getOwnPropertyDescriptor(messages[at], "__proto__")!.value, 1);
      assert.equal((messages[at] as Record<symbol, unknown>)[key], 1);
    }
  });
});

describe("class instances", () => {
  class ToolMessage {
    constructor(fields: object) {
      Object.assign(this, fields);
    }
  }

  test("pass through where nothing is edited", () => {
    const history = agentic((message) => new ToolMessage(message));
    const { messages, folded } = fold(history);
    assert.equal(folded, false);
    assert.ok(messages.every((message, at) => message === history[at]));
  });

  test("are refused where an edit or a mark would go through one, with nothing changed", () => {
    const whole = frozen(agentic((message) => new ToolMessage(message)));
    const parts = frozen(agentic(({ content, ...message }) => ({ ...message, content: [new ToolMessage({ type: "text", text: content })] })));
    const faults: [object[], FoldOptions, string][] = [
      [whole, tight, "messages[2]"],
      [whole, { marks: "anthropic" }, "messages[6]"],
      [parts, tight, "messages[2].content[0]"],
      [parts, { marks: "openai", maxBreakpoints: 4, milestoneTokens: 4000 }, "messages[2].content[0]"],
    ];
    for (const [history, options, path] of faults) {
      const { code, path: found, message } = refusal(() => fold(history, options));
      assert.deepEqual([code, found], ["class_instance", path]);
      assert.match(message, /pass plain messages, or use the adapter of your framework/);
      assert.equal(decide(history, options).verdict, options === tight ? "folded" : "untouched"); // deciding goes through nothing
    }
  });
});

describe("proxies", () => {
  test("that hide nothing work, and come back themselves", () => {
    const history = agentic((message) => new Proxy(message, {}));
    const { messages } = fold(new Proxy(history, {}), tight);
    assert.deepEqual(wire(messages), wire(expected.messages));
    assert.equal(messages[6], history[6]);
  });

  test("that throw, or are revoked, throw their own error; the next call works", () => {
    const mine = new RangeError("mine");
    const thrower = new Proxy({ role: "user" }, { ownKeys: () => { throw mine; } });
    const { proxy, revoke } = Proxy.revocable({ role: "user" }, {});
    revoke();
    assert.throws(() => fold([thrower]), (thrown) => thrown === mine);
    assert.throws(() => fold([proxy]), TypeError);
    assert.deepEqual(fold(agentic((message) => message), tight), expected);
  });
});

describe("getters", () => {
  test("are read like fields", () => {
    const history = agentic(({ content, ...message }) => Object.defineProperty({ ...message }, "content", { get: () => content, enumerable: true }));
    assert.deepEqual(JSON.parse(JSON.stringify(fold(history, tight).messages)), expected.messages);
  });

  const thrown = {
    "an error": new RangeError("mine"),
    "an error with a code": Object.assign(new Error("mine"), { code: "ENOENT" }),
    "a plain object with a code": { code: "mine", message: "mine" },
    "a text": "mine",
  };
  for (const [name, mine] of Object.entries(thrown)) {
    test(`that throw ${name} throw just that; the next call works`, () => {
      assert.throws(() => fold([{ role: "user", get content() { throw mine; } }]), (thrown) => thrown === mine);
      assert.deepEqual(fold(agentic((message) => message), tight), expected);
    });
  }

  test("that call warmfold again are refused, and harm nothing", () => {
    const other = [{ role: "user", content: "other" }];
    for (const [name, again] of Object.entries({ fold: () => fold(other), decide: () => decide(other) })) {
      const history = agentic((message) => ({ ...message, get name() { return again(); } }));
      const { code, path, message } = refusal(() => fold(history, tight));
      assert.deepEqual([code, path], ["reentrant", name]);
      assert.match(message, /pass plain values/);
    }
    assert.deepEqual(fold(agentic((message) => message), tight), expected);
  });
});
