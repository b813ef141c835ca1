/** The adapter with the real LangChain: its fake model, its checkpointer, and Anthropic's model against a server of our own. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, mock, test } from "node:test";
import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { fakeModel, type FakeBuiltModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, initChatModel } from "langchain";
import { WarmfoldError, type Decision } from "warmfold";
import { warmfold, type Options } from "warmfold/langchain";

/** Folds as soon as anything is old. */
const eager: Options = { when: "budget", budgetTokens: 1, protectRecentTurns: 1, fitToWindow: false };
const textOf = (path: string) => Array.from({ length: 200 }, (_, line) => `${path}:${line + 1} const value_${line} = compute(${line});`).join("\n");
const png = "iVBORw0KGgo".repeat(20);
const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;

const readFile = tool(async ({ path }: { path: string }) => [textOf(path), { path }], { name: "read_file", description: "Reads a file", schema, responseFormat: "content_and_artifact" });
const screenshot = tool(
  async ({ path }: { path: string }) => [{ type: "text", text: textOf(path) }, { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }],
  { name: "screenshot", description: "Shows a page", schema },
);
const tools = [readFile, screenshot];

const CALLS = 5;
/** Three at a time, and one shows an image. */
const callsOf = (step: string) => [
  { id: `show-${step}`, name: "screenshot", args: { path: `pages/${step}.html` } },
  { id: `read-${step}`, name: "read_file", args: { path: `src/${step}.ts` } },
  { id: `test-${step}`, name: "read_file", args: { path: `tests/${step}.ts` } },
];
/** A model that calls tools so many times on each of the turns, and then says that it is done. */
function modelOf(turns: number): FakeBuiltModel {
  const model = fakeModel();
  for (let turn = 0; turn < turns; turn++) {
    for (let call = 0; call < CALLS; call++) {
      const usage = (messages: BaseMessage[]) => ({ input_tokens: JSON.stringify(messages).length >> 2, output_tokens: 9, total_tokens: 9 });
      model.respond((messages) => new AIMessage({ content: "", tool_calls: callsOf(`${turn}-${call}`), usage_metadata: usage(messages) }));
    }
    model.respond(() => new AIMessage("All of them compute."));
  }
  return model;
}

const shortened = (value: unknown) => JSON.stringify(value).split(" elided").length - 1;
const contents = (messages: readonly BaseMessage[]) => messages.map(({ type, content }) => ({ type, content }));
const results = (messages: readonly BaseMessage[]) => messages.filter((message): message is ToolMessage => message.type === "tool");
/** Every call keeps its result. */
function assertPaired(messages: readonly BaseMessage[]): void {
  const made = messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [])).map(({ id }) => id);
  assert.deepEqual(results(messages).map((message) => message.tool_call_id), made);
}
/** Requests that are no fold begin with the one before. */
function assertWarm(requests: readonly unknown[][], decisions: readonly Decision[]): void {
  assert.equal(requests.length, decisions.length);
  for (const [at, request] of requests.entries()) {
    if (at === 0 || decisions[at]!.folded) continue;
    assert.deepEqual(request.slice(0, requests[at - 1]!.length), requests[at - 1], `request ${at} is no fold, and rewrites`);
  }
  assert(decisions.some(({ folded }, at) => at > 1 && !folded));
}

