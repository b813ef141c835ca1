/** The adapter with the real AI SDK and its fake models. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertToModelMessages, generateText, jsonSchema, stepCountIs, streamText, tool, ToolLoopAgent, type ModelMessage, type UIMessage } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import fc from "fast-check";
import { decide, fold, WarmfoldError, type Decision, type FoldOptions } from "warmfold";
import { warmfold, type Options } from "warmfold/ai-sdk";

type Prompt = MockLanguageModelV3["doGenerateCalls"][number]["prompt"];
type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

const FILES = 14;
/** Folds as soon as anything is old. */
const eager: Options = { when: "budget", budgetTokens: 1, protectRecentTurns: 1, fitToWindow: false };
const textOf = (path: string) => Array.from({ length: 200 }, (_, line) => `${path}:${line + 1} const value_${line} = compute(${line});`).join("\n");

const tools = {
  read_file: tool({
    description: "Reads a file",
    inputSchema: jsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } }, required: ["path"] }),
    execute: async ({ path }) => textOf(path),
  }),
  list_files: tool({
    description: "Lists files",
    inputSchema: jsonSchema<{ folder: string }>({ type: "object", properties: { folder: { type: "string" } }, required: ["folder"] }),
    execute: async ({ folder }) => ({ folder, files: Array.from({ length: 200 }, (_, file) => `${folder}/part_${file}.ts`) }),
  }),
};

