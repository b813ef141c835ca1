/** The providers' own clients send folded requests to a provider on the loopback interface. What arrives is held against the laws. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool, type LanguageModel, type ModelMessage } from "ai";
import type { Decision, Format } from "warmfold";
import { warmfold } from "warmfold/ai-sdk";
import * as answers from "./clients/answers.js";
import { Folding } from "./clients/folding.js";
import { assertFolded, assertWarm, type List } from "./clients/laws.js";
import { recorded, type Answer } from "./clients/provider.js";
import { CONCLUSION, PICTURE, QUESTION, REQUESTS, resultOf, RULES, SCHEMA, TOOLS, type Call } from "./clients/script.js";
import * as talks from "./clients/talks.js";
import { assertValid, canValidate, keep } from "./clients/validators.js";
import { frozen } from "./histories.js";

interface Provider {
  /** Of the bodies. */
  format: Format;
  list: List;
  answer(step: number, body: string): Answer;
  marks: readonly ("none" | "anthropic" | "openai")[];
}

const chat: Provider = { format: "openai-chat", list: "messages", answer: answers.chat, marks: ["none", "openai"] };
const responses: Provider = { format: "openai-responses", list: "input", answer: answers.responses, marks: ["none", "openai"] };
const anthropic: Provider = { format: "anthropic", list: "messages", answer: answers.messages, marks: ["none", "anthropic"] };

/** Near enough for some to come. */
const milestoneTokens = 4000;
const timeout = 60_000;
const fileName = (format: Format, client: string, marks: string) => [format, `${client} ${marks}`.match(/\w+/g)!.join("-")].join(".");

const CLIENTS: Record<string, Provider & { talk: talks.Talk }> = {
  "openai: chat.completions.create": { ...chat, talk: talks.chat, marks: ["none", "openai", "anthropic"] },
  "openai: responses.create": { ...responses, talk: talks.responses },
  "@anthropic-ai/sdk: messages.create": { ...anthropic, talk: talks.messages },
  "@anthropic-ai/sdk: messages.stream": { ...anthropic, talk: talks.streamedMessages, answer: answers.streamedMessages },
};

for (const [name, { format, list, answer, talk, marks: dialects }] of Object.entries(CLIENTS)) {
  describe(name, { timeout }, () => {
    for (const marks of dialects) {
      test(`marks: ${marks}`, async () => {
        let [stored, whole, behind]: (readonly object[])[] = [];
        const folding = new Folding({ marks, milestoneTokens });
        const bodies = await recorded(REQUESTS, answer, async (url) => (stored = await talk(folding.before(url))));
        keep(fileName(format, name, marks), bodies);
        assertFolded(bodies, folding.decisions, { marked: marks !== "none" });
        assertWarm(bodies, list, folding.decisions);

        await recorded(REQUESTS, answer, async (url) => (whole = await talk({ url, fold: (request) => request, counted: () => {} })));
        assert.deepEqual(stored, whole, "what is stored is what was said");

        const router = new Folding({ marks, milestoneTokens });
        const routed = await recorded(REQUESTS, answer, async (url) => (behind = await talk(router.behind(url))));
        assert.deepEqual(behind, whole);
        assert.deepEqual(router.decisions.map(({ plan }) => plan), folding.decisions.map(({ plan }) => plan));
        assert.deepEqual(routed, bodies, "a router sends the very bytes");
      });
    }
  });
}

type Options = Parameters<typeof generateText>[0]["providerOptions"];
interface Model extends Provider {
  of(address: { baseURL: string; apiKey: string; fetch?: typeof fetch }): LanguageModel;
  options?: Options;
}

const MODELS: Record<string, Model> = {
  "@ai-sdk/openai, chat": { ...chat, of: (address) => createOpenAI(address).chat("gpt-5.6") },
  "@ai-sdk/openai, responses": {
    ...responses,
    of: (address) => createOpenAI(address).responses("gpt-5.6"),
    options: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
  },
  // What the model has thought is then sent as references.
  "@ai-sdk/openai, stored responses": { ...responses, of: (address) => createOpenAI(address).responses("gpt-5.6") },
  "@ai-sdk/anthropic": {
    ...anthropic,
    of: (address) => createAnthropic(address)("claude-haiku-4-5"),
    options: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } },
  },
};

