/** What the compiler must accept and refuse. Checked by `tsc --noEmit`, never run. */
import { createAgent, type CreateAgentParams } from "langchain";
import { WarmfoldError, decide, fold, foldBody, foldRequest, render, replay, type Decision, type FoldOptions, type FoldResult, type Plan, type ReplayReport, type WarmfoldErrorCode } from "warmfold";
import { warmfold as middlewareOf } from "warmfold/langchain";
import { fold as slimFold } from "warmfold/slim";

type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
const same = <Left, Right>(_: Same<Left, Right>): void => {};

// A provider SDK's messages: a union of interfaces, without index signatures.
interface UserMessage {
  role: "user";
  content: string | { type: "text"; text: string }[];
}
interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}
type ChatMessage = UserMessage | ToolMessage;

export function messagesKeepTheirType(history: ChatMessage[], constant: readonly ChatMessage[], plan: Plan): void {
  const result = fold(history, { plan });
  same<typeof result, FoldResult<ChatMessage>>(true);
  same<typeof result.messages, ChatMessage[]>(true);
  same<ReturnType<typeof decide<ChatMessage>>, Decision>(true);
  same<ReturnType<typeof slimFold<ChatMessage>>, FoldResult<ChatMessage>>(true);
  const replayed = render(constant, plan);
  same<typeof replayed.messages, ChatMessage[]>(true);
  same<ReturnType<typeof replay<ChatMessage>>, ReplayReport>(true);
  fold(Object.freeze([{ role: "user", content: "hi" } as const])).messages[0]?.content satisfies "hi" | undefined;
}

export function aFoldedBodyIsABody(bytes: Uint8Array<ArrayBuffer>, buffer: Buffer, idleMs: number | undefined): void {
  foldBody(new TextEncoder().encode("{}")).body satisfies BodyInit;
  foldBody(bytes, { cold: { idleMs } }).body satisfies BodyInit;
  foldBody(buffer).body satisfies Uint8Array;
  const request: { model: string; messages: ChatMessage[] } = { model: "x", messages: [] };
  foldRequest(request).request.messages satisfies ChatMessage[];
}

export function theNextPlanIsTheLastOne(history: ChatMessage[]): void {
  let plan: Plan | null = null;
  plan = fold(history, { plan }).plan;
  plan = decide(history, { plan }).plan;
  render(history, plan, { contextBlock: "Notes" });
}

export const all: Required<Omit<FoldOptions, "plan" | "format">> = {
  system: "x", tools: [], contextBlock: "x", toolChoice: "auto", model: { id: "x", contextWindow: 1, maxOutputTokens: 1, cache: "openai", inputPrice: 1 },
  cold: { modelSwitched: true, retrying: true, idleMs: 1 }, usage: { inputTokens: 1, upTo: 1 }, pins: [0, { message: 1 }, { message: 1, part: 0 }],
  enabled: true, preset: "spec", when: "never",
  cache: { read: 0.1, write: 1.25, ttlMs: 1, minimumTokens: 1024, granularityTokens: 128 }, budgetTokens: 1, floorRatio: 1, fitToWindow: true,
  contextHeadroom: 1, completionReserve: 1, overflow: "digest", autoCompactThreshold: 0.8, protectRecentTurns: 1, maxToolResultBytes: 1, keepHeadBytes: 1, keepTailBytes: 1, minSavedBytes: 1,
  protectQuotedCalls: 1, byKind: { read: { protectCalls: 1, maxBytes: 1, keepHeadBytes: 1, keepTailBytes: 1 }, memory: {} },
  expectedCalls: 1, collapseDuplicateResults: true, elideSupersededReads: true, elideStaleReads: true, dropReasoning: true, toolKinds: { cat: "read" }, resourceOf: { cat: ["path"] },
  outline: true, calibration: { x: { ratio: 1, reports: 1 } }, phases: { cat: "exploration" }, entryCount: 1, count: (text) => text.length,
  marks: "openai", maxBreakpoints: 4, milestoneTokens: 1, label: "x",
};

export function optionsAreChecked(history: ChatMessage[], plan: Plan): void {
  // @ts-expect-error a name that is not there
  fold(history, { floorRatoi: 0.5 });
  // @ts-expect-error of a later version
  fold(history, { summarize: {} });
  // @ts-expect-error a kind
  fold(history, { byKind: { reads: {} } });
  // @ts-expect-error a field of a kind's policy
  fold(history, { byKind: { read: { calls: 1 } } });
  // @ts-expect-error a preset
  fold(history, { preset: "fast" });
  // @ts-expect-error a plan is made call by call
  replay(history, { plan });
  // @ts-expect-error when
  fold(history, { when: "always" });
  // @ts-expect-error a number
  fold(history, { budgetTokens: "40000" });
  // @ts-expect-error a kind
  fold(history, { toolKinds: { cat: "reed" } });
  // @ts-expect-error a name of a profile
  fold(history, { cache: "claude" });
  // @ts-expect-error an unknown field of the model
  fold(history, { model: { window: 1 } });
  // @ts-expect-error both figures are needed
  fold(history, { usage: { inputTokens: 1 } });
  // @ts-expect-error the plan is not an option of render
  render(history, plan, { plan });
  // @ts-expect-error render needs a plan
  render(history);
  // @ts-expect-error a plan, not its text
  fold(history, { plan: "{}" });
  // @ts-expect-error the plan goes into the options
  fold(history, plan);
  // @ts-expect-error messages, not a request
  fold({ messages: history });
}

export function errorsAreTold(thrown: unknown): WarmfoldErrorCode | undefined {
  if (!WarmfoldError.isInstance(thrown)) return undefined;
  same<typeof thrown, WarmfoldError>(true);
  return thrown.code;
}

export async function anAgentKeepsItsTypes({ model }: { model: CreateAgentParams["model"] }): Promise<void> {
  const [bare, folding] = [createAgent({ model, middleware: [] }), createAgent({ model, middleware: [middlewareOf({ preset: "careful", marks: "anthropic" })] })];
  const results = [await bare.invoke({ messages: "hi" }), await folding.invoke({ messages: "hi" })] as const;
  same<(typeof results)[0], (typeof results)[1]>(true);
  same<Parameters<typeof bare.invoke>, Parameters<typeof folding.invoke>>(true);
  same<ReturnType<typeof bare.stream>, ReturnType<typeof folding.stream>>(true);
  // @ts-expect-error LangChain passes on Anthropic's only
  middlewareOf({ marks: "openai" });
  // @ts-expect-error a request says that itself
  middlewareOf({ system: "Rules." });
  // @ts-expect-error no message has an index before there is one
  middlewareOf({ pins: [0] });
}
