/** Anthropic Messages, OpenAI Responses and Gemini's contents through objects and bytes, as a host's loop sends them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decide, fold, foldBody, foldRequest, type FoldBodyResult, type FoldRequestResult, type Plan, type RequestOptions } from "warmfold";
import { refusal } from "./histories.js";

const log = (at: number) => `line of build ${at}\n`.repeat(300);

interface Case {
  list: "messages" | "input" | "contents";
  start: Record<string, unknown>;
  first: object;
  /** How its system prompt ends with a context block behind it. */
  withBlock: string;
  /** The dialect of marks that it has. */
  marks?: "anthropic" | "openai";
  round: (at: number) => object[];
  /** The text of the result of such a round. */
  text: (round: object[]) => unknown;
}

const CASES: Record<string, Case> = {
  "anthropic": {
    list: "messages",
    start: { model: "claude-opus-4-5", max_tokens: 1000, system: "Be brief.", tools: [{ name: "build", input_schema: { type: "object" } }] },
    first: { role: "user", content: "Build it" },
    withBlock: "Be brief.\\n\\nNotes.",
    marks: "anthropic",
    round: (at) => [
      { role: "assistant", content: [{ type: "thinking", thinking: "Hm.", signature: `s${at}` }, { type: "tool_use", id: `t${at}`, name: "build", input: { at } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `t${at}`, content: log(at) }] },
    ],
    text: (round) => (round[1] as { content: { content: string }[] }).content[0]!.content,
  },
  "openai-responses": {
    list: "input",
    start: { model: "gpt-5", instructions: "Be brief.", tools: [{ type: "function", name: "build", parameters: {} }] },
    first: { role: "user", content: "Build it" },
    withBlock: "Be brief.\\n\\nNotes.",
    marks: "openai",
    round: (at) => [
      { type: "reasoning", id: `r${at}`, summary: [], encrypted_content: "x".repeat(50) },
      { type: "function_call", call_id: `c${at}`, name: "build", arguments: `{"at":${at}}` },
      { type: "function_call_output", call_id: `c${at}`, output: log(at) },
    ],
    text: (round) => (round.at(-1) as { output: string }).output,
  },
  "gemini": {
    list: "contents",
    start: { model: "gemini-3-pro", config: { systemInstruction: { parts: [{ text: "Be brief." }] }, tools: [{ functionDeclarations: [{ name: "build" }] }] } },
    first: { role: "user", parts: [{ text: "Build it" }] },
    withBlock: '{"text":"Be brief."},{"text":"Notes."}',
    round: (at) => [
      { role: "model", parts: [{ functionCall: { name: "build", args: { at } }, thoughtSignature: `s${at}` }] },
      { role: "user", parts: [{ functionResponse: { name: "build", response: { code: 0, output: log(at) } } }] },
    ],
    text: (round) => (round[1] as { parts: { functionResponse: { response: { output: string } } }[] }).parts[0]!.functionResponse.response.output,
  },
};

const bytesOf = (request: object) => new TextEncoder().encode(JSON.stringify(request, null, 1));
const textOf = (body: Uint8Array) => new TextDecoder().decode(body);

