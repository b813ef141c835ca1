/** Whole requests, as objects and as bytes: both say the same, and of the bytes only what changes does. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { fold, foldBody, foldRequest, type FoldBodyResult, type FoldOptions } from "warmfold";
import { callLengths, frozen, histories, policy, refusal, surroundings, type Message } from "./histories.js";

const RUNS = { numRuns: 150 };
const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

interface Body {
  model?: string;
  messages: Message[];
  [field: string]: unknown;
}

/** What the request itself says is no option. */
const options = fc.tuple(policy, surroundings).map(([policy, surroundings]) => {
  const { system, tools, toolChoice, ...options }: FoldOptions = { ...policy, ...surroundings };
  return { said: JSON.parse(JSON.stringify({ system, tools, tool_choice: toolChoice })) as object, options: frozen(options) };
});
/** Lone surrogates arrive as U+FFFD in what is edited, and stay in what is not; here they only hide differences. */
const whole = (body: Body): Body => JSON.parse(JSON.stringify(body, (_, value: unknown) => (typeof value === "string" ? Buffer.from(value).toString() : value)));
const spaces = fc.constantFrom(undefined, 1, "\t", " \r\n");

function applied(body: Uint8Array, { splices }: FoldBodyResult): Uint8Array {
  let [output, from] = [[] as number[], 0];
  for (const { start, end, bytes } of splices) {
    assert.ok(from <= start && start <= end && end <= body.length);
    output = [...output, ...body.subarray(from, start), ...bytes];
    from = end;
  }
  return Uint8Array.from([...output, ...body.subarray(from)]);
}

