/**
 * What the documentation of Anthropic Messages says is answered with 400, as far as a history is concerned. Faults name the message and not
 * the block, so that those of a request and of what became of it can be held against each other.
 */
import { blocksOf, isThinking, type Block, type Message, type Request } from "./messages.js";

/** The faults that were not there before. */
export function newFaults(before: readonly string[], after: Request): string[] {
  const known = [...before];
  return faultsOf(after).filter((fault) => {
    const at = known.indexOf(fault);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

export function faultsOf(request: Request): string[] {
  const { messages } = request;
  const turns = turnsOf(messages);
  return [
    ...(messages.length === 0 ? ["there are no messages"] : []),
    ...(messages[0]?.role === "assistant" ? ["the first message is not the user's"] : []),
    ...messages.flatMap((message, at) => ofMessage(message, at === messages.length - 1, messages[at - 1]).map((fault) => `messages[${at}]: ${fault}`)),
    ...(Array.isArray(request.system) && !request.system.every((block) => block.type === "text" && !isBlank(block.text)) ? ["system: an empty block"] : []),
    ...turns.flatMap((turn, at) => pairing(turn, turns[at - 1], turns[at + 1]).map((fault) => `turn ${at}: ${fault}`)),
    ...twice(turns.flatMap((turn) => ids(turn, "tool_use", "id"))).map((id) => `two calls have the id ${id}`),
    ...ofMarks(request),
  ];
}

const isBlank = (text: unknown) => typeof text !== "string" || text.trim() === "";
const when = (is: boolean, fault: string) => (is ? [fault] : []);

function ofMessage(message: Message, isLast: boolean, before: Message | undefined): string[] {
  const { role, content } = message;
  const isPrefilled = isLast && role === "assistant";
  const isEmpty = typeof content === "string" ? content.trim() === "" : !Array.isArray(content) || content.length === 0;
  return [
    ...when(!(role === "user" || role === "assistant" || (role === "system" && before?.role === "user")), `no ${role} here`),
    ...when(isEmpty && !isPrefilled, "no content"),
    ...blocksOf(message).flatMap((block) => ofBlock(block, role)),
    ...when(role === "assistant" && blocksOf(message).slice(-1).some(isThinking), "it ends with thinking"),
  ];
}

const USERS = ["tool_result", "container_upload", "mid_conv_system"];
const MODELS = ["tool_use", "thinking", "redacted_thinking", "compaction", "server_tool_use", "mcp_tool_use"];
const ANYBODYS = ["text", "image", "document", "search_result"];

function ofBlock(block: Block, role: string): string[] {
  const { type = "" } = block;
  const owner = USERS.includes(type) ? "user" : MODELS.includes(type) || /._tool_result$/.test(type) ? "assistant" : role;
  return [
    ...when(owner !== role, `${type} is not the ${role}'s`),
    ...when(owner === role && ![...USERS, ...MODELS, ...ANYBODYS].includes(type) && !type.endsWith("_tool_result"), `no block is a ${type}`),
    ...when(type === "text" && isBlank(block.text), "an empty text"),
    ...when(type === "search_result" && !isSearchResult(block), "a search result without texts"),
    ...when(type === "tool_use" && (typeof block.input !== "object" || block.input === null || isBlank(block.id)), "a call without input or id"),
    ...when(type === "thinking" && isBlank(block.signature), "thinking without a signature"),
    ...when(type === "redacted_thinking" && isBlank(block.data), "redacted thinking without data"),
    ...(type === "tool_result" ? inResult(block.content) : []),
  ];
}

function inResult(content: Block["content"]): string[] {
  if (content === undefined || content === null || typeof content === "string") return [];
  if (!Array.isArray(content)) return ["a result is a text or blocks"];
  return content.flatMap((item) => {
    const { type = "", text } = typeof item === "string" ? {} : item;
    return [
      ...when(![...ANYBODYS, "tool_reference"].includes(type), `no result holds a ${type}`),
      ...when(type === "text" && isBlank(text), "an empty text in a result"),
      ...when(type === "search_result" && !isSearchResult(item as Block), "a search result without texts"),
    ];
  });
}

function isSearchResult({ content, source, title }: Block): boolean {
  const isText = (item: string | Block) => typeof item === "object" && item.type === "text" && !isBlank(item.text);
  return typeof source === "string" && typeof title === "string" && Array.isArray(content) && content.length > 0 && content.every(isText);
}

/** Messages of one role that follow each other are one turn to the provider. */
interface Turn {
  role: string;
  blocks: Block[];
}

function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { role, content } = message;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : blocksOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks: [...blocks] });
  }
  return turns;
}

function ids(turn: Turn | undefined, type: string, field: "id" | "tool_use_id"): (string | undefined)[] {
  const role = type === "tool_use" ? "assistant" : "user";
  return turn?.role === role ? turn.blocks.filter((block) => block.type === type).map((block) => block[field]) : [];
}

const twice = <T>(all: T[]): T[] => all.filter((one, at) => all.indexOf(one) < at);

/** Every call has its result at the start of the next turn, every result its call in the turn before. */
function pairing(turn: Turn, before: Turn | undefined, next: Turn | undefined): string[] {
  const calls = ids(turn, "tool_use", "id");
  const results = ids(turn, "tool_result", "tool_use_id");
  const first = next?.blocks.findIndex(({ type }) => type !== "tool_result") ?? 0;
  const answered = next ? ids({ ...next, blocks: first < 0 ? next.blocks : next.blocks.slice(0, first) }, "tool_result", "tool_use_id") : [];
  const call = turn.blocks.findIndex(({ type }) => type === "tool_use");
  const asked = ids(before, "tool_use", "id");
  return [
    ...when(calls.length > 0 && turn.blocks.slice(call).some(({ type }) => type === "text"), "text behind a call"),
    ...calls.filter((id) => !answered.includes(id)).map(() => "a call without its result in the next turn"),
    ...results.filter((id) => !asked.includes(id)).map(() => "a result without its call in the turn before"),
    ...twice(results).map(() => "two results of one call"),
  ];
}

/** Marks, in the order in which the provider reads: tools, system, messages. */
function ofMarks(request: Request): string[] {
  const all = [request.tools, request.system, ...request.messages.map(({ content }) => content)].flatMap(markedIn);
  if (request.cache_control) all.push(request);
  const marks = all.map(({ cache_control }) => cache_control!);
  const isHour = marks.map(({ ttl }) => ttl === "1h");
  return [
    ...when(marks.length > 4, `${marks.length} marks`),
    ...when(isHour.some((hour, at) => hour && at > 0 && !isHour[at - 1]), "an hour behind five minutes"),
    ...marks.filter(({ type, ttl = "5m" }) => type !== "ephemeral" || !["5m", "1h"].includes(ttl)).map(() => "no mark"),
    ...all.filter((block) => isThinking(block) || (block.type === "text" && isBlank(block.text)) || block.defer_loading).map(({ type }) => `a mark on ${type}`),
  ];
}

export function markedIn(content: unknown): Block[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: Block) => [...markedIn(block?.content), ...(block?.cache_control ? [block] : [])]);
}
