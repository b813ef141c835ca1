// What a fold costs, held against JSON.parse + JSON.stringify of the same request in the same run, and against the whole JavaScript way: bytes,
// parse, edit, stringify, bytes.
//     npm run bench [-- --quick]
// Rounds are interleaved and ratios are taken within a round, so that a busy machine slows both sides alike.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { decide, fold, foldBody, replay } from "warmfold";
import { agentHistory, smallHistory } from "./histories.mjs";

const quick = process.argv.includes("--quick");
// Repeats make a round of a short task long enough for the clock.
const SIZES = quick
  ? [{ length: 100, rounds: 9, repeats: 10 }, { length: 1000, rounds: 7, repeats: 1 }]
  : [{ length: 5, rounds: 31, repeats: 500 }, { length: 100, rounds: 31, repeats: 20 }, { length: 1000, rounds: 21, repeats: 3 }, { length: 10_000, rounds: 9, repeats: 1 }];

const MODEL = "claude-opus-4-5";
/** Messages that come while a conversation goes on. */
const MORE = 80;

setFlagsFromString("--expose-gc");
/** Nobody pays for another's garbage. */
const collectGarbage = runInNewContext("gc");

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
const main = readFileSync(new URL("../../pkg/esm/warmfold.js", import.meta.url));
console.log(`Node ${process.versions.node}; the package's ESM file is ${kilobytes(main)} KB, ${kilobytes(gzipSync(main, { level: 9 }))} KB gzipped\n`);

const print = (...cells) => console.log(cells.map((cell, column) => (column < 2 ? cell.padEnd([10, 38][column]) : cell.padStart([11, 26, 26][column - 2]))).join(""));
print("messages", "what", "ms", "× parse + stringify", "× the JavaScript way");
const medians = new Map();
for (const size of SIZES) measure(size);

const [before, after] = SIZES.slice(-2).map(({ length }) => length);
console.log(`\nGrowth of time from ${count(before)} to ${count(after)} messages (${after / before} is linear)`);
for (const [name, times] of medians) if (times.has(before)) console.log(`  ${name.padEnd(38)}${(times.get(after) / times.get(before)).toFixed(1).padStart(6)}`);

function measure({ length, rounds, repeats }) {
  const history = length < 10 ? smallHistory() : agentHistory(length + MORE);
  const messages = length < 10 ? history : history.slice(0, length);
  const json = JSON.stringify({ model: MODEL, messages });
  const tasks = tasksOf(messages, history);
  const times = new Map([...tasks.keys()].map((name) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const [name, { prepare, run }] of tasks) {
      const prepared = prepare(repeats);
      collectGarbage();
      const start = performance.now();
      for (const one of prepared) run(one);
      const milliseconds = (performance.now() - start) / prepared.length;
      if (round >= 0) times.get(name).push(milliseconds); // the first two are for the compilers
    }
  }
  const [parse, way] = [...times.values()];
  console.log(`${count(length)} messages, ${json.length < 1e5 ? `${(json.length / 1e3).toFixed(1)} KB` : `${(json.length / 1e6).toFixed(1)} MB`}`);
  for (const [name, own] of times) {
    const against = (other) => spread(own.map((time, round) => time / other[round]));
    print("", name, median(own).toFixed(median(own) < 10 ? 2 : 0), against(parse), against(way));
    if (!medians.has(name)) medians.set(name, new Map());
    medians.get(name).set(length, median(own));
  }
}

/**
 * The two that are held against, then the calls; each is checked once to do what its name says. What a call takes is prepared anew each time,
 * since what goes on with an earlier call is not read again.
 */