describe("bodies", () => {
  test("objects and bytes give one request and one plan, which applies to either", () => {
    const property = fc.property(histories, options, spaces, (history, { said, options }, space) => {
      const request = whole({ model: "claude-opus-4-5", temperature: 1, ...said, messages: history });
      const body = bytesOf(JSON.stringify(request, null, space));
      const object = foldRequest(frozen(request), options);
      const folded = foldBody(body, options);
      const { request: edited, ...decision } = object;
      const { body: output, splices, ...same } = folded;
      assert.deepEqual(same, decision);
      assert.deepEqual(JSON.parse(textOf(output)), edited);
      assert.equal(output === body, splices.length === 0);
      assert.equal(edited === request, splices.length === 0);
      assert.deepEqual(output, applied(body, folded));
      const plan = decision.plan;
      assert.deepEqual(foldBody(body, { ...options, plan }).plan, foldRequest(request, { ...options, plan }).plan);
    });
    fc.assert(property, RUNS);
  });

  test("a length of its own is not that of the bytes, and bytes that are gone are no JSON", () => {
    const body = bytesOf(JSON.stringify({ messages: [{ role: "user", content: "hi" }] }));
    for (const length of [1, body.length + 100]) {
      const odd = Object.defineProperty(body.slice(), "length", { value: length });
      assert.deepEqual(foldBody(odd).plan, foldBody(body).plan);
    }
    const gone = body.slice();
    structuredClone(gone, { transfer: [gone.buffer] });
    assert.equal(refusal(() => foldBody(gone)).code, "invalid_json");
  });

  test("call by call, what went before is byte for byte what it was", () => {
    const property = fc.property(histories, policy, (history, { toolChoice: _, ...policy }: FoldOptions) => {
      let [plan, before]: [FoldBodyResult["plan"] | null, string | undefined] = [null, undefined];
      for (const length of callLengths(history)) {
        const result: FoldBodyResult = foldBody(bytesOf(JSON.stringify(whole({ messages: history.slice(0, length) }))), { ...policy, plan });
        plan = result.plan;
        const sent: string = textOf(result.body).slice(0, -"]}".length);
        if (before !== undefined && !result.folded) assert.equal(sent.slice(0, before.length), before);
        before = sent;
      }
    });
    fc.assert(property, RUNS);
  });

  const request: Body = {
    model: "gpt-4o",
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "build", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "1", content: "line of a log\n".repeat(300) },
      { role: "assistant", content: "y" },
      { role: "user", content: "z" },
    ],
  };
  const body = bytesOf(JSON.stringify(request));

  test("the request names its model; the option goes first", () => {
    assert.equal(foldBody(body).plan.model, "gpt-4o");
    assert.equal(foldRequest(request, { model: { contextWindow: 100_000 } }).plan.model, "gpt-4o");
    assert.equal(foldBody(body, { model: { id: "mine" } }).plan.model, "mine");
  });

  test("tools, tool choice and system prompt count as they do when they are given apart", () => {
    const tools = [{ type: "function", function: { name: "build", description: "builds it all".repeat(50) } }];
    const said = { ...request, system: "be brief", tools, tool_choice: { type: "function", function: { name: "build" } } };
    const apart = fold(request.messages, { plan: null, model: { id: "gpt-4o" }, system: said.system, tools, toolChoice: said.tool_choice });
    const { request: _, ...decision } = foldRequest(said, { plan: null });
    const { messages: __, ...expected } = apart;
    assert.deepEqual(decision, expected);
    assert.equal(decision.plan.edits.length, 0, "the forced tool's results stay");
  });

  test("what the request says is no option", () => {
    for (const name of ["system", "tools", "toolChoice"]) {
      const { code, path, message } = refusal(() => foldBody(body, { [name]: "x" } as object));
      assert.deepEqual([code, path], ["invalid_option", `options.${name}`]);
      assert.match(message, /read from the request/);
    }
  });

  test("bytes that are no request are refused with their place", () => {
    const cases: [unknown, string, string, RegExp][] = [
      ["{}", "invalid_message", "body", /Uint8Array/],
      [new ArrayBuffer(2), "invalid_message", "body", /Uint8Array/],
      [bytesOf(""), "invalid_json", "body", /byte 0/],
      [body.subarray(0, 40), "invalid_json", "body", /byte 40/],
      [Uint8Array.of(...bytesOf('{"messages": ["'), 0xff), "invalid_json", "body", /byte 16|byte 15/],
      [bytesOf(`${textOf(body)} x`), "invalid_json", "body", /more behind the value/],
      [bytesOf("[]"), "not_an_array", "messages", /array of messages/],
      [bytesOf('{"messages": {}}'), "not_an_array", "messages", /array of messages/],
      [bytesOf('{"messages": [{"content": "x"}]}'), "missing_role", "messages[0].role", /role/],
    ];
    for (const [input, code, path, says] of cases) {
      const error = refusal(() => foldBody(input as Uint8Array));
      assert.deepEqual([error.code, error.path], [code, path]);
      assert.match(error.message, says);
    }
    assert.equal(foldBody(body, { plan: null }).verdict, "folded", "and harm nothing");
  });

  test("what JavaScript would spell anew passes as it came", () => {
    const odd = `\ufeff{ "messages" : [{"r\\u006fle":"user","content":"\\ud800 \\u0000 \\u00e9 \\/","n":[1.0,-0,1e400,18446744073709551616],"n":1},{"role":"assistant","content":"a"}]\n}\n`;
    const bytes = bytesOf(odd);
    assert.equal(foldBody(bytes).body, bytes);
    const marked = textOf(foldBody(bytes, { marks: "anthropic" }).body);
    assert.equal(marked.replaceAll('[{"type":"text","text":', "").replaceAll(',"cache_control":{"type":"ephemeral"}}]', ""), odd);
  });

  test("what is no request object is refused", () => {
    for (const input of ["{}", [], null, undefined]) {
      const { code, path } = refusal(() => foldRequest(input as unknown as object));
      assert.deepEqual([code, path], ["invalid_message", "request"]);
    }
  });

  test("of fields with one key the last counts, in a message too", () => {
    const result = `"tool_call_id":"1","content":${JSON.stringify("line of a log\n".repeat(300))}`;
    const fields = [
      '"is_error":true,"is_error":false', '"status":"error","status":"ok"', `"x":"${"y".repeat(4000)}","x":1`,
      `"reasoning":"${"z".repeat(4000)}","reasoning":null`, '"content":"short","content":[{"type":"text","text":"a","text":"b"}]', '"role":"user","role":"tool"',
    ];
    for (const field of fields) {
      for (const message of [`{"role":"tool",${result},${field}}`, `{${field},"role":"tool",${result}}`, `{"role":"assistant","content":"x",${field}}`]) {
        const text = `{"messages":[{"role":"user","content":"x"},${JSON.stringify(request.messages[1])},${message},{"role":"assistant","content":"y"},{"role":"user","content":"z"}]}`;
        const options: FoldOptions = { plan: null, dropReasoning: true };
        const { body: output, splices: _, ...decision } = foldBody(bytesOf(text), options);
        const { request: edited, ...expected } = foldRequest(JSON.parse(text) as Body, options);
        assert.deepEqual(decision, expected, message);
        assert.deepEqual(JSON.parse(textOf(output)), edited, message);
      }
    }
  });

  test("any view of bytes will do", () => {
    const expected = foldBody(body, { plan: null }).body;
    const shared = new Uint8Array(new SharedArrayBuffer(body.length + 8), 8);
    shared.set(body);
    for (const view of [Buffer.from(body), shared]) assert.deepEqual(Uint8Array.from(foldBody(view, { plan: null }).body), expected);
  });

  test("an instance of a class is copied by nobody", () => {
    class Request {
      messages = request.messages;
    }
    assert.equal(refusal(() => foldRequest(new Request(), { plan: null })).code, "class_instance");
    const untouched = new Request();
    assert.equal(foldRequest(untouched, { when: "never" }).request, untouched);
  });
});