describe("middleware", () => {
  test("requests are shortened over several turns, and what the checkpointer stores is not", async () => {
    const [turns, config] = [3, { configurable: { thread_id: "1" } }];
    const states: BaseMessage[][] = [];
    const watch = createMiddleware({
      name: "watch",
      wrapModelCall: (request, handler) => {
        states.push(request.messages);
        return handler(request);
      },
    });
    const model = modelOf(turns);
    const decisions: Decision[] = [];
    const options: Options = { onDecision: (decision) => decisions.push(decision), preset: "thrifty", cache: { read: 0.5, write: 1, ttlMs: 60_000 } };
    const agent = createAgent({ model, tools, systemPrompt: "You read.", middleware: [watch, warmfold(options)], checkpointer: new MemorySaver() });
    for (let turn = 0; turn < turns; turn++) await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, config);

    const requests = model.calls.map(({ messages }) => messages);
    requests.forEach(assertPaired);
    assertWarm(requests.map(contents), decisions);
    const last = requests.at(-1)!;
    assert(shortened(contents(last)) >= turns * CALLS, `${shortened(contents(last))}`);

    // What was not shortened is the very same instance, and what was has all but its content from the one it was made from.
    let edited = 0;
    for (const [at, request] of requests.entries()) {
      const [system, ...sent] = request;
      assert.equal(system!.text, "You read.");
      for (const [place, message] of sent.entries()) {
        const original = states[at]![place]!;
        if (message === original) continue;
        edited++;
        assert(ToolMessage.isInstance(message) && message instanceof ToolMessage && message.text.includes(" elided"));
        const { content: _, lc_kwargs: __, ...rest } = message;
        const { content: ___, lc_kwargs: ____, ...wanted } = original;
        assert.deepEqual(rest, wanted);
        assert.deepEqual(message.lc_kwargs["content"], message.content);
        assert.equal(Object.getPrototypeOf(message), Object.getPrototypeOf(original));
      }
    }
    assert(edited > 20);
    const shown = results(last).find(({ name }) => name === "screenshot")!.content as object[];
    assert.deepEqual(shown[1], { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } });

    const { messages } = (await agent.graph.getState(config)).values as { messages: BaseMessage[] };
    assert.equal(messages.length, turns * (2 + 4 * CALLS));
    assert.equal(shortened(contents(messages)), 0);
    assert.equal(results(messages)[1]!.content, textOf("src/0-0.ts"));
    assert.deepEqual(results(messages)[1]!.artifact, { path: "src/0-0.ts" });
  });

  test("digests stand for whole exchanges, behind the prompt", async () => {
    const model = modelOf(3);
    const decisions: Decision[] = [];
    const options: Options = { model: { contextWindow: 40_000 }, overflow: "digest", autoCompactThreshold: 0.4, onDecision: (decision) => decisions.push(decision) };
    const agent = createAgent({ model, tools, systemPrompt: "You read.", middleware: [warmfold(options)], checkpointer: new MemorySaver() });
    for (let turn = 0; turn < 3; turn++) await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, { configurable: { thread_id: "1" } });
    const requests = model.calls.map(({ messages }) => messages);
    requests.forEach(assertPaired);
    assertWarm(requests.map(contents), decisions);
    const last = requests.at(-1)!;
    assert(decisions.at(-1)!.plan.segments!.length > 0 && last.length < decisions.at(-1)!.report.indexMap!.length);
    const said = last.filter(({ type }) => type === "human").map(({ text }) => text);
    assert.deepEqual(said.filter((text) => text.startsWith("Question")), ["Question 0?", "Question 1?", "Question 2?"]);
    assert(HumanMessage.isInstance(last[2]) && last[2].text.includes(" condensed "));
    assert.equal(last[0]!.text, "You read.");
  });

  test("the next turn's objects are new, and the plan, the usage and the time of the last are known", async () => {
    const now = Date.now;
    let later = 0;
    mock.method(Date, "now", () => now() + later);
    const decisions: Decision[] = [];
    const agent = createAgent({ model: modelOf(3), tools, middleware: [warmfold({ ...eager, onDecision: (decision) => decisions.push(decision) })], checkpointer: new MemorySaver() });
    const turn = (content: string) => agent.invoke({ messages: [new HumanMessage(content)] }, { configurable: { thread_id: "1" } });
    await turn("One?");
    later += 60_000;
    await turn("Two?");
    later += 600_000;
    await turn("Three?");
    mock.restoreAll();
    const cold = decisions.flatMap(({ report }, at) => (report.cold ? [at] : []));
    assert.deepEqual(cold, [2 * (CALLS + 1)]);
    const carried = decisions[CALLS + 1]!;
    assert(carried.report.editsCarried > 0);
    assert.equal(carried.report.editsDropped, 0);
    assert(decisions.slice(1).every(({ plan }) => plan.scale), "usage is taken in");
    assert.deepEqual(decisions.flatMap(({ report }) => report.reasons.filter((reason) => reason.includes("usage ignored"))), []);
  });

  test("another process derives the plan, and sends the same", async () => {
    const run = async (together: boolean) => {
      const model = modelOf(3);
      const checkpointer = new MemorySaver();
      const middleware = () => warmfold({ preset: "thrifty" });
      const one = middleware();
      for (let turn = 0; turn < 3; turn++) {
        const agent = createAgent({ model, tools, middleware: [together ? one : middleware()], checkpointer });
        await agent.invoke({ messages: [new HumanMessage(`Question ${turn}?`)] }, { configurable: { thread_id: "1" } });
      }
      return model.calls.map(({ messages }) => contents(messages));
    };
    const [together, apart] = await Promise.all([run(true), run(false)]);
    assert(shortened(together.at(-1)) > 5);
    assert.deepEqual(apart, together);
  });

  test("one serves many conversations at once", async () => {
    const decisions: Decision[] = [];
    const middleware = [warmfold({ ...eager, onDecision: (decision) => decisions.push(decision) })];
    await Promise.all(
      ["one", "two"].map((name) => createAgent({ model: modelOf(1), tools, middleware }).invoke({ messages: [new HumanMessage(`Question ${name}?`)] })),
    );
    assert.equal(decisions.length, 2 * (CALLS + 1));
    assert(decisions.every(({ report }) => report.editsDropped === 0 && !report.cold));
  });

  test("what the core refuses is the cause of LangChain's error", async () => {
    const agent = createAgent({ model: modelOf(1), tools, middleware: [warmfold({ floorRatoi: 1 } as Options)] });
    await assert.rejects(agent.invoke({ messages: "hi" }), (error: Error) => WarmfoldError.isInstance(error.cause) && error.cause.code === "unknown_option");
  });
});