for (const [format, { list, start, first, withBlock, marks: dialect, round, text }] of Object.entries(CASES)) {
  describe(format, () => {
    const rounds = Array.from({ length: 12 }, (_, at) => round(at));
    const request = (length: number) => ({ ...start, [list]: [first, ...rounds.slice(0, length).flat()] });

    test("call by call, objects that live on, new objects and bytes agree, and what was sent stays unless a fold says so", () => {
      let [plan, before]: [Plan | null, string[]] = [null, []];
      for (let length = 0; length <= rounds.length; length++) {
        const live: FoldRequestResult<ReturnType<typeof request>> = foldRequest(request(length), { plan });
        assert.deepEqual(foldRequest(structuredClone(request(length)), { plan: structuredClone(plan) }), live);
        const { body, splices, ...decision }: FoldBodyResult = foldBody(bytesOf(request(length)), { plan });
        const { request: whole, ...same } = live;
        const folded = whole as Record<string, unknown>;
        assert.deepEqual(decision, same);
        assert.deepEqual(JSON.parse(textOf(body)), folded);
        assert.equal(splices.length, live.plan.edits.length);
        const sent = (folded[list] as object[]).map((message) => JSON.stringify(message));
        const kept = Math.min(live.report.foldedFrom ?? Infinity, before.length);
        assert.deepEqual(sent.slice(0, kept), before.slice(0, kept));
        [plan, before] = [live.plan, sent];
      }
      assert.ok(plan!.edits.length >= 8, `${plan!.edits.length}`);
      assert.equal(plan!.format, format);
    });

    test("a result is shortened in its place, and all else is the host's own", () => {
      const whole = request(6);
      const { request: folded, plan } = foldRequest(whole, { plan: null });
      assert.ok(plan.edits.length > 0);
      for (const [at, item] of (folded[list] as object[]).entries()) {
        const edited = plan.edits.some((edit) => edit.message === at);
        assert.equal(item === (whole[list] as object[])[at], !edited);
        if (edited) assert.match(String(text([first, item])), /^\[warmfold: /);
      }
      for (const key of Object.keys(start)) assert.equal(folded[key as keyof typeof folded], whole[key as keyof typeof whole]);
    });

    test("a context block goes to the system prompt, and messages alone have no place for it", () => {
      const contextBlock = "Notes.";
      const { request: folded } = foldRequest(request(2), { plan: null, contextBlock });
      const system = JSON.stringify({ ...folded, [list]: [] });
      assert.ok(system.includes(withBlock), system);
      assert.equal(textOf(foldBody(bytesOf(request(2)), { plan: null, contextBlock }).body).includes(contextBlock), true);
      const alone = refusal(() => fold(request(2)[list] as object[], { format: format as "anthropic", system: "Be brief.", contextBlock }));
      assert.match(alone.message, /foldRequest/);
    });

    test("a body that goes on gets its context block and its marks where they belong, wherever the messages stand", () => {
      const { [list]: _, ...behind } = { ...request(0), z: 1 } as Record<string, unknown>;
      const alone = format === "openai-responses" ? {} : { config: {} }; // a place for the block that holds nothing yet
      const shapes: ((messages: unknown) => object)[] = [
        (messages) => ({ ...start, [list]: messages }),
        (messages) => ({ [list]: messages, ...behind }),
        (messages) => ({ [list]: messages, ...alone }),
        (messages) => ({ ...alone, [list]: messages }),
      ];
      for (const shape of shapes) {
        for (const options of [{ contextBlock: "Notes." }, { contextBlock: "Notes.", marks: dialect ?? "anthropic" }, { marks: dialect ?? "anthropic" }]) {
          let plan: Plan | null = null;
          for (let length = 0; length <= rounds.length; length++) {
            const body = shape((request(length) as Record<string, unknown>)[list]);
            const all: RequestOptions = { ...options, format: format as "anthropic", when: length % 2 === 0 ? "pays" : "never", plan };
            const folded = foldBody(bytesOf(body), all);
            assert.deepEqual(JSON.parse(textOf(folded.body)), foldRequest(body, all).request, textOf(folded.body).slice(0, 300));
            plan = folded.plan;
          }
        }
      }
    });

    test("marks: at most four, and the request without them is the one that was given", () => {
      const { request: folded, marks, breakpoints } = foldRequest(request(10), { plan: null, when: "never", marks: dialect ?? "anthropic", milestoneTokens: 4000 });
      const MARK = /,?"(cache_control|prompt_cache_breakpoint)":\{[^}]*\}/g;
      const json = JSON.stringify(folded);
      const written = json.match(MARK) ?? [];
      assert.ok(dialect ? written.length > 0 && written.length <= 4 : written.length === 0, `${written.length}`);
      assert.ok(breakpoints.length > 0);
      assert.equal(written.length, marks.filter(({ part }) => part !== undefined).length);
      assert.ok(breakpoints.every((at) => typeof at === "number"));
      if (format === "anthropic") {
        assert.deepEqual(marks[0], { at: "system", part: 0 });
        assert.deepEqual((folded as { system?: unknown }).system, [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
        const body = foldBody(bytesOf(request(10)), { plan: null, when: "never", marks: "anthropic", milestoneTokens: 4000 });
        assert.deepEqual(JSON.parse(textOf(body.body)), folded);
      }
    });

    test("a first call that tells no format is no promise", () => {
      const one = [first];
      let { plan } = fold(one, { plan: null });
      assert.equal(plan.format, list === "contents" ? "gemini" : "openai-chat");
      const messages: object[] = [...one];
      for (const more of rounds.slice(0, 4)) {
        messages.push(...more);
        const result = fold(messages, { plan });
        assert.deepEqual(result, fold(structuredClone(messages), { plan }));
        ({ plan } = result);
      }
      assert.equal(plan.format, format);
      assert.equal(decide(messages, { plan }).plan.format, format);
    });
  });
}

test("an input that is a text is sent as it is", () => {
  for (const request of [{ model: "gpt-5", input: "Hi" }, { model: "gemini-3-pro", contents: "Hi" }, { contents: { parts: [{ text: "Hi" }] } }]) {
    assert.equal(foldRequest(request).request, request);
    const body = bytesOf(request);
    assert.equal(foldBody(body).body, body);
  }
});

test("a key that is no UTF-16 may be another one that is read alike: what stands under it stays", () => {
  const response = { "k\ud800": log(0), "l\ud800": { z: log(1) }, output: log(2) };
  const asked = { role: "model", parts: [{ functionCall: { name: "build", args: {} } }] };
  const contents = [CASES.gemini!.first, asked, { role: "user", parts: [{ functionResponse: { name: "build", response } }] }, ...[1, 2, 3].flatMap(CASES.gemini!.round)];
  const folded = (fold(contents, { plan: null }).messages[2] as { parts: { functionResponse: { response: typeof response } }[] }).parts[0]!.functionResponse.response;
  assert.match(folded.output, /^\[warmfold/);
  assert.deepEqual({ ...folded, output: "" }, { ...response, output: "" });
});

test("a content that stands alone is edited as one, whoever made the plan", () => {
  const alone = { role: "user", parts: [{ functionResponse: { name: "build", response: { output: log(0) } } }] };
  const [start, asked] = [CASES.gemini!.first, { role: "model", parts: [{ functionCall: { name: "build", args: {} } }] }];
  const { plan } = fold([start, asked, alone, ...[1, 2, 3].flatMap(CASES.gemini!.round)], { plan: null });
  const forged = { ...plan, edits: plan.edits.filter(({ message }) => message === 2).map(({ tool: _, ...edit }) => ({ ...edit, message: 0 })) } as Plan;
  const body = JSON.parse(textOf(foldBody(bytesOf({ contents: alone }), { plan: forged }).body)) as object;
  assert.deepEqual(foldRequest({ contents: alone }, { plan: forged }).request, body);
});

test("keys of a response are the host's, whatever they are called", () => {
  const response: unknown = JSON.parse(`{"__proto__": ${JSON.stringify(log(0))}, "constructor": {"a": [${JSON.stringify(log(1))}]}, "code": 0}`);
  const asked = { role: "model", parts: [{ functionCall: { name: "build", args: {} } }] };
  const contents = [CASES.gemini!.first, asked, { role: "user", parts: [{ functionResponse: { name: "build", response } }] }, ...[1, 2, 3].flatMap(CASES.gemini!.round)];
  const folded = fold(contents, { plan: null });
  assert.deepEqual(folded.plan.edits.filter(({ message }) => message === 2).map(({ part }) => part), [0, 1]);
  const body = foldBody(bytesOf({ contents }), { plan: null });
  assert.deepEqual(JSON.parse(textOf(body.body)), { contents: folded.messages });
  assert.match(JSON.stringify(folded.messages[2]), /"response":\{"__proto__":"\[warmfold[^"]*","constructor":\{"a":\["\[warmfold[^"]*"\]\},"code":0\}/);
});
