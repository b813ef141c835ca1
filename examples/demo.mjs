// Folds a recorded session call by call, as its agent would have, and shows what was sent, what was cached and what it cost.
//     npm run demo
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { fold } from "warmfold";

/** Anthropic's five-minute cache, in units of one uncached input token. */
const CACHE = { read: 0.1, write: 1.25, idleMs: 5 * 60_000 };
const WIDTH = 100;

const { messages, tools, times } = JSON.parse(readFileSync(new URL("../tests/fixtures/session.json", import.meta.url), "utf8"));

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (style, text) => (colours ? styleText(style, text) : text);
const bold = (text) => paint("bold", text);
const dim = (text) => paint("dim", text);
const thousands = (tokens) => `${(tokens / 1000).toFixed(1)}k`;
const percent = (share) => `${Math.round(share * 100)}%`;
const sum = (calls, pick) => calls.reduce((total, call) => total + pick(call), 0);
const toolCalls = messages.filter(({ role }) => role === "tool").length;

const floorRatio = 0.75;
const calls = replay({ floorRatio });

const share = percent(sum(calls, ({ costSent }) => costSent) / sum(calls, ({ costWhole }) => costWhole));
const largest = (pick) => thousands(Math.max(...calls.map(pick)));

console.log(`
${bold("warmfold")} shortens old tool results so that an agent's prompt stays under a budget. What the
provider has cached stays as it is, except on a call that folds.

A recorded coding session: ${calls.length} model calls, ${toolCalls} tool calls, a budget of 40k tokens.
${bold(`Largest prompt ${largest(({ before }) => before)} → ${largest(({ after }) => after)}, input cost ${share} of what it was.`)}

A row is one model call (each that folds, and every tenth): tokens before and after, how much of what
is sent was cached, the cost in uncached input tokens (a cached token costs ${CACHE.read}, any other ${CACHE.write};
five idle minutes make the cache cold). A fold goes down to ${percent(floorRatio)} of the budget; a call that stays a
little over it had nothing to shorten that was worth rewriting the cache for.
`);
printTable(
  ["call", "before", "after", "cached", "cost before", "cost after", "  what happened"],
  [
    ...calls.filter(({ result, isCold, number }) => result.folded || isCold || number % 10 === 0 || number === 1).map(row),
    ["all", ...figures(calls)].map(bold),
  ],
);
printFold();
console.log(bold("\nThe same session, folding down to a share of the budget\n"));
printTable(
  ["floorRatio", "folds", "before", "after", "cached", "cost before", "cost after", "after / before"],
  [1, 0.75, 0.5].map((floorRatio) => {
    const calls = replay({ floorRatio });
    const ratio = percent(sum(calls, ({ costSent }) => costSent) / sum(calls, ({ costWhole }) => costWhole));
    return [String(floorRatio), String(calls.filter(({ result }) => result.folded).length), ...figures(calls), ratio];
  }),
);
console.log(
  dim("\nA fold makes the cache useless from its first edit on, so a few deep folds are cheaper than many\nshallow ones. A floor of 1 is the default; over 100% it cost more than it saved.\n"),
);

/** What a host does before each model call, and what that call costs with and without it. */
function replay(options) {
  const calls = [];
  let plan = null;
  let whole = [];
  let sent = [];
  let previous;
  for (const [at, { role }] of messages.entries()) {
    if (role !== "assistant" || at === 0) continue;
    const history = messages.slice(0, at);
    const idleMs = previous === undefined ? 0 : times[at] - times[previous];
    const result = fold(history, { ...options, plan, tools, cold: { idleMs } });
    const { tokensBefore: before, tokensAfter: after } = result.report;
    const isCold = idleMs > CACHE.idleMs;
    const [cachedWhole, cached] = isCold ? [0, 0] : [shareCached(whole, history), shareCached(sent, result.messages)];
    calls.push({
      number: calls.length + 1, isCold, history, result, before, after, cached,
      costWhole: cost(before, cachedWhole), costSent: cost(after, cached),
    });
    plan = result.plan;
    [whole, sent, previous] = [history, result.messages, at];
  }
  return calls;
}