/** What a model answers that reads one file after the other. */
function answerTo(prompt: Prompt): Generated {
  const results = prompt.filter(({ role }) => role === "tool").length;
  const usage = { inputTokens: { total: JSON.stringify(prompt).length >> 2, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }, outputTokens: { total: 9, text: undefined, reasoning: undefined } };
  const call = (toolName: string, input: object) => [{ type: "tool-call" as const, toolCallId: `call-${results}`, toolName, input: JSON.stringify(input) }];
  if (results === FILES) return { content: [{ type: "text", text: "All of them compute." }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
  const content = results === 0 ? call("list_files", { folder: "src" }) : call("read_file", { path: `src/part_${results}.ts` });
  return { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
}

const modelOf = (modelId = "claude-test") =>
  new MockLanguageModelV3({
    modelId,
    doGenerate: async ({ prompt }) => answerTo(prompt),
    doStream: async ({ prompt }) => {
      const { content, finishReason, usage } = answerTo(prompt);
      const parts = content.flatMap((part): object[] => (part.type === "text" ? [{ type: "text-start" as const, id: "t" }, { type: "text-delta" as const, id: "t", delta: part.text }, { type: "text-end" as const, id: "t" }] : [part]));
      const chunks = [{ type: "stream-start" as const, warnings: [] }, ...parts, { type: "finish" as const, finishReason, usage }];
      return { stream: simulateReadableStream({ chunks: chunks as never[] }) };
    },
  });

const question: ModelMessage = { role: "user", content: "What do the files compute?" };
const stopWhen = stepCountIs(FILES + 2);
const shortened = (value: unknown) => JSON.stringify(value).split(" elided").length - 1;
/** Results are texts or values in full. */
function assertFull(messages: readonly ModelMessage[]): void {
  assert.equal(shortened(messages), 0);
  const outputs = messages.flatMap(({ role, content }) => (role === "tool" ? content : [])).map((part) => part.type === "tool-result" && part.output);
  assert.equal(outputs.length, FILES);
  assert.deepEqual(outputs[3], { type: "text", value: textOf("src/part_3.ts") });
}
/** Every call keeps its result. */
function assertPaired(prompt: Prompt): void {
  const ids = (role: string) => prompt.flatMap((message): object[] => (message.role === role && Array.isArray(message.content) ? message.content : [])).map((part) => "toolCallId" in part && part.toolCallId);
  assert.deepEqual(ids("tool"), ids("assistant"));
}

describe("prepareStep", () => {
  test("old results are shortened in the requests, and stay whole in what is returned", async () => {
    const model = modelOf();
    const decisions: Decision[] = [];
    const messages = [question];
    const { text, response, steps } = await generateText({ model, tools, messages, stopWhen, prepareStep: warmfold({ ...eager, onDecision: (decision) => decisions.push(decision) }) });
    assert.equal(text, "All of them compute.");
    assert.equal(decisions.length, steps.length);

    const prompts = model.doGenerateCalls.map(({ prompt }) => prompt);
    prompts.forEach(assertPaired);
    const last = prompts.at(-1)!;
    assert(shortened(last) >= FILES - 5, `${shortened(last)} of ${FILES}`);
    // The value that list_files gave went out as the beginning of its text.
    const listed = last[2]!.content[0] as { output: { type: string; value: string } };
    assert.equal(listed.output.type, "text");
    assert.match(listed.output.value, /elided.*\n\{"folder":"src","files":\["src\/part_0\.ts"/);
    for (const [at, prompt] of prompts.entries()) {
      if (at === 0 || decisions[at]!.folded) continue;
      assert.deepEqual(prompt.slice(0, prompts[at - 1]!.length), prompts[at - 1], `request ${at} is no fold, and rewrites`);
    }

    assertFull(response.messages);
    assert.deepEqual(messages, [question]);
  });

  test("a stream's too", async () => {
    const model = modelOf();
    const result = streamText({ model, tools, messages: [question], stopWhen, prepareStep: warmfold(eager) });
    await result.consumeStream();
    assert(shortened(model.doStreamCalls.at(-1)!.prompt) >= FILES - 5);
    assertFull((await result.response).messages);
  });

  test("one agent serves many conversations, and each goes on warm", async () => {
    const model = modelOf();
    const folds: Decision[] = [];
    const agent = new ToolLoopAgent({ model, tools, stopWhen, prepareStep: warmfold({ ...eager, onDecision: (decision) => folds.push(decision) }) });
    const first: ModelMessage[] = [question];
    const [one] = await Promise.all([agent.generate({ messages: first }), agent.generate({ messages: [{ role: "user", content: "Read them again." }] })]);
    first.push(...one.response.messages, { role: "user", content: "Are you sure?" });
    assertFull(one.response.messages);
    const carried = folds.length;
    await agent.generate({ messages: first });
    const alone = fold(first, { ...eager, onDecision: undefined, format: "ai-sdk", model: { id: "claude-test" } } as FoldOptions);
    assert.deepEqual(folds[carried]!.plan.edits.map(({ message, pieces }) => [message, pieces]), alone.plan.edits.map(({ message, pieces }) => [message, pieces]));
  });

  test("a turn goes on from the last step of the one before, though its messages come back as other objects", async () => {
    const decisions: Decision[] = [];
    const prepareStep = warmfold({ ...eager, onDecision: (decision) => decisions.push(decision) });
    const messages: ModelMessage[] = [question];
    for (let turn = 0; turn < 3; turn++) {
      const model = modelOf();
      const before = decisions.length;
      messages.push(...(await generateText({ model, tools, messages, stopWhen, prepareStep })).response.messages, { role: "user", content: `And ${turn}?` });
      if (turn > 0) assert.equal(decisions[before]!.report.editsCarried, decisions[before - 1]!.plan.edits.length);
    }
    assert(decisions.at(-1)!.plan.edits.length >= FILES - 5);
  });

  test("what version 7 passes on, which is what was sent, is taken back to what it was made from", async () => {
    const full = (await generateText({ model: modelOf(), tools, messages: [question], stopWhen })).response.messages;
    const options: Options = { ...eager, contextBlock: "notes", marks: "anthropic" };
    const [passedOn, again] = [warmfold(options), warmfold(options)];
    let sent: ModelMessage[] = [question];
    for (let length = 0; length < full.length; length += 2) {
      sent = passedOn({ messages: length === 0 ? sent : [...sent, ...full.slice(length - 2, length)] }).messages;
      assert.deepEqual(sent, again({ messages: [question, ...full.slice(0, length)] }).messages);
    }
    assert(shortened(sent) > 5);
    assert.deepEqual(sent[0], { role: "system", content: "notes", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } });
    assertFull(full);
  });

  test("digests stand for whole exchanges, and version 7's next step is taken back behind them", async () => {
    const full = (await generateText({ model: modelOf(), tools, messages: [question], stopWhen })).response.messages;
    const options: Options = { contextBlock: "notes", model: { contextWindow: 9_000 }, overflow: "digest" };
    const [passedOn, again] = [warmfold(options), warmfold(options)];
    let sent: ModelMessage[] = [question];
    for (let length = 0; length < full.length; length += 2) {
      sent = passedOn({ messages: length === 0 ? sent : [...sent, ...full.slice(length - 2, length)] }).messages;
      assert.deepEqual(sent, again({ messages: [question, ...full.slice(0, length)] }).messages);
    }
    assert(sent.length < full.length);
    const digests = sent.filter(({ role, content }) => role === "user" && String(content).startsWith("[warmfold: "));
    assert(digests.some(({ content }) => /messages condensed[^]*Exploration/.test(String(content))));
    assertFull(full);
  });

  test("a plan that was stored is taken up", () => {
    const history: ModelMessage[] = [question, ...exchange("a", { type: "text", value: textOf("a") }), ...exchange("b", { type: "text", value: textOf("b") }), { role: "user", content: "And?" }];
    let plan: Decision["plan"] | undefined;
    warmfold({ ...eager, onDecision: (decision) => (plan = decision.plan) })({ messages: history });
    assert(plan!.edits.length > 0);
    const stored = JSON.parse(JSON.stringify({ plan, history })) as { plan: Decision["plan"]; history: ModelMessage[] };
    const { messages } = warmfold({ when: "never", plan: stored.plan })({ messages: stored.history });
    assert.equal(shortened(messages), plan!.edits.length);
  });
});

function exchange(id: string, output: unknown): ModelMessage[] {
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "run_job", input: { id } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: "run_job", output: output as never }] },
  ];
}

