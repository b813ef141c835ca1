/** What the providers answer, in the shapes that they document. */
import type { Anthropic } from "@anthropic-ai/sdk";
import type { OpenAI } from "openai";
import type { Response } from "openai/resources/responses/responses";
import type { Answer } from "./provider.js";
import { CONCLUSION, STEPS } from "./script.js";

/** Every client calls a body's tokens something else; here a token is four bytes, or a little less. */
const tokensOf = (body: string) => Math.ceil(body.length / 3.7);
const json = (body: object): Answer => ({ type: "application/json", body: JSON.stringify(body) });
const argumentsOf = (input: object) => JSON.stringify(input);

export function chat(step: number, body: string): Answer {
  const calls = STEPS[step];
  const toolCalls = calls?.map(({ id, name, input }) => ({ id, type: "function" as const, function: { name, arguments: argumentsOf(input) } }));
  return json({
    id: `chatcmpl-${step}`,
    object: "chat.completion",
    created: 1_760_000_000 + step,
    model: "gpt-5.6",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: calls ? null : CONCLUSION, refusal: null, ...(toolCalls && { tool_calls: toolCalls }) },
        logprobs: null,
        finish_reason: calls ? "tool_calls" : "stop",
      },
    ],
    usage: { prompt_tokens: tokensOf(body), completion_tokens: 20, total_tokens: tokensOf(body) + 20 },
  } satisfies OpenAI.ChatCompletion);
}

export function responses(step: number, body: string): Answer {
  const calls = STEPS[step];
  const output = calls
    ? [
        { type: "reasoning" as const, id: `rs_${step}`, summary: [{ type: "summary_text" as const, text: "One after the other." }], encrypted_content: "Z2VoZWlt" },
        ...calls.map(({ id, name, input }) => ({ type: "function_call" as const, id: `fc_${id}`, call_id: id, name, arguments: argumentsOf(input), status: "completed" as const })),
      ]
    : [{ type: "message" as const, id: "msg_1", role: "assistant" as const, status: "completed" as const, content: [{ type: "output_text" as const, text: CONCLUSION, annotations: [] }] }];
  return json({
    id: `resp_${step}`,
    object: "response",
    created_at: 1_760_000_000 + step,
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: "gpt-5.6",
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: tokensOf(body),
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: tokensOf(body) + 20,
    },
  } satisfies Omit<Response, "output_text">);
}

function message(step: number, body: string): Pick<Anthropic.Message, "id" | "type" | "role" | "model" | "stop_sequence"> & { content: Block[]; stop_reason: string; usage: object } {
  const calls = STEPS[step];
  const said: Block[] = calls ? calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })) : [{ type: "text", text: CONCLUSION }];
  return {
    id: `msg_${step}`,
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "thinking", thinking: "One after the other.", signature: `c2lnbmVk${step}` }, ...said],
    stop_reason: calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: tokensOf(body), cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 20 },
  };
}

type Block = Anthropic.ThinkingBlockParam | Anthropic.ToolUseBlockParam | Anthropic.TextBlockParam;

export const messages = (step: number, body: string): Answer => json(message(step, body));

/** The same as events. */
export function streamedMessages(step: number, body: string): Answer {
  const { content, stop_reason, stop_sequence, usage, ...start } = message(step, body);
  const events: { type: string; [field: string]: unknown }[] = [
    { type: "message_start", message: { ...start, content: [], stop_reason: null, stop_sequence: null, usage } },
    ...content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: beginning(block) },
      ...deltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ];
  return { type: "text/event-stream", body: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("") };
}

function beginning(block: Block): object {
  if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
  return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
}

function deltas(block: Block): object[] {
  if (block.type === "thinking") return [{ type: "thinking_delta", thinking: block.thinking }, { type: "signature_delta", signature: block.signature }];
  if (block.type === "text") return [{ type: "text_delta", text: block.text }];
  const text = argumentsOf(block.input as object);
  return [text.slice(0, 5), text.slice(5)].map((partial_json) => ({ type: "input_json_delta", partial_json }));
}
