/** The loop of an agent, with each provider's own client. What it stores is frozen: who changes it throws. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { ResponseCreateParamsNonStreaming, ResponseInput } from "openai/resources/responses/responses";
import { frozen } from "../histories.js";
import { PICTURE, QUESTION, resultOf, RULES, SCHEMA, TOOLS, type Call } from "./script.js";

export interface Line {
  url: string;
  /** Between the client and the provider. */
  fetch?: typeof fetch | undefined;
  /** Between the history and the client. */
  fold<R extends object>(request: R): R;
  /** What the provider has counted of the request that was made from so much of the history. */
  counted(inputTokens: number, upTo: number): void;
}

/** Holds a conversation; what is stored in the end. */
export type Talk = (line: Line) => Promise<readonly object[]>;

const options = ({ fetch }: Line) => ({ apiKey: "none", maxRetries: 0, timeout: 10_000, fetch });
const asCall = (id: string, name: string, input: unknown) => ({ id, name, input }) as Call;

export const chat: Talk = async (line) => {
  const client = new OpenAI({ ...options(line), baseURL: `${line.url}/v1` });
  const picture: OpenAI.ChatCompletionContentPartImage = { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } };
  const history: OpenAI.ChatCompletionMessageParam[] = [
    { role: "system", content: RULES },
    { role: "user", content: [{ type: "text", text: QUESTION }, picture] },
  ];
  const tools = TOOLS.map((tool) => ({ type: "function" as const, function: { ...tool, parameters: SCHEMA } }));
  for (;;) {
    const params: OpenAI.ChatCompletionCreateParamsNonStreaming = { model: "gpt-5.6", tools, messages: frozen([...history]) };
    const { choices, usage } = await client.chat.completions.create(line.fold(params));
    line.counted(usage!.prompt_tokens, history.length);
    const { message } = choices[0]!;
    history.push(message);
    for (const call of message.tool_calls ?? []) {
      if (call.type !== "function") continue;
      const text = resultOf(asCall(call.id, call.function.name, JSON.parse(call.function.arguments)));
      // Of two texts a cut leaves two.
      const content = call.function.name === "screenshot" ? [{ type: "text" as const, text: "As text:" }, { type: "text" as const, text }] : text;
      history.push({ role: "tool", tool_call_id: call.id, content });
    }
    if (!message.tool_calls) return history;
  }
};

export const responses: Talk = async (line) => {
  const client = new OpenAI({ ...options(line), baseURL: `${line.url}/v1` });
  const picture = { type: "input_image" as const, image_url: `data:image/png;base64,${PICTURE}`, detail: "auto" as const };
  const history: ResponseInput = [{ role: "user", content: [{ type: "input_text", text: QUESTION }, picture] }];
  const tools = TOOLS.map((tool) => ({ type: "function" as const, ...tool, parameters: SCHEMA, strict: false }));
  for (;;) {
    const params: ResponseCreateParamsNonStreaming = { model: "gpt-5.6", instructions: RULES, tools, store: false, include: ["reasoning.encrypted_content"], input: frozen([...history]) };
    const { output, usage } = await client.responses.create(line.fold(params));
    line.counted(usage!.input_tokens, history.length);
    history.push(...(output as ResponseInput)); // their types tell the two apart, their API does not
    const calls = output.filter((item) => item.type === "function_call");
    for (const { call_id, name, arguments: input } of calls) {
      const text = resultOf(asCall(call_id, name, JSON.parse(input)));
      history.push({ type: "function_call_output", call_id, output: name === "screenshot" ? [{ type: "input_text", text }, picture] : text });
    }
    if (calls.length === 0) return history;
  }
};

const messagesBy = (create: (client: Anthropic, params: Anthropic.MessageCreateParamsNonStreaming) => Promise<Anthropic.Message>): Talk => async (line) => {
  const client = new Anthropic({ ...options(line), baseURL: line.url });
  const picture: Anthropic.ImageBlockParam = { type: "image", source: { type: "base64", media_type: "image/png", data: PICTURE } };
  const history: Anthropic.MessageParam[] = [{ role: "user", content: [{ type: "text", text: QUESTION }, picture] }];
  const tools = TOOLS.map((tool) => ({ ...tool, input_schema: SCHEMA }));
  for (;;) {
    const params: Anthropic.MessageCreateParamsNonStreaming = { model: "claude-haiku-4-5", max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 2000 }, system: RULES, tools, messages: frozen([...history]) };
    const { content, usage } = await create(client, line.fold(params));
    line.counted(usage.input_tokens, history.length);
    history.push({ role: "assistant", content });
    const results = content.filter((block) => block.type === "tool_use").map(({ id, name, input }): Anthropic.ToolResultBlockParam => {
      const text = resultOf(asCall(id, name, input));
      return { type: "tool_result", tool_use_id: id, content: name === "screenshot" ? [{ type: "text", text }, picture] : text };
    });
    if (results.length === 0) return history;
    history.push({ role: "user", content: results });
  }
};

export const messages = messagesBy((client, params) => client.messages.create(params));
export const streamedMessages = messagesBy((client, params) => client.messages.stream(params).finalMessage());
