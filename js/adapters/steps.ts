/** What a step of a conversation leaves for the next one. */

import type { FoldOptions, Plan, Report } from "../types.js";

export interface Earlier {
  plan: Plan;
  /** Length of its history. */
  upTo: number;
  at: number;
}

/** A message, by which it is then known for as long as it lives, or the id of one. */
type Key = object | string;

/** By the newest message of each step. */
export interface Steps {
  find(history: readonly Key[]): Earlier | undefined;
  keep(history: readonly Key[], plan: Plan): Earlier;
}

/** A message that an earlier step knew is looked for among so many of the newest. */
const NEWEST = 64;
/** Conversations that are known by an id. */
const MOST = 256;

export function newSteps(): Steps {
  const objects = new WeakMap<object, Earlier>();
  const ids = new Map<string, Earlier>(); // the least recently used first
  const get = (key: Key | undefined) => (typeof key === "object" ? objects.get(key) : ids.get(key ?? ""));
  const known = (history: readonly Key[]) => history.slice(-NEWEST).reverse().find(get);
  return {
    find: (history) => get(known(history)),
    keep: (history, plan) => {
      const [before, newest] = [known(history), history.at(-1)];
      const earlier = { plan, upTo: history.length, at: Date.now() };
      if (typeof before === "string") ids.delete(before);
      if (typeof newest === "object") objects.set(newest, earlier);
      else if (newest !== undefined) ids.set(newest, earlier);
      if (ids.size > MOST) ids.delete(ids.keys().next().value!);
      return earlier;
    },
  };
}

/** What a step is told of the one before; the first one is told what the host said. */
export function since(earlier: Earlier | undefined, { plan, cold }: FoldOptions): Pick<FoldOptions, "plan" | "cold"> {
  return earlier ? { plan: earlier.plan, cold: { idleMs: Math.max(0, Date.now() - earlier.at) } } : { plan, cold };
}

/** For each of so many returned messages those of the history that it is or stands for; none for a context block. */
export function madeFrom<M>(history: readonly M[], returned: number, { indexMap }: Report): M[][] {
  const made: M[][] = Array.from({ length: returned }, () => []);
  history.forEach((message, at) => made[indexMap?.[at] ?? at + returned - history.length]!.push(message));
  return made;
}
