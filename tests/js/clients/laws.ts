/** What only the bytes that arrive can show. */
import assert from "node:assert/strict";
import type { Decision } from "warmfold";

export type List = "messages" | "input";

const MARK = `"(?:cache_control|prompt_cache_breakpoint)":\\{[^{}]*\\}`;
const ONE_TEXT = /\[\{"type":"(?:input_)?text","text":("(?:[^"\\]|\\.)*")\}\]/g;
const marksIn = (body: string) => body.match(new RegExp(MARK, "g"))?.length ?? 0;
/** A text that became a part for the sake of its mark is the text again, and so is any other part that stands alone. */
const unmarked = (body: string) => body.replace(new RegExp(`,${MARK}`, "g"), "").replace(ONE_TEXT, "$1");

/** The body's text up to the end of so many messages. */
function upTo(body: string, list: List, count: number): string {
  const key = `"${list}":[`;
  const before = body.slice(0, body.indexOf(key) + key.length);
  const items = (JSON.parse(body) as Record<List, object[]>)[list].slice(0, count);
  const start = before + items.map((item) => JSON.stringify(item)).join(",");
  assert(body.startsWith(start), "it is written as JSON.stringify writes");
  return start;
}

/** Marks apart, what was sent is the beginning of what is sent next; on a fold, up to where it folds. */
export function assertWarm(bodies: readonly string[], list: List, decisions: readonly Decision[], foldedFrom = ({ report }: Decision) => report.foldedFrom): void {
  for (let at = 1; at < bodies.length; at++) {
    const kept = decisions[at]!.folded ? foldedFrom(decisions[at]!) : undefined;
    const start = upTo(unmarked(bodies[at - 1]!), list, kept ?? Infinity);
    assert(unmarked(bodies[at]!).startsWith(start), `request ${at} does not begin as the last one`);
  }
}

/** It folds and goes on with what it has folded, and all of it arrives. */
export function assertFolded(bodies: readonly string[], decisions: readonly Decision[], { marked }: { marked: boolean }): void {
  assert.equal(bodies.length, decisions.length);
  const folds = decisions.filter(({ folded }) => folded);
  const carrying = decisions.filter(({ folded, plan }) => !folded && plan.edits.length > 0);
  assert(folds.length >= 2 && carrying.length >= 10, `${folds.length} folds, ${carrying.length} calls that carry a plan`);
  for (const [at, { plan, marks }] of decisions.entries()) {
    assert.equal(bodies[at]!.split("[warmfold: ").length - 1, plan.edits.length, `edits of request ${at}`);
    assert.equal(marksIn(bodies[at]!), marks.filter(({ part }) => part !== undefined).length, `marks of request ${at}`);
  }
  const most = Math.max(...bodies.map(marksIn));
  assert(marked ? most > 2 && most <= 4 : most === 0, `${most} marks`);
}
