/** Whether a conversation and its twin are decided alike: of the texts that are the same in both, which edits each call has in force. */
import { isDeepStrictEqual } from "node:util";
import { decide, fold, type Edit, type FoldOptions, type Format, type Plan } from "warmfold";
import { blocksOf, imagesOf, isImage, isThinking, isThoughtOnly, resultTexts, type Block, type Message, type Request, type ResultText } from "./messages.js";
import { callsOf, type Call, type Pair } from "./pairs.js";

export interface Agreement {
  /** Texts of results, and those that are the same in both. */
  texts: number;
  common: number;
  /** Edits of common texts in force, summed over calls: those that are the same in both, and those of either. */
  alike: number;
  all: number;
  /** Of those that differ, the ones that the other makes too, at another call. */
  otherCall: number;
}

export function agreement(pair: Pair, options: FoldOptions, calls: readonly Call[] = callsOf(pair)): Agreement {
  const texts = [resultTexts(pair.request), resultTexts(pair.twin)] as const;
  const whole = ({ result, nth, text }: ResultText) => `${result} ${nth} ${text}`;
  const theirs = new Set(texts[1].map(whole));
  const common = new Set(texts[0].map(whole).filter((text) => theirs.has(text)));
  const named = ({ message, part, result, nth }: ResultText): [string, string] => [`${message} ${part}`, `${result} ${nth}`];
  const [ours, others] = texts.map((all) => new Map(all.filter((text) => common.has(whole(text))).map(named)));
  const isBoth = ({ twinUpTo }: Call) => twinUpTo !== undefined;
  const here = inForce(pair.request, calls, options, ours!).filter((_, at) => isBoth(calls[at]!));
  const there = inForce(pair.twin, calls.filter(isBoth).map(({ twinUpTo }) => ({ upTo: twinUpTo! })), options, others!);
  const ever = [here, there].map((byCall) => new Set(byCall.flat()));
  const result = { texts: texts[0].length, common: common.size, alike: 0, all: 0, otherCall: 0 };
  here.forEach((edits, at) => {
    const other = new Set(there[at]);
    const all = new Set([...edits, ...other]);
    const alike = edits.filter((edit) => other.has(edit)).length;
    result.alike += alike;
    result.all += all.size;
    result.otherCall += [...all].filter((edit) => ever.every((one) => one.has(edit))).length - alike;
  });
  return result;
}

/** At each call, what the edits of these texts do: text, rule and pieces, without the address, which differs. */
function inForce({ messages, system }: Request, calls: readonly Call[], options: FoldOptions, texts: ReadonlyMap<string, string>): string[][] {
  let plan: Plan | null = null;
  const live: Message[] = [];
  return calls.map(({ upTo }) => {
    live.push(...messages.slice(live.length, upTo));
    ({ plan } = fold(live, { ...options, system, plan }));
    const told = ({ message, part, rule, pieces }: Edit) => {
      const text = texts.get(`${message} ${part}`);
      return text === undefined ? [] : [JSON.stringify([text, rule, pieces])];
    };
    return plan.edits.flatMap(told);
  });
}

/** What only one of the two formats can say, or counts otherwise, taken away one after the other. */
export const LEVELS: [what: string, level: (pair: Pair) => Pair][] = [
  ["as they are", (pair) => pair],
  ["the twin told which results failed", tellFailures],
  ["no answers of thinking alone", ({ request, ...pair }) => ({ ...pair, request: mapped(request, (message) => (isThoughtOnly(message) ? [] : [message])) })],
  ["no thinking", ({ request, ...pair }) => ({ ...pair, request: mapped(request, withoutThinking) })],
  ["no images", ({ request, twin, ...pair }) => ({ ...pair, request: mapped(request, withoutImages), twin: mapped(twin, withoutImages) })],
  ["the same texts in the twin's results", sameTexts],
  ["a message for each result", ({ request, ...pair }) => ({ ...pair, request: mapped(request, apart) })],
  ["messages of one size", padded],
];
/** From here on only sizes and texts differ. */
export const LEVELLED = 3;

export function levelled(pair: Pair, levels = LEVELLED): Pair {
  return LEVELS.slice(0, levels).reduce((done, [, level]) => level(done), pair);
}

function mapped(request: Request, change: (message: Message) => Message | Message[]): Request {
  return { ...request, messages: request.messages.flatMap(change) };
}

function withoutThinking(message: Message): Message {
  return Array.isArray(message.content) ? { ...message, content: message.content.filter((block) => !isThinking(block)) } : message;
}

