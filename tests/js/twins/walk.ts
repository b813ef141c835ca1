/** A conversation call by call, through objects and bytes: what the provider would refuse, and what must not change. */
import { isDeepStrictEqual } from "node:util";
import { fold, foldBody, foldRequest, type Decision, type FoldOptions, type Plan } from "warmfold";
import { faultsOf, markedIn, newFaults } from "./faults.js";
import { blocksOf, imagesOf, isThinking, type Block, type Message, type Request } from "./messages.js";
import type { Call, Pair } from "./pairs.js";

export const SETTINGS: Record<string, FoldOptions> = {
  "default": {},
  "marks": { marks: "anthropic" },
  "dropReasoning": { dropReasoning: true },
};

/** Counts are sums over calls. */
export interface Walked {
  calls: number;
  /** In force at the last call. */
  edits: number;
  folds: number;
  /** Written into the requests. */
  marks: number;
  thinking: { given: number; intact: number; dropped: number };
  images: { given: number; intact: number };
  /** Calls whose request was the same through each way. */
  sameWays: number;
  /** Calls with one before that did not fold and begin with what that one sent; and all that should. */
  warm: { calls: number; kept: number };
  /** Everything that is wrong, one line each. */
  faults: string[];
}

/** One way to fold a request of so many messages, with the plan of the last call. */
type Way = (upTo: number, plan: Plan | null) => { text: string; sent: Request; decision: Decision };

/** Folds each of the calls with the plan of the one before. */
export function walk({ request }: Pair, calls: readonly Call[], options: FoldOptions): Walked {
  const walked: Walked = {
    calls: 0, edits: 0, folds: 0, marks: 0, sameWays: 0, faults: [],
    thinking: { given: 0, intact: 0, dropped: 0 }, images: { given: 0, intact: 0 }, warm: { calls: 0, kept: 0 },
  };
  const asRead = JSON.stringify(request);
  const [first, ...others] = waysOf(request, options);
  let [plan, before]: [Plan | null, string[]] = [null, []];
  for (const { upTo } of calls) {
    const given = { ...request, messages: request.messages.slice(0, upTo) };
    const { text, sent, decision } = first!(upTo, plan);
    const fault = (what: string) => walked.faults.push(`call at ${upTo}: ${what}`);
    newFaults(faultsOf(given), sent).forEach(fault);
    const differing = others.map((way) => way(upTo, plan)).filter((other) => other.text !== text || !isDeepStrictEqual(other.decision, decision));
    if (differing.length > 0) fault(`${differing.length} of the other ways to fold it differ`);
    walked.sameWays += Number(differing.length === 0);
    compare(given, sent, options, walked, fault);
    const now = unmarked(sent, given);
    const { folded, report } = decision;
    if (folded !== (report.foldedFrom !== undefined)) fault(`folded is ${folded}, foldedFrom ${report.foldedFrom}`);
    if (before.length > 0) {
      const stays = Math.min(report.foldedFrom ?? Infinity, before.length);
      const isKept = before.slice(0, stays).every((message, at) => message === now[at]);
      if (!isKept) fault("what was sent before has changed");
      walked.warm.calls += Number(!folded);
      walked.warm.kept += Number(!folded && isKept);
    }
    walked.calls += 1;
    walked.folds += Number(folded);
    walked.edits = decision.plan.edits.length;
    walked.marks += markedIn([...(Array.isArray(sent.system) ? sent.system : []), ...sent.messages]).length;
    [plan, before] = [decision.plan, now];
  }
  if (JSON.stringify(request) !== asRead) walked.faults.push("the conversation itself was changed");
  return walked;
}

