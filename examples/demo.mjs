// Replays a recorded coding session call by call under several policies: what is sent, what is cached, what it costs, what is lost.
//     npm run demo
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { fold, replay } from "warmfold";

const WIDTH = 100;
const POLICIES = [
  ["not folding", { when: "never" }],
  ["careful", { preset: "careful" }],
  ["balanced, the default", {}],
  ["thrifty", { preset: "thrifty" }],
  ["spec: 40k budget", { preset: "spec" }],
];

const { messages, tools, times } = JSON.parse(readFileSync(new URL("../tests/fixtures/session.json", import.meta.url), "utf8"));

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (style, text) => (colours ? styleText(style, text) : text);
const bold = (text) => paint("bold", text);
const thousands = (tokens) => `${Math.round(tokens / 1000)}k`;
const whole = (number) => number.toLocaleString("en");
const percent = (share) => `${Math.round(share * 100)}%`;

const reports = POLICIES.map(([name, options]) => ({ name, ...replay(messages, { ...options, tools, times }) }));
const [, , ours, , spec] = reports;
const [share, shareOfSpec] = [ours, spec].map(({ cost, costWithout }) => cost / costWithout);
const toolCalls = messages.filter(({ role }) => role === "tool").length;

console.log(`${bold("warmfold")} shortens old tool results where that earns more than rewriting the provider's cache costs.

A recorded coding session of ${ours.calls} model calls and ${toolCalls} tool calls, replayed with a simulated cache.
Cost is in uncached input tokens: Anthropic's five-minute cache takes 0.1 to read one and 1.25 to write one.
${bold(`Input tokens ${thousands(ours.tokensWithout)} → ${thousands(ours.tokens)}, input cost ${percent(share)} of what it was.`)}
`);
printTable(["policy", "sent", "largest", "cached", "cost", "relative", "folds", "quotes lost"], reports.map((report) => {
  const { name, tokens, byCall, cachedShare, cost, costWithout, folds, lostQuotes, quotes } = report;
  const largest = Math.max(...byCall.map(({ tokens }) => tokens));
  const cells = [name, thousands(tokens), thousands(largest), percent(cachedShare), thousands(cost), percent(cost / costWithout), String(folds), `${lostQuotes} of ${quotes}`];
  return report === ours ? cells.map(bold) : cells;
}));
console.log(`
A quote is a line of a result that the agent wrote again later, lost if it no longer stood there.
The agent follows a script: it does not react to what is gone.`);
if (share >= 1) console.log("The default does not pay here: what it saved never came to what its folds made useless in the cache.");
if (shareOfSpec > 1) console.log(`A budget alone costs more than not folding here: ${spec.folds} shallow folds, each rewriting the cache.`);

const calls = foldAll();
console.log(bold("\nThe folds of the default"));
printTable(["call", "prompt", "folded to", "results shortened", "costs once", "saves a call", "has paid"], calls.filter(({ folded }) => folded).map(({ number, report }) => {
  const { tokensBefore, tokensAfter, editsAdded, editsLowered, foldCost, savedPerCall, paysAfterCalls, cold } = report;
  const paid = paysAfterCalls === 0 ? "at once" : `after ${paysAfterCalls} call${paysAfterCalls === 1 ? "" : "s"}`;
  const cost = `${foldCost < 0 ? "gains " : ""}${whole(Math.abs(foldCost))}`;
  return [String(number), thousands(tokensBefore), thousands(tokensAfter), String(editsAdded + editsLowered), cost, whole(savedPerCall), cold ? `${paid}: cold cache` : paid];
}));
printEdit();

/** What a host does before each model call. */
function foldAll() {
  const calls = [];
  let plan = null;
  let previous;
  for (const [at, { role }] of messages.entries()) {
    if (role !== "assistant" || at === 0) continue;
    const history = messages.slice(0, at);
    const idleMs = previous === undefined ? 0 : times[at] - times[previous];
    const result = fold(history, { plan, tools, cold: { idleMs } });
    calls.push({ number: calls.length + 1, history, ...result });
    [plan, previous] = [result.plan, at];
  }
  return calls;
}

/** The first result of which head and tail stayed: as it was, and as it is sent. */
function printEdit() {
  const { number, history, messages: sent, plan } = calls.find(({ folded }) => folded);
  const { message: at, tool } = plan.edits.find(({ rule, pieces }) => rule === "truncated" && pieces.length > 3);
  const [before, after] = [history[at].content, sent[at].content];
  const bytes = (text) => `${whole(Buffer.byteLength(text))} bytes`;
  console.log(bold(`\nOne of them: what ${tool} returned, ${bytes(before)}, is sent from call ${number} on as ${bytes(after)}`));
  for (const line of after.split("\n")) {
    const row = line.replaceAll("\t", "  ").slice(0, WIDTH - 2);
    console.log(`  ${paint(before.includes(line) ? "reset" : "yellow", row)}`);
  }
}

/** Numbers to the right. */
function printTable(head, rows) {
  const plain = (text) => text.replace(/\x1b\[\d+m/g, "");
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((cells) => plain(cells[column]).length)));
  const cell = (text, column) => (column === 0 ? text + " ".repeat(widths[0] - plain(text).length) : " ".repeat(widths[column] - plain(text).length) + text);
  for (const cells of [head.map((title) => paint("dim", title)), ...rows]) console.log(cells.map(cell).join("  ").trimEnd());
}