function withoutImages(message: Message): Message {
  if (imagesOf(message).length === 0) return message;
  const inside = (block: Block) =>
    Array.isArray(block.content) ? { ...block, content: block.content.filter((item) => typeof item === "string" || !isImage(item)) } : block;
  return { ...message, content: blocksOf(message).filter((block) => !isImage(block)).map(inside) };
}

/** In Chat nothing says that a call failed, though a host may. */
function tellFailures({ request, twin, ...pair }: Pair): Pair {
  const failed = new Set(request.messages.flatMap(blocksOf).filter(({ is_error }) => is_error).map(({ tool_use_id }) => tool_use_id));
  const tell = (message: Message) => (message.tool_call_id && failed.has(message.tool_call_id) ? { ...message, is_error: true } : message);
  return { ...pair, request, twin: mapped(twin, tell) };
}

/** The twin has some of them in other words: what a search found, and values that are no text. */
function sameTexts({ request, twin, ...pair }: Pair): Pair {
  const texts = resultTexts(request);
  const theirs = resultTexts(twin);
  let result = 0;
  const change = (message: Message): Message => {
    if (message.role !== "tool") return message;
    const number = result++;
    const [own, other] = [texts, theirs].map((all) => all.filter((one) => one.result === number).map(({ text }) => text)) as [string[], string[]];
    return isDeepStrictEqual(own, other) ? message : { ...message, content: own.map((text) => ({ type: "text", text })) };
  };
  return { ...pair, request, twin: mapped(twin, change) };
}

/** Each result of a message, and what the user says beside them. */
function apart(message: Message): Message[] {
  const isResult = ({ type }: Block) => type === "tool_result";
  const blocks = blocksOf(message);
  const rest = blocks.filter((block) => !isResult(block));
  if (blocks.length < 2 || rest.length === blocks.length) return [message];
  return [...blocks.filter(isResult).map((block) => ({ ...message, content: [block] })), ...(rest.length > 0 ? [{ ...message, content: rest }] : [])];
}

/** A field that nobody knows is counted: with one in each message, both take as many tokens up to each. */
function padded(pair: Pair): Pair {
  const ends = boundaries(pair);
  const sizes = [tokensUpTo(pair.request, "anthropic", ends.map(([end]) => end)), tokensUpTo(pair.twin, "openai-chat", ends.map(([, end]) => end))];
  const [request, twin] = [pair.request, pair.twin].map((one) => ({ ...one, messages: [...one.messages] })) as [Request, Request];
  const added = [0, 0];
  ends.forEach((both, at) => {
    const tokens = sizes.map((size, side) => size[at]! + added[side]!);
    const most = Math.max(...tokens) + SMALLEST_PAD;
    [request, twin].forEach(({ messages }, side) => {
      const pad = padOf(most - tokens[side]!);
      messages[both[side]! - 1] = { ...messages[both[side]! - 1]!, ...pad.field };
      added[side]! += pad.tokens;
    });
  });
  return { ...pair, request, twin };
}

/** Where messages end that are the same in both, up to the last call. */
function boundaries(pair: Pair): [number, number][] {
  let [from, twinFrom] = [0, 0];
  return callsOf(pair).flatMap(({ upTo, twinUpTo = upTo }) => {
    const all = Array.from({ length: upTo - from }, (_, at): [number, number] => [from + at + 1, twinFrom + at + 1]);
    const ends = upTo - from === twinUpTo - twinFrom ? all : [[upTo, twinUpTo] as [number, number]];
    [from, twinFrom] = [upTo, twinUpTo];
    return ends;
  });
}

/** Of prefixes that end before these messages. */
function tokensUpTo({ messages, system }: Request, format: Format, ends: readonly number[]): number[] {
  return ends.map((end) => decide(messages.slice(0, end), { format, system, plan: null, when: "never" }).report.tokensBefore);
}

const SMALLEST_PAD = 40;

/** A field of so many tokens, or one more. */
function padOf(tokens: number): { field: { padding: string }; tokens: number } {
  const bare = { role: "user", content: "x" };
  const estimate = (padding?: string) => decide([{ ...bare, padding }], { plan: null, when: "never" }).report.tokensBefore;
  const field = (length: number) => "word ".repeat(Math.ceil(length / 5)).slice(0, length);
  let [low, high] = [0, 10 * tokens];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (estimate(field(middle)) - estimate() < tokens) low = middle + 1;
    else high = middle;
  }
  return { field: { padding: field(low) }, tokens: estimate(field(low)) - estimate() };
}

/** Options under which the size of nothing decides. */
export const SIZELESS: [what: string, options: FoldOptions][] = [
  ["if all tokens cost the same", { cache: { read: 1, write: 1, ttlMs: 300_000 } }],
  ["if the budget is one token", { when: "budget", budgetTokens: 1 }],
];