/** How much of a request the provider has from the one before: their longest common run of messages, and the tools before it. */
function shareCached(before, now) {
  const bytes = (value) => Buffer.byteLength(JSON.stringify(value));
  const same = (index) => before[index] === now[index] || JSON.stringify(before[index]) === JSON.stringify(now[index]);
  let common = 0;
  while (common < before.length && same(common)) common += 1;
  const rest = bytes(now.slice(common));
  return before.length === 0 ? 0 : 1 - rest / (rest + bytes(now.slice(0, common)) + bytes(tools));
}

function cost(tokens, cached) {
  return tokens * (cached * CACHE.read + (1 - cached) * CACHE.write);
}

function figures(calls) {
  const [before, after] = [sum(calls, ({ before }) => before), sum(calls, ({ after }) => after)];
  const cached = sum(calls, ({ after, cached }) => after * cached) / after;
  return [before, after].map(thousands).concat(percent(cached), thousands(sum(calls, ({ costWhole }) => costWhole)), thousands(sum(calls, ({ costSent }) => costSent)));
}

function row({ number, isCold, result, before, after, cached, costWhole, costSent }) {
  const cells = [String(number), thousands(before), thousands(after), percent(cached), thousands(costWhole), thousands(costSent)];
  const { editsAdded, editsLowered, foldedFrom } = result.report;
  const idle = isCold ? "cache cold; " : "";
  if (!result.folded) return [...cells, dim(`  ${idle}${after < before ? "as folded before" : "sent as it is"}`)];
  return [...cells, paint("yellow", `  ${idle}fold: ${editsAdded + editsLowered} shortened, from message ${foldedFrom}`)];
}

/** The first result that was truncated: as it was, and as it is sent. */
function printFold() {
  for (const { number, history, result } of calls) {
    const at = result.messages.findIndex((message, index) => message !== history[index] && gapOf(message, history[index]) > 0);
    if (at === -1) continue;
    const made = history.flatMap(({ tool_calls = [] }) => tool_calls).find(({ id }) => id === history[at].tool_call_id);
    const [before, after] = [history[at].content, result.messages[at].content];
    const [breadcrumb, ...kept] = after.split("\n");
    const gap = gapOf(result.messages[at], history[at]) - 1;
    console.log(bold(`\nOne of them, at call ${number}: what ${made.function.name} ${made.function.arguments} returned`));
    console.log(`\nbefore, ${Buffer.byteLength(before)} bytes`);
    printLines(before.split("\n"), 4);
    console.log(`\nafter, ${Buffer.byteLength(after)} bytes`);
    printWrapped(breadcrumb, "yellow");
    printLines(kept.slice(0, gap), 3);
    printWrapped(kept[gap], "yellow");
    printLines(kept.slice(gap + 1), 3);
    console.log("\nwhy, in report.reasons");
    result.report.reasons.forEach((reason) => printWrapped(reason));
    return;
  }
}

/** The line between head and tail: the last one that is not the original's and stands after the first. */
function gapOf(message, original) {
  const isOurs = (line) => /^[[…]/.test(line) && !original.content.includes(line);
  return message.content.split("\n").findLastIndex(isOurs);
}

/** The first of them and the last, each on one row of the screen. */
function printLines(lines, most) {
  const rows = lines.map((line) => line.replaceAll("\t", "  ")).map((line) => (line.length > WIDTH - 2 ? `${line.slice(0, WIDTH - 3)}…` : line));
  const hidden = dim(`(${lines.length - most} lines more)`);
  const shown = lines.length > most + 1 ? [...rows.slice(0, most - 1), hidden, rows.at(-1)] : rows;
  for (const row of shown) console.log(`  ${row}`);
}

function printWrapped(text, style = "reset") {
  for (const row of text.match(new RegExp(`\\S.{0,${WIDTH - 4}}(?=\\s|$)`, "g"))) console.log(`  ${paint(style, row)}`);
}

/** Numbers to the right; the last column of words to the left. */
function printTable(head, rows) {
  const plain = (text) => text.replace(/\x1b\[\d+m/g, "");
  const widths = head.map((title, column) => Math.max(...[head, ...rows].map((cells) => plain(cells[column] ?? "").length)));
  const isWords = (column) => head[column].startsWith("  ");
  const cell = (text, column) => (isWords(column) ? text : " ".repeat(widths[column] - plain(text).length) + text);
  for (const cells of [head.map(dim), ...rows]) console.log(cells.map((text, column) => cell(text, column)).join("  "));
}
