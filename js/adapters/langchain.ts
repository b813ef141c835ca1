/**
 * warmfold for LangChain (1.1 and later): folds what each model call of an agent sends.
 *
 * ```ts
 * import { createAgent } from "langchain";
 * import { warmfold } from "warmfold/langchain";
 *
 * const agent = createAgent({ model, tools, checkpointer, middleware: [warmfold({ marks: "anthropic" })] });
 * ```
 *
 * What was shortened was so in the requests only: the agent's state, and what a checkpointer stores of it, stays whole. The middleware stands
 * last in the list, so that it sees what is sent.
 *
 * The plan is remembered with the newest message's id, which stays the same where a checkpointer makes new objects on each turn. So one
 * middleware serves many conversations; make one for each agent, and keep it for the next turn. Where nothing is remembered, as in another
 * process, the plan is derived, which is as warm, but it is not known how long the cache has idled.
 *
 * Reasoning is left alone: some providers want it back with its call, and a message does not say whether its own does. The id of a model that
 * is chosen by `configurable` at run time is not known: pass `model` or `cache`.
 */

import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createMiddleware, HumanMessage, type AgentMiddleware, type BaseMessage } from "langchain";
import { fold } from "../index.js";
import type { Decision, FoldOptions } from "../types.js";
import { newSteps, since, madeFrom } from "./steps.js";

/**
 * As for `fold`, without what a request says itself. `plan` and `cold` are of a conversation's first call here. In decisions the system
 * prompt, where there is one, is message 0.
 */
export interface Options extends Omit<FoldOptions, "format" | "system" | "tools" | "toolChoice" | "usage" | "pins" | "dropReasoning" | "marks"> {
  /**
   * "anthropic" writes `cache_control`, for `ChatAnthropic` on results, for other models into their texts, as OpenRouter takes it. Where you
   * mark something in `modelSettings`, as LangChain's own middleware for caching does, pass a lower `maxBreakpoints`. Default "none".
   */
  marks?: "none" | "anthropic" | undefined;
  /** Told of each call: its report, and the plan. */
  onDecision?: ((decision: Decision) => void) | undefined;
}

/** A middleware that folds the messages of each model call. */
export function warmfold({ onDecision, ...options }: Options = {}): AgentMiddleware<undefined, undefined, unknown, readonly [], readonly []> {
  const steps = newSteps();
  return createMiddleware({
    name: "warmfold",
    tools: [],
    wrapModelCall: (request, handler) => {
      const { id, isAnthropic } = modelOf(request.model);
      const history = request.systemMessage.text === "" ? request.messages : [request.systemMessage, ...request.messages];
      const keys = history.map((message) => message.id || message);
      const earlier = steps.find(keys);
      const plain = history.map((message) => plainOf(message, isAnthropic));
      const { messages, ...decision } = fold(plain, {
        ...options,
        format: "openai-chat",
        tools: request.tools.map(toolOf),
        toolChoice: request.toolChoice,
        model: { id, ...options.model },
        ...since(earlier, options),
        usage: earlier && usageOf(history),
      });
      steps.keep(keys, decision.plan);
      onDecision?.(decision);

      const made = madeFrom(plain.map((_, at) => at), messages.length, decision.report);
      const hasPrompt = messages[0]?.role === "system" && (made[0]!.length === 0 || history !== request.messages);
      const originals = made.map(([first]) => (first === undefined ? request.systemMessage : history[first]!));
      const sent = messages.map((message, at) => {
        const [first] = made[at]!;
        const isItself = first === undefined || (made[at]!.length === 1 && message.role === plain[first]!.role);
        return isItself ? taken(message, first === undefined ? undefined : plain[first], originals[at]!) : new HumanMessage({ content: message.content as string });
      });
      const [from, systemMessage] = hasPrompt ? [1, sent[0] as typeof request.systemMessage] : [0, request.systemMessage]; // without a prompt the context block is one
      return handler({ ...request, systemMessage, messages: isAnthropic ? withResults(sent.slice(from), originals.slice(from)) : sent.slice(from) });
    },
  });
}

type Content = BaseMessage["content"];
type Part = Exclude<Content, string>[number];

/** What the classes of messages have beside what all have. */
interface Fields {
  role?: string;
  tool_calls?: readonly { id?: string; name: string; args: unknown }[];
  tool_call_id?: string;
  status?: string;
  response_metadata?: { output_version?: unknown };
  usage_metadata?: { input_tokens: number };
}

