// What floorRatio does to the plan: the experiment of the specification, with preset "spec".
//     npm run bench:floors
// Conversations of twenty turns (model calls), over budget from about the tenth on if nothing is folded. A turn is compacting where
// the prompt in full is over budget, and changes the plan where `folded` says so. Tokens are the library's estimates. Costs are
// Anthropic's with the five-minute cache, in uncached input tokens: a read is 0.1, a write 1.25; what can be read is what an earlier
// turn wrote up to one of its breakpoints, byte for byte.
import { createHash } from "node:crypto";
import { decide, fold } from "warmfold";
import { makeWorld } from "./histories.mjs";

const CONVERSATIONS = 20;
const BUDGET_TOKENS = 40_000;
const PRICES = { read: 0.1, write: 1.25 };

/** A bug hunt: three requests of the user, after each a tool loop; results of 8 to 20 KB, as file reads and test runs have them. */
function conversation(seed) {
  const { below, pick, word, code, log } = makeWorld(seed);
  const messages = [{ role: "system", content: `You are a careful engineer.\n${code(4000)}` }];
  const turns = [];
  for (let turn = 0; turn < 20; turn++) {
    if (turn % 7 === 0) messages.push({ role: "user", content: `The ${word()} of the ${word()} is lost after a restart. Find out why, and fix it.` });
    turns.push(messages.slice());
    const id = `call_${turn}`;
    const [name, parameters, result] = pick([
      () => ["read_file", { path: `src/${word()}/${word()}_${turn}.ts` }, code(8000 + below(12_000))],
      () => ["bash", { command: `npm test -- ${word()}`, timeout: 120_000 }, log(8000 + below(12_000))],
    ])();
    messages.push({ role: "assistant", content: `I look at ${word()} next.`, tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(parameters) } }] });
    messages.push({ role: "tool", tool_call_id: id, content: result });
  }
  return turns;
}

/** Tokens of messages as they are. */
function tokensOf(messages) {
  return decide(messages, { plan: null, when: "never" }).report.tokensBefore;
}

function replay(turns, options) {
  const written = new Set();
  const total = { compacting: 0, changed: 0, tokens: 0, read: 0, cost: 0 };
  let plan = null;
  for (const history of turns) {
    const result = fold(history, { preset: "spec", budgetTokens: BUDGET_TOKENS, ...options, plan });
    plan = result.plan;
    const { messages, breakpoints, report } = result;
    const prefixes = fingerprints(messages);
    const readable = prefixes.findLastIndex((prefix) => written.has(prefix));
    for (const at of breakpoints) written.add(prefixes[at]);
    const tokens = report.tokensAfter;
    const read = readable < 0 ? 0 : tokensOf(messages.slice(0, readable + 1));
    total.compacting += report.tokensBefore > BUDGET_TOKENS;
    total.changed += result.folded;
    total.tokens += tokens;
    total.read += read;
    total.cost += read * PRICES.read + (tokens - read) * PRICES.write;
  }
  return total;
}

/** Of every prefix. */
function fingerprints(messages) {
  let last = "";
  return messages.map((message) => (last = createHash("sha256").update(last).update(JSON.stringify(message)).digest("hex")));
}

const conversations = Array.from({ length: CONVERSATIONS }, (_, index) => conversation(index + 1));
const POLICIES = [["never folding", { when: "never" }], ...[1, 0.75, 0.6].map((floorRatio) => [floorRatio.toFixed(2), { floorRatio }])];
const WIDTHS = [15, 18, 14, 13, 14, 10];
const print = (...cells) => console.log(cells.map((cell, column) => (column === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[column]))).join(""));
const count = (number) => Math.round(number).toLocaleString("en");

table("one conversation", conversations.slice(0, 1), count);
table(`mean of ${CONVERSATIONS} conversations`, conversations, (number) => number.toFixed(1));

function table(title, conversations, turns) {
  console.log(`\n${title}, budget ${count(BUDGET_TOKENS)} tokens`);
  print("floorRatio", "compacting turns", "plan changed", "tokens sent", "cached share", "cost");
  for (const [name, options] of POLICIES) {
    const totals = conversations.map((conversation) => replay(conversation, options));
    const mean = (field) => totals.reduce((sum, total) => sum + total[field], 0) / totals.length;
    print(name, turns(mean("compacting")), turns(mean("changed")), count(mean("tokens")), `${((100 * mean("read")) / mean("tokens")).toFixed(1)}%`, count(mean("cost")));
  }
}