const tools = Object.fromEntries(
  TOOLS.map(({ name, description }) => {
    const execute = async (input: Call["input"], { toolCallId: id }: { toolCallId: string }) => resultOf({ id, name, input });
    const withPicture = (text: string) => ({ type: "content" as const, value: [{ type: "text" as const, text }, { type: "image-data" as const, data: PICTURE, mediaType: "image/png" }] });
    const toModelOutput = ({ output }: { output: string }) => (name === "screenshot" ? withPicture(output) : { type: "text" as const, value: output });
    return [name, tool({ description, inputSchema: jsonSchema<Call["input"]>(SCHEMA), execute, toModelOutput })];
  }),
);

for (const [name, { format, list, answer, of, options: providerOptions, marks: dialects }] of Object.entries(MODELS)) {
  describe(`ai with ${name}`, { timeout }, () => {
    const messages: ModelMessage[] = frozen([{ role: "user", content: [{ type: "text", text: QUESTION }, { type: "image", image: PICTURE, mediaType: "image/png" }] }]);
    type Prepare = NonNullable<Parameters<typeof generateText<typeof tools>>[0]["prepareStep"]>;
    async function talk(url: string, { prepareStep, fetch }: { prepareStep?: Prepare; fetch?: typeof globalThis.fetch }): Promise<ModelMessage[]> {
      const model = of({ baseURL: `${url}/v1`, apiKey: "none", ...(fetch && { fetch }) });
      const { text, response } = await generateText({ model, system: RULES, messages, tools, providerOptions, maxRetries: 0, stopWhen: stepCountIs(REQUESTS), prepareStep });
      assert.equal(text, CONCLUSION);
      return response.messages;
    }

    for (const marks of dialects) {
      test(`marks: ${marks}`, async () => {
        let [stored, whole, behind]: (readonly object[])[] = [];
        const decisions: Decision[] = [];
        const prepared: object[] = [];
        const fold = warmfold({ marks, milestoneTokens, tools, onDecision: (decision) => decisions.push(decision) });
        const prepareStep: Prepare = (step) => {
          const messages = fold(step);
          prepared.push(messages);
          return messages;
        };
        const bodies = await recorded(REQUESTS, answer, async (url) => (stored = await talk(url, { prepareStep })));
        keep(fileName(format, `ai ${name}`, marks), bodies);
        keep(fileName("ai-sdk", name, marks), prepared.map((messages) => JSON.stringify(messages)));
        assertFolded(bodies, decisions, { marked: marks !== "none" });
        assertWarm(bodies, list, decisions, () => 0); // it counts the SDK's messages

        await recorded(REQUESTS, answer, async (url) => (whole = await talk(url, {})));
        assert.deepEqual(stored, whole, "what is stored is what was said");

        const router = new Folding({ marks, milestoneTokens });
        const routed = await recorded(REQUESTS, answer, async (url) => (behind = await talk(url, router)));
        keep(fileName(format, `ai ${name} router`, marks), routed);
        assert.deepEqual(behind, whole);
        assertFolded(routed, router.decisions, { marked: marks !== "none" });
        assertWarm(routed, list, router.decisions);
      });
    }
  });
}

test("each provider takes what it was sent", { skip: !canValidate && "there is no cargo to ask the validators with", timeout: 900_000 }, assertValid);

test("what rewrites what was sent is found", () => {
  const bodies = (...texts: string[]) => texts.map((text) => `{"messages":[{"role":"user","content":${text}}]}`);
  const [part, marked] = [`[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`];
  const calls = [{ folded: false }, { folded: false }] as Decision[];
  assertWarm(bodies(`"a"`, marked), "messages", calls);
  assertWarm(bodies(marked, part), "messages", calls);
  assert.throws(() => assertWarm(bodies(`"a"`, `"b"`), "messages", calls), /request 1 does not begin/);
  assert.throws(() => assertWarm(bodies(`"a"`, `"a" `), "messages", calls), /request 1 does not begin/);
  assert.throws(() => assertFolded(bodies(`"a"`, `"a"`), calls.map((call) => ({ ...call, plan: { edits: [] as object[] } })) as Decision[], { marked: false }), /0 folds/);
});