type Block = Record<string, unknown> & { type: string };
interface Body {
  system: Block[];
  tools: object[];
  messages: { role: string; content: string | Block[] }[];
}

/** A server that speaks Anthropic's API as far as is needed; what it was sent. */
async function withServer(use: (url: string) => Promise<void>): Promise<Body[]> {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as Body;
    bodies.push(body);
    const step = bodies.length - 1;
    const isDone = step % (CALLS + 1) === CALLS;
    const uses = callsOf(String(step)).map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }));
    const thinking = { type: "thinking", thinking: `Step ${step} is due.`, signature: "c2ln" };
    const answer = {
      id: `msg_${step}`, type: "message", role: "assistant", model: "claude-sonnet-4-5", stop_reason: isDone ? "end_turn" : "tool_use", stop_sequence: null,
      content: isDone ? [{ type: "text", text: "All of them compute." }] : [thinking, { type: "text", text: `Reading ${step}.` }, ...uses],
      usage: { input_tokens: 7, cache_creation_input_tokens: text.length >> 3, cache_read_input_tokens: text.length >> 3, output_tokens: 9 },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
  return bodies;
}

const fieldsOf = (anthropicApiUrl: string) => ({ apiKey: "none", anthropicApiUrl, maxRetries: 0, maxTokens: 4096 });
const marksIn = (value: unknown) => JSON.stringify(value).split(`"cache_control":{"type":"ephemeral"}`).length - 1;
/** Without marks; a string is one text block. */
function unmarked(messages: Body["messages"]): unknown[] {
  const blocksOf = (content: string | Block[]) => (typeof content === "string" ? [{ type: "text", text: content }] : content.map(({ cache_control: _, ...block }) => block));
  return messages.map(({ role, content }) => ({ role, content: blocksOf(content) }));
}

