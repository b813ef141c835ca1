/**
 * warmfold for the Vercel AI SDK (5, 6 and 7): folds what each step of `generateText`, `streamText` or an agent sends.
 *
 * ```ts
 * import { generateText } from "ai";
 * import { warmfold } from "warmfold/ai-sdk";
 *
 * const { text, response } = await generateText({ model, tools, messages, prepareStep: warmfold({ marks: "anthropic" }) });
 * messages.push(...response.messages); // in full: what was shortened was so in the requests only
 * ```
 *
 * Store what the SDK returns, never what `prepareStep` does. The plan is remembered with the message objects, for all adapters at once, so one
 * may serve many conversations; where they come from storage and no `plan` is passed, it is derived from them, which is as warm.
 *
 * A step does not show the tools, nor in versions 5 and 6 the system prompt: pass them to have them counted, and a lower `maxBreakpoints`
 * where you mark them yourself.
 */

import { fold } from "../index.js";
import type { Decision, FoldOptions } from "../types.js";
import { newSteps, since, type Earlier, madeFrom } from "./steps.js";

/** As for `fold`, without what a step says itself. `plan` and `cold` are of a conversation's first step here. */
export interface Options extends Omit<FoldOptions, "format" | "usage" | "toolChoice"> {
  /** Told of each step: its report, and the plan, for hosts that store it. */
  onDecision?: ((decision: Decision) => void) | undefined;
}

/** What we read of a step; the SDK has more. */
export interface Step<M extends object> {
  messages: M[];
  model?: unknown;
  steps?: readonly unknown[];
  /** The system prompt, in version 7. */
  instructions?: unknown;
}

const steps = newSteps();
const conversations = new WeakMap<Earlier, { latest?: Earlier }>();
/** What messages of ours were made from; nothing for a context block. Version 7 passes on to a step what the one before has sent. */
const originals = new WeakMap<object, readonly object[]>();

/** A `prepareStep` that folds the messages of each step. */
export function warmfold({ onDecision, ...options }: Options = {}): <M extends object>(step: Step<M>) => { messages: M[] } {
  return (step) => {
    type Message = (typeof step.messages)[number];
    const history = step.messages.flatMap((message) => (originals.get(message) as readonly Message[] | undefined) ?? message);
    const found = steps.find(history);
    const conversation = (found && conversations.get(found)) ?? {};
    // What is returned of a turn are not the objects that its steps were shown: the step found may be its first.
    const answers = history.slice(found?.upTo).filter((message) => (message as { role?: unknown }).role === "assistant");
    const earlier = answers.length > 1 && found ? conversation.latest : found;
    const { messages, ...decision } = fold(history, {
      ...(options.contextBlock === undefined ? { system: step.instructions } : {}),
      ...options,
      format: "ai-sdk",
      model: { id: idOf(step.model), ...options.model },
      ...since(earlier, options),
      usage: earlier && usageOf(step.steps, earlier.upTo),
    });
    madeFrom(history, messages.length, decision.report).forEach((made, at) => {
      if (made[0] !== messages[at]) originals.set(messages[at]!, made);
    });
    conversation.latest = steps.keep(history, decision.plan);
    conversations.set(conversation.latest, conversation);
    onDecision?.(decision);
    return { messages };
  };
}

function idOf(model: unknown): string | undefined {
  const id = typeof model === "object" && model !== null ? (model as { modelId?: unknown }).modelId : model;
  return typeof id === "string" ? id : undefined;
}

/** What the provider counted at the step before; version 5 leaves out of it what some of them have cached. */
function usageOf(steps: readonly unknown[] | undefined, upTo: number): FoldOptions["usage"] {
  const { inputTokens, inputTokenDetails } = ((steps?.at(-1) as { usage?: object } | undefined)?.usage ?? {}) as Record<string, unknown>;
  return typeof inputTokens === "number" && inputTokens > 0 && inputTokenDetails ? { inputTokens, upTo } : undefined;
}