const foldOptions: FoldOptions = { preset: "spec", budgetTokens: 1, protectRecentTurns: 0, maxToolResultBytes: 300, keepHeadBytes: 60, keepTailBytes: 60, minSavedBytes: 20, format: "ai-sdk" };

describe("values", () => {
  test("bytes and addresses are the host's own, wherever they stand", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const url = new URL("https://example.com/a.png");
    const data = { type: "file" as const, mediaType: "image/png", data: { type: "data", data: bytes } };
    const history: ModelMessage[] = [
      { role: "user", content: [{ type: "image", image: bytes }, { type: "file", data: url, mediaType: "image/png" }, { type: "text", text: "What is on it?" }] },
      ...exchange("a", { type: "content", value: [data, { type: "text", text: textOf("a") }] }),
      { role: "assistant", content: "A dog." },
      { role: "user", content: "Sure?" },
    ];
    const { messages, plan } = fold(history, { ...foldOptions, marks: "anthropic", milestoneTokens: 10 });
    assert.equal(plan.edits.length, 1);
    const [image, file, text] = messages[0]!.content as unknown as [{ image: unknown }, { data: unknown }, { providerOptions: unknown }];
    assert.equal(image, history[0]!.content[0]);
    assert.equal(image.image, bytes);
    assert.equal(file.data, url);
    assert.deepEqual(text.providerOptions, { anthropic: { cacheControl: { type: "ephemeral" } } });
    const [kept, cut] = (messages[2]!.content[0] as unknown as { output: { value: [unknown, { text: string }] } }).output.value;
    assert.equal(kept, data);
    assert.match(cut.text, / elided/);
  });

  test("what a value becomes is cut from its JSON text", () => {
    const filler = "a line of some length that says nothing at all\n".repeat(30);
    const values = fc.jsonValue({ stringUnit: "grapheme" });
    fc.assert(
      fc.property(values, values, (one, other) => {
        const value = { one, filler, other };
        const { messages, plan } = fold([question, ...exchange("a", { type: "json", value }), { role: "assistant", content: "ok" }, question], foldOptions);
        const bytes = Buffer.from(JSON.stringify(value));
        const pieces = plan.edits[0]!.pieces.map((piece) => (typeof piece === "string" ? piece : bytes.subarray(...piece).toString()));
        assert.deepEqual(messages[2]!.content[0], { type: "tool-result", toolCallId: "a", toolName: "run_job", output: { type: "text", value: pieces.join("") } });
      }),
      { numRuns: 300 },
    );
  });

  test("what JSON cannot hold stays whole", () => {
    const output = { type: "json", value: { at: new Date(0), filler: "x".repeat(5000) } };
    const history = [question, ...exchange("a", output), { role: "assistant", content: "ok" } as const, question];
    assert.equal(fold(history, foldOptions).messages[2], history[2]);
  });
});

describe("UI messages", () => {
  const history: UIMessage[] = [
    { id: "1", role: "user", parts: [{ type: "text", text: "Go on." }] },
    {
      id: "2",
      role: "assistant",
      parts: ["a", "b", "c"].flatMap((path) => [
        { type: "step-start" as const },
        { type: "tool-read_file" as const, toolCallId: path, state: "output-available" as const, input: { path }, output: path === "b" ? { lines: textOf(path).split("\n") } : textOf(path) },
        { type: "tool-delete_file" as const, toolCallId: `${path}-`, state: "output-denied" as const, input: { path }, approval: { id: path, approved: false as const, reason: "no" } },
      ]),
    },
    { id: "3", role: "user", parts: [{ type: "text", text: "And?" }] },
  ];

  test("decisions are those of the messages that are sent", async () => {
    const { format: _, ...options } = foldOptions;
    const [ui, sent] = [decide(history, options), decide(await convertToModelMessages(history), options)];
    assert.deepEqual([ui.plan.format, sent.plan.format], ["ai-sdk-ui", "ai-sdk"]);
    assert.deepEqual(ui.plan.edits, sent.plan.edits);
    assert(ui.plan.edits.length >= 3);
    assert(ui.report.tokensSaved > 1000);
  });

  test("they are not folded", () => {
    assert.throws(() => fold(history), (error) => WarmfoldError.isInstance(error) && error.message.includes("convertToModelMessages"));
  });
});

test("a context block beside a separate system prompt needs the whole request", async () => {
  const { foldRequest } = await import("warmfold");
  const options = { contextBlock: "notes", format: "ai-sdk" } as const;
  const request = { system: "rules", messages: [question] };
  assert.throws(() => fold(request.messages, { ...options, system: request.system }), /foldRequest/);
  assert.deepEqual(foldRequest(request, options).request, { system: "rules\n\nnotes", messages: [question] });
  assert.equal(request.system, "rules");
});