describe("what Anthropic is sent", () => {
  test("is well-formed, warm and marked", async () => {
    const decisions: Decision[] = [];
    const marked = warmfold({ preset: "thrifty", cache: { read: 0.5, write: 1, ttlMs: 300_000 }, marks: "anthropic", milestoneTokens: 4000, contextBlock: "Notes.", onDecision: (decision) => decisions.push(decision) });
    const bodies = await withServer(async (url) => {
      const model = new ChatAnthropic({ model: "claude-sonnet-4-5", ...fieldsOf(url) });
      const agent = createAgent({ model, tools, systemPrompt: "You read.", middleware: [marked], checkpointer: new MemorySaver() });
      for (const content of ["One?", "Two?"]) {
        const { messages } = await agent.invoke({ messages: [new HumanMessage(content)] }, { configurable: { thread_id: "1" } });
        assert.equal(shortened(contents(messages)) + marksIn(contents(messages)), 0);
      }
    });
    assert.equal(bodies.length, 2 * (CALLS + 1));
    assertWarm(bodies.map(({ messages }) => unmarked(messages)), decisions);
    assert(shortened(bodies.at(-1)) > 10, `${shortened(bodies.at(-1))}`);
    assert(decisions.every(({ plan }) => plan.model === "claude-sonnet-4-5"));
    assert(decisions.slice(1).every(({ plan }) => plan.scale));

    for (const [at, { system, messages, tools }] of bodies.entries()) {
      assert.deepEqual(system.map(({ text }) => text), ["You read.", "Notes."]);
      assert.equal(tools.length, 2);
      const blocks = [...system, ...messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))];
      const marked = blocks.filter((block) => "cache_control" in block);
      assert(marked.length >= 2 && marked.length <= 4);
      assert.equal(marked.length, decisions[at]!.breakpoints.length);
      assert.equal(marksIn({ system, messages }), marked.length, "Anthropic refuses marks inside of results");
      assert.deepEqual([marked[0], marked.at(-1)], [system[1], blocks.at(-1)]);

      // Each message of calls is followed by all of their results.
      for (const [place, { role, content }] of messages.entries()) {
        const used = Array.isArray(content) ? content.filter(({ type }) => type === "tool_use").map(({ id }) => id) : [];
        if (used.length === 0) continue;
        assert.equal(role, "assistant");
        assert.deepEqual((content as Block[])[0], { type: "thinking", thinking: `Step ${String(used[0]).slice(5)} is due.`, signature: "c2ln" });
        const answers = messages[place + 1]!.content as Block[];
        assert.deepEqual(answers.map(({ type, tool_use_id }) => [type, tool_use_id]), used.map((id) => ["tool_result", id]));
        const [text, image] = answers[0]!["content"] as Block[];
        assert.equal(text!.type, "text");
        assert.deepEqual(image, { type: "image", source: { type: "base64", media_type: "image/png", data: png } });
      }
    }
    assert(bodies.some(({ messages }) => messages.some(({ content }) => typeof content !== "string" && content.slice(0, -1).some(({ cache_control }) => cache_control))), "one that others follow");
  });

  test("is the same at each try", async () => {
    const again = createMiddleware({
      name: "again",
      wrapModelCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    });
    const bodies = await withServer(async (url) => {
      const model = new ChatAnthropic({ model: "claude-sonnet-4-5", ...fieldsOf(url) });
      const middleware = [warmfold({ marks: "anthropic", milestoneTokens: 2000 }), again];
      await createAgent({ model, tools, middleware }).invoke({ messages: [new HumanMessage("One?")] });
    });
    for (let at = 0; at < bodies.length; at += 2) assert.deepEqual(bodies[at], bodies[at + 1]);
  });

  test("is not touched where nothing is done, and a model named by a string is known", async () => {
    const seen: (string | undefined)[] = [];
    const run = (middleware: ReturnType<typeof warmfold>[]) =>
      withServer(async (url) => {
        const model = await initChatModel("claude-haiku-4-5", { modelProvider: "anthropic", ...fieldsOf(url) });
        await createAgent({ model, tools, systemPrompt: "You read.", middleware }).invoke({ messages: [new HumanMessage("One?")] });
      });
    const bare = await run([]);
    assert.deepEqual(await run([warmfold({ when: "never", onDecision: ({ plan }) => seen.push(plan.model) })]), bare);
    assert.deepEqual(new Set(seen), new Set(["claude-haiku-4-5"]));
  });
});

