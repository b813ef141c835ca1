/** Recorded conversations in Anthropic's format, each with the same one as OpenAI Chat. */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isThoughtOnly, type Message, type Request } from "./messages.js";

export interface Pair {
  name: string;
  request: Request;
  twin: Request;
}

/** A model call: how many messages it is made from, here and in the twin; an answer of thinking alone is none of the twin's. */
export interface Call {
  upTo: number;
  twinUpTo?: number;
}

/** All in `FOLDER/anthropic` that have a twin in `FOLDER/openai`, by name; nothing where there is no such folder. */
export function readPairs(folder: string): Pair[] | undefined {
  if (!exists(join(folder, "anthropic"))) return undefined;
  const names = readdirSync(join(folder, "anthropic")).filter((name) => name.endsWith(".json")).sort();
  return names.filter((name) => exists(join(folder, "openai", name))).map((file) => {
    const [request, twin] = ["anthropic", "openai"].map((format) => {
      const { source: _, ...request } = JSON.parse(readFileSync(join(folder, format, file), "utf8")) as Request & { source: unknown };
      return request;
    }) as [Request, Request];
    return { name: basename(file, ".json"), request, twin };
  });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** When the messages of `request` came, in milliseconds, of a record made for the twin's; only those of answers. */
export function readTimes(folder: string, { name, request, twin }: Pair): (number | null)[] {
  const path = join(folder, "timing", `${name}.json`);
  const recorded = exists(path) ? (JSON.parse(readFileSync(path, "utf8")) as { messages: { i: number; ts?: string | number }[] }).messages : [];
  const byMessage = new Map(recorded.map(({ i, ts }) => [i, typeof ts === "string" ? Date.parse(ts) : ts]));
  const twins = answersOf(twin.messages);
  const times = request.messages.map((): number | null => null);
  answersOf(request.messages).filter((at) => !isThoughtOnly(request.messages[at]!)).forEach((at, nth) => {
    const time = byMessage.get(twins[nth]!);
    times[at] = Number.isFinite(time) ? time! : null;
  });
  return times;
}

function answersOf(messages: readonly Message[]): number[] {
  return messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
}

/** Before every answer but a first message, and the one that is due where the model has not had the last word. */
export function callsOf({ name, request, twin }: Pair): Call[] {
  const twins = answersOf(twin.messages);
  const calls = answersOf(request.messages).map((upTo): Call => (isThoughtOnly(request.messages[upTo]!) ? { upTo } : { upTo, twinUpTo: twins.shift()! }));
  if (twins.length > 0 || calls.some((call) => "twinUpTo" in call && call.twinUpTo === undefined)) throw new Error(`${name}: the twin has other answers`);
  const isDue = ({ messages }: Request) => messages.at(-1)?.role !== "assistant";
  if (isDue(request) && isDue(twin)) calls.push({ upTo: request.messages.length, twinUpTo: twin.messages.length });
  return calls.filter(({ upTo }) => upTo > 0);
}

/** At most so many, the last among them. */
export function spread(calls: readonly Call[], most: number): Call[] {
  const step = Math.max(1, Math.ceil(calls.length / most));
  return calls.filter((_, at) => (calls.length - 1 - at) % step === 0);
}