function tasksOf(messages, history) {
  let serial = 0;
  const bytesOf = (messages) => encoder.encode(JSON.stringify({ model: MODEL, messages, user: `${(serial += 1)}` }));
  const { tokensBefore } = decide(messages, { when: "never" }).report;
  const never = { preset: "spec", budgetTokens: tokensBefore };
  const tight = { preset: "spec", budgetTokens: Math.round(tokensBefore / 2), floorRatio: 0.9 };
  const before = messages.slice(0, messages.findLastIndex(({ role }) => role === "assistant"));
  const carried = (options) => ({ ...options, plan: decide(before, { ...options, plan: null }).plan });
  const checked = (prepare, run, verdicts) => {
    const { verdict, report } = run(prepare(1)[0]);
    if (!verdicts.includes(verdict)) throw new Error(`expected ${verdicts}, got ${verdict}: ${report.reasons.join("; ")}`);
    return { prepare, run };
  };
  const times = (make) => (repeats) => Array.from({ length: repeats }, make);
  const objects = (options, ...verdicts) => checked(times(() => structuredClone(messages)), (messages) => fold(messages, options), verdicts);
  const body = (options, ...verdicts) => checked(times(() => bytesOf(messages)), (bytes) => foldBody(bytes, options), verdicts);
  const same = (value, run) => ({ prepare: times(() => value), run });
  const [edited, json, bytes] = [fold(messages, carried({})).messages, JSON.stringify({ model: MODEL, messages }), bytesOf(messages)];
  const always = [
    ["JSON.parse + JSON.stringify", same(json, (json) => JSON.stringify(JSON.parse(json)))],
    ["bytes, parse, edit, stringify, bytes", same(bytes, (bytes) => javaScriptWay(bytes, messages, edited))],
    ["structuredClone", same(messages, (messages) => structuredClone(messages))],
    ["fold, nothing to do", objects(never, "untouched")],
    ["foldBody, nothing to do", body(never, "untouched")],
  ];
  const long = () => [
    ["fold, carried plan", objects(carried({}), "carried", "folded")],
    ["foldBody, carried plan", body(carried({}), "carried", "folded")],
    ["fold goes on, nothing to do", goesOn(history, messages.length, never, objectsLive)],
    ["fold goes on, carried plan", goesOn(history, messages.length, {}, objectsLive)],
    ["fold goes on, plan derived", goesOn(history, messages.length, {}, objectsLive, true)],
    ["foldBody goes on, carried plan", goesOn(history, messages.length, {}, bodiesLive)],
    ["fold, new edits (plan: null)", objects({ plan: null }, "folded")],
    ["foldBody, new edits (plan: null)", body({ plan: null }, "folded")],
    ["fold, plan derived", derived(messages, {}, times)],
    ["replay", same(messages, (messages) => replay(messages))],
    ['"spec", carried plan', objects(carried(tight), "carried", "folded")],
    ['"spec", new edits (plan: null)', objects({ ...tight, plan: null }, "folded")],
    ['"spec", plan derived', derived(messages, tight, times)],
  ];
  return new Map(messages.length < 10 ? always : [...always, ...long()]);
}

/**
 * An agent's loop that has called before: each call has one more answer of the model, and what its tools gave. The calls measured are the
 * first ones in a row, from this length on, that make no fold.
 */
function goesOn(history, length, options, live, isDerived = false) {
  const ends = history.flatMap(({ role }, at) => (role === "assistant" && at >= length - 40 ? [at] : []));
  const loop = () => {
    const { fold, each } = live(structuredClone(history));
    let plan = isDerived ? undefined : null;
    const run = (request) => {
      const result = fold(request, { ...options, plan });
      if (!isDerived) plan = result.plan;
      return result.folded;
    };
    return { run, each };
  };
  const { run, each } = loop();
  const folds = ends.map((end) => run(each(end)));
  const prepare = (repeats) => {
    const calls = Math.min(repeats, 3);
    const first = ends.findIndex((end, at) => end >= length && !folds.slice(at, at + calls).includes(true));
    const { run, each } = loop();
    for (const end of ends.slice(first - 4, first)) run(each(end)); // the first two are noticed and kept
    return ends.slice(first, first + calls).map((end) => ({ run, request: each(end) }));
  };
  return { prepare, run: ({ run, request }) => run(request) };
}

function objectsLive(history) {
  return { fold, each: (end) => history.slice(0, end) };
}

function bodiesLive(history) {
  const user = `${Math.random()}`;
  return { fold: foldBody, each: (end) => encoder.encode(JSON.stringify({ model: MODEL, messages: history.slice(0, end), user })) };
}

/** What a router does without us: the edits are at hand and only put in. */
function javaScriptWay(bytes, messages, edited) {
  const request = JSON.parse(decoder.decode(bytes));
  for (const [at, message] of edited.entries()) {
    if (message !== messages[at]) request.messages[at] = { ...request.messages[at], content: message.content };
  }
  return encoder.encode(JSON.stringify(request));
}

/** Without a plan: the last call may or may not fold, edits are in force either way. */
function derived(messages, options, times) {
  if (fold(structuredClone(messages), options).plan.edits.length === 0) throw new Error("expected edits in the derived plan");
  return { prepare: times(() => structuredClone(messages)), run: (messages) => fold(messages, options) };
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