/** What one call of a model is sent for these messages. */
async function sent(messages: BaseMessage[], options: Options, systemPrompt?: string): Promise<BaseMessage[]> {
  const model = fakeModel().respond(new AIMessage("ok"));
  await createAgent({ model, tools, middleware: [warmfold(options)], ...(systemPrompt === undefined ? {} : { systemPrompt }) }).invoke({ messages });
  return model.calls[0]!.messages;
}

describe("messages", () => {
  test("a context block stands in the system prompt, or is it", async () => {
    const history = [new HumanMessage("hi")];
    const [alone] = await sent(history, { contextBlock: "Notes.", marks: "anthropic" });
    assert.deepEqual(alone!.content, [{ type: "text", text: "Notes.", cache_control: { type: "ephemeral" } }]);
    const [behind, question] = await sent(history, { contextBlock: "Notes." }, "Rules.");
    assert.equal(behind!.type, "system");
    assert.deepEqual(behind!.content, [{ type: "text", text: "Rules." }, { type: "text", text: "Notes." }]);
    assert.equal(question!.text, "hi");
  });

  test("blocks stay as they are, are marked if the mark is sent, and are not counted twice", async () => {
    const text = "Reading. ".repeat(50);
    const use = { type: "tool_use", id: "a", name: "read_file", input: { path: "a", text: textOf("a") } };
    const blocks = [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }, { type: "text", text }, use];
    const counted: number[] = [];
    const options: Options = { marks: "anthropic", cache: { read: 0.1, write: 1.25, ttlMs: 1e6 }, milestoneTokens: 150, onDecision: ({ report }) => counted.push(report.tokensBefore) };
    const run = async (metadata: Record<string, unknown>) => {
      const answer = new AIMessage({ content: blocks, tool_calls: [{ id: "a", name: "read_file", args: { path: "a" } }], response_metadata: metadata });
      const [, requested] = await sent([new HumanMessage("hi"), answer, new ToolMessage({ content: "x".repeat(4000), tool_call_id: "a" })], options);
      assert.equal(answer.content, blocks);
      return [requested, answer];
    };
    const [marked] = await run({});
    assert.deepEqual(marked!.content, [blocks[0], { ...blocks[1], cache_control: { type: "ephemeral" } }, use]);
    assert(counted[0]! < 2000, `${counted}`);
    // Of answers in LangChain's own blocks the mark would be lost on the way.
    const [same, answer] = await run({ output_version: "v1" });
    assert.equal(same, answer);
  });

  test("a read that failed does not stand for the one before", async () => {
    const read = (id: string, text: string, status: "success" | "error") => [
      new AIMessage({ content: "", tool_calls: [{ id, name: "read_file", args: { path: "a" } }] }),
      new ToolMessage({ content: text, tool_call_id: id, status }),
    ];
    const rules = async (status: "success" | "error") => {
      let rules: string[] = [];
      const options: Options = { ...eager, onDecision: ({ plan }) => (rules = plan.edits.map(({ rule }) => rule)) };
      await sent([new HumanMessage("hi"), ...read("1", textOf("a"), "success"), ...read("2", textOf("b"), status), new HumanMessage("And?")], options);
      return rules;
    };
    assert.deepEqual(await rules("success"), ["superseded"]);
    assert.deepEqual(await rules("error"), []);
  });
});