/** Objects that grow, in a request and alone, new ones, and bytes. */
function waysOf(request: Request, options: FoldOptions): Way[] {
  const { messages: all, ...rest } = request;
  const growing = (messages: Message[]) => {
    const live: Message[] = [];
    return (upTo: number) => (live.push(...messages.slice(live.length, upTo)), { ...rest, messages: live });
  };
  const asRequest = growing(all);
  const asMessages = growing(structuredClone(all)); // each has objects of its own, by which warmfold knows it again
  const told = ({ request, ...decision }: Decision & { request: Request }) => ({ text: JSON.stringify(request), sent: request, decision });
  const ways: Way[] = [
    (upTo, plan) => told(foldRequest(asRequest(upTo), { ...options, plan })),
    (upTo, plan) => told(foldRequest(structuredClone({ ...rest, messages: all.slice(0, upTo) }), { ...options, plan: structuredClone(plan) })),
    (upTo, plan) => {
      const bytes = new TextEncoder().encode(JSON.stringify({ ...rest, messages: all.slice(0, upTo) }));
      const { body, splices: _, ...decision } = foldBody(bytes, { ...options, plan });
      const text = new TextDecoder().decode(body);
      return { text, sent: JSON.parse(text), decision };
    },
  ];
  // What stands before the messages is not returned, so where it would be marked this is another decision.
  if (rest.system && options.marks) return ways;
  return [...ways, (upTo, plan) => {
    const { messages, ...decision } = fold(asMessages(upTo).messages, { ...options, plan, system: rest.system });
    return told({ request: { ...rest, messages }, ...decision });
  }];
}

/** Holds what is sent against what was given: thinking, images and all that is no text of a result. */
function compare(given: Request, sent: Request, { dropReasoning = false }: FoldOptions, walked: Walked, fault: (what: string) => void): void {
  const { messages } = given;
  const isAnswer = ({ role }: Message) => role === "assistant";
  const saysMore = (message: Message) => message.role === "user" && !blocksOf(message).some(({ type }) => type === "tool_result");
  const kept = Math.min(messages.map(isAnswer).lastIndexOf(true), messages.map(saysMore).lastIndexOf(true));
  if (sent.messages.length !== messages.length) return fault(`${messages.length} messages became ${sent.messages.length}`);
  messages.forEach((message, at) => {
    const after = sent.messages[at]!;
    const [were, are] = [message, after].map((one) => blocksOf(one).filter(isThinking).map((block) => JSON.stringify(block))) as [string[], string[]];
    const isIntact = isDeepStrictEqual(were, are);
    const mayGo = dropReasoning && are.length === 0 && at < kept;
    if (!isIntact && !mayGo) fault(`messages[${at}]: thinking changed`);
    walked.thinking.given += were.length;
    walked.thinking.intact += isIntact ? were.length : 0;
    walked.thinking.dropped += !isIntact && mayGo ? were.length : 0;
    const [had, has] = [message, after].map((one) => imagesOf(one).map((image) => JSON.stringify(image))) as [string[], string[]];
    walked.images.given += had.length;
    walked.images.intact += had.filter((image, nth) => image === has[nth]).length;
    if (!isDeepStrictEqual(had, has)) fault(`messages[${at}]: an image changed`);
    if (after !== message && skeleton(after, message) !== skeleton(message, message)) fault(`messages[${at}]: more changed than texts of results`);
  });
}

/** A message without its thinking, marks of ours and texts of results. */
function skeleton(message: Message, given: Message): string {
  const inResult = (key: string, value: unknown) => (["text", "data"].includes(key) && typeof value === "string" ? "" : value);
  const bare = (block: Block): unknown => {
    if (block.type !== "tool_result") return block;
    return JSON.parse(JSON.stringify(typeof block.content === "string" ? { ...block, content: "" } : block, inResult));
  };
  const { content } = withoutMarks(message, given);
  return JSON.stringify({ ...message, content: Array.isArray(content) ? content.filter((block) => !isThinking(block)).map(bare) : content });
}

/** The messages as JSON, as they would be without marks of ours. */
function unmarked(sent: Request, given: Request): string[] {
  return sent.messages.map((message, at) => JSON.stringify(message === given.messages[at] ? message : withoutMarks(message, given.messages[at]!)));
}

/** A mark turns a string into one text block. The recorded conversations have no marks of their own. */
function withoutMarks(message: Message, given: Message): Message {
  if (!Array.isArray(message.content)) return message;
  const blocks = message.content.map(({ cache_control: _, ...block }) => block);
  return { ...message, content: typeof given.content === "string" ? blocks[0]!.text! : blocks };
}

/** Of records of numbers and lists, field by field. */
export function sum<T extends object>(all: readonly T[]): T {
  const [first, ...rest] = all;
  const add = (one: unknown, other: unknown): unknown => {
    if (typeof one === "number") return one + (other as number);
    return Array.isArray(one) ? [...one, ...(other as unknown[])] : typeof one === "object" ? sum([one as object, other as object]) : one;
  };
  return rest.reduce((total, next) => Object.fromEntries(Object.entries(total).map(([key, value]) => [key, add(value, next[key as keyof T])])) as T, first!);
}