/** A message as OpenAI's Chat has it, with the parts that it came with. */
interface Plain {
  role: string;
  name: string | undefined;
  content: string | (Part | string)[];
  tool_calls: object[] | undefined;
  tool_call_id: string | undefined;
  status: string | undefined;
}

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };
/** Parts that say again what `tool_calls` says. */
const CALLS: readonly unknown[] = ["tool_use", "input_json_delta", "tool_call", "functionCall"];

/** Messages are instances, which keep their role in a getter and their content twice: what is folded is this. */
function plainOf(message: BaseMessage, isAnthropic: boolean): Plain {
  const { role = ROLES[message.type] ?? message.type, tool_calls: calls, tool_call_id, status, response_metadata } = message as Fields & BaseMessage;
  // A bare string has no place for a mark: it would be lost with an answer in LangChain's own blocks, and Anthropic refuses it inside of a result.
  const isBare = message.type === "ai" ? response_metadata?.output_version === "v1" : message.type === "tool" && isAnthropic;
  const partOf = (part: Part) => (CALLS.includes(part.type) ? { type: part.type } : isBare && part.type === "text" ? String(part["text"]) : part);
  return {
    role,
    name: message.name,
    content: Array.isArray(message.content) ? message.content.map(partOf) : message.content,
    tool_calls: calls?.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: args } })),
    tool_call_id,
    status,
  };
}

/**
 * The message itself where nothing was done to it, else another instance of its class, with the parts that were folded or marked and its
 * own others.
 */
function taken<M extends BaseMessage>(folded: Plain, plain: Plain | undefined, message: M): M {
  if (folded === plain) return message;
  const partOf = (part: Part | string, at: number) => {
    const own = message.content[at];
    if (part === plain?.content[at]) return own;
    return typeof part === "string" && typeof own === "object" ? { ...own, text: part } : part;
  };
  const content = typeof folded.content === "string" ? folded.content : folded.content.map(partOf);
  return Object.assign(Object.create(Object.getPrototypeOf(message) as object) as M, message, { content, lc_kwargs: { ...message.lc_kwargs, content } });
}

/**
 * Anthropic takes a mark on a result, not inside of it, and its model passes one on only with a block that is made already. So are those
 * that follow: the model would add them to the message of that block, and once more at each further try.
 */
function withResults(messages: readonly BaseMessage[], originals: readonly BaseMessage[]): BaseMessage[] {
  let isMade = false;
  return messages.map((message, at) => {
    const isResult = message.type === "tool";
    if (!isResult) isMade = false;
    if (!isResult || typeof originals[at]!.content !== "string") return message;
    const [marked] = (typeof message.content === "string" ? [] : message.content) as [] | [{ text: string; cache_control: object }];
    isMade ||= marked !== undefined;
    if (!isMade) return message;
    const result = { type: "tool_result", tool_use_id: (message as Fields).tool_call_id, content: marked?.text ?? message.content, cache_control: marked?.cache_control };
    return new HumanMessage({ id: message.id, content: [result] });
  });
}

/** As it is counted, with the mark that a host has put on it for Anthropic. */
function toolOf(tool: object): object {
  const { extras } = tool as { extras?: { cache_control?: unknown } };
  return { ...convertToOpenAITool(tool), cache_control: extras?.cache_control };
}

interface Model {
  model?: unknown;
  modelName?: unknown;
  modelProvider?: string;
  _llmType?(): string;
  /** Of one that was named by a string. */
  _defaultConfig?: Model;
  /** Of one with settings bound to it. */
  bound?: Model;
}

/** Of the model that is called in the end. */
function modelOf(called: object): { id: string | undefined; isAnthropic: boolean } {
  const model = called as Model;
  const inner = model._defaultConfig ?? model.bound;
  if (inner) return modelOf(inner);
  const id = [model.model, model.modelName].find((name): name is string => typeof name === "string");
  const provider = model.modelProvider ?? model._llmType?.() ?? (id?.startsWith("claude") ? "anthropic" : undefined);
  return { id, isAnthropic: provider === "anthropic" };
}

/** What the provider counted for the last answer, which is all that was sent, cached or not. */
function usageOf(history: readonly BaseMessage[]): FoldOptions["usage"] {
  const upTo = history.map(({ type }) => type).lastIndexOf("ai");
  const inputTokens = (history[upTo] as Fields | undefined)?.usage_metadata?.input_tokens;
  return inputTokens ? { inputTokens, upTo } : undefined;
}
