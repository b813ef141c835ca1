// What a fold costs, held against JSON.parse + JSON.stringify and structuredClone of the same messages in the same run.
//     npm run bench [-- --quick]
// Rounds are interleaved and ratios are taken within a round, so that a busy machine slows both sides alike.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { decide, fold, replay } from "warmfold";
import { agentHistory } from "./histories.mjs";

const quick = process.argv.includes("--quick");
// Repeats make a round of a short task long enough for the clock.
const SIZES = quick
  ? [{ length: 100, rounds: 9, repeats: 10 }, { length: 1000, rounds: 7, repeats: 1 }]
  : [{ length: 100, rounds: 31, repeats: 20 }, { length: 1000, rounds: 21, repeats: 3 }, { length: 10_000, rounds: 9, repeats: 1 }];

setFlagsFromString("--expose-gc");
/** Nobody pays for another's garbage. */
const collectGarbage = runInNewContext("gc");

const main = readFileSync(new URL("../../pkg/esm/warmfold.js", import.meta.url));
console.log(`Node ${process.versions.node}; the package's ESM file is ${kilobytes(main)} KB, ${kilobytes(gzipSync(main, { level: 9 }))} KB gzipped\n`);

const print = (...cells) => console.log(cells.map((cell, column) => (column < 2 ? cell.padEnd([10, 34][column]) : cell.padStart([11, 26, 26][column - 2]))).join(""));
print("messages", "what", "ms", "× parse + stringify", "× structuredClone");
const medians = new Map();
for (const size of SIZES) measure(size);

const [before, after] = SIZES.slice(-2).map(({ length }) => length);
console.log(`\nGrowth of time from ${count(before)} to ${count(after)} messages (${after / before} is linear)`);
for (const [name, times] of medians) console.log(`  ${name.padEnd(34)}${(times.get(after) / times.get(before)).toFixed(1).padStart(6)}`);

function measure({ length, rounds, repeats }) {
  const messages = agentHistory(length);
  const json = JSON.stringify(messages);
  const tasks = tasksOf(messages, json);
  const times = new Map([...tasks.keys()].map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, task] of tasks) {
      collectGarbage();
      const start = performance.now();
      for (let repeat = 0; repeat < repeats; repeat++) task();
      const milliseconds = (performance.now() - start) / repeats;
      if (round >= 0) times.get(name).push(milliseconds); // the first two are for the compilers
    }
  }
  const [parse, clone] = [...times.values()];
  console.log(`${count(length)} messages, ${(json.length / 1e6).toFixed(1)} MB`);
  for (const [name, own] of times) {
    const against = (other) => spread(own.map((time, round) => time / other[round]));
    print("", name, median(own).toFixed(median(own) < 10 ? 2 : 0), against(parse), against(clone));
    if (!medians.has(name)) medians.set(name, new Map());
    medians.get(name).set(length, median(own));
  }
}

/** The two that are held against, then the calls; each call is checked to do what its name says. */
function tasksOf(messages, json) {
  const { tokensBefore } = decide(messages, { when: "never" }).report;
  const tight = { preset: "spec", budgetTokens: Math.round(tokensBefore / 2), floorRatio: 0.9 };
  const before = messages.slice(0, messages.findLastIndex(({ role }) => role === "assistant"));
  const carried = (options) => ({ ...options, plan: decide(before, { ...options, plan: null }).plan });
  const checked = (options, ...verdicts) => {
    const { verdict, report } = fold(messages, options);
    if (!verdicts.includes(verdict)) throw new Error(`expected ${verdicts}, got ${verdict}: ${report.reasons.join("; ")}`);
    return () => fold(messages, options);
  };
  return new Map([
    ["JSON.parse + JSON.stringify", () => JSON.stringify(JSON.parse(json))],
    ["structuredClone", () => structuredClone(messages)],
    ["fold, nothing to do", checked({ preset: "spec", budgetTokens: tokensBefore }, "untouched")],
    ["fold, carried plan", checked(carried({}), "carried", "folded")],
    ["fold, plan derived", derived(messages, {})],
    ["fold, new edits (plan: null)", checked({ plan: null }, "folded")],
    ["replay", () => replay(messages)],
    ['"spec", carried plan', checked(carried(tight), "carried", "folded")],
    ['"spec", plan derived', derived(messages, tight)],
    ['"spec", new edits (plan: null)', checked({ ...tight, plan: null }, "folded")],
  ]);
}

/** Without a plan: the last call may or may not fold, edits are in force either way. */
function derived(messages, options) {
  if (fold(messages, options).plan.edits.length === 0) throw new Error("expected edits in the derived plan");
  return () => fold(messages, options);
}

function spread(ratios) {
  const shown = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(3));
  return `${shown[0]} (${shown[1]}–${shown[2]})`;
}

function median(numbers) {
  return numbers.toSorted((left, right) => left - right)[numbers.length >> 1];
}

function kilobytes(bytes) {
  return (bytes.length / 1024).toFixed(1);
}

function count(number) {
  return number.toLocaleString("en");
}
