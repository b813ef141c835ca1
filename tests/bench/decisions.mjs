// Replays transcripts call by call through the built package, and writes what was sent for eval/score.py to judge.
//     npm run decisions -- TRANSCRIPTS_DIR OUT_DIR [OPTIONS.json]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { WarmfoldError, fold } from "warmfold";
import { callsOf, progress, readJson, readTranscripts, refuse } from "./transcripts.mjs";

/** What a replay says itself; marks would make every marked message look edited. */
const NOT_AN_OPTION_HERE = ["plan", "cold", "marks"];

const [folder, out, optionsFile, ...rest] = process.argv.slice(2);
if (!out || rest.length > 0) refuse("expected TRANSCRIPTS_DIR OUT_DIR [OPTIONS.json]");
const transcripts = readTranscripts(folder);
const options = optionsFile ? readJson(optionsFile) : {};
if (options === null || typeof options !== "object" || Array.isArray(options)) refuse(`${optionsFile} is not an object of options`);
const unwanted = NOT_AN_OPTION_HERE.find((name) => name in options);
if (unwanted) refuse(`${optionsFile} sets ${unwanted}, which a replay cannot take from there`);
try {
  fold([], { ...options, format: "openai-chat" });
} catch (error) {
  if (!WarmfoldError.isInstance(error) || !error.path?.startsWith("options")) throw error;
  refuse(error.message);
}
try {
  mkdirSync(out, { recursive: true });
} catch (error) {
  refuse(`cannot make the folder ${out}: ${error.message}`);
}

const total = { calls: 0, folds: 0, before: 0, after: 0 };
const started = performance.now();
for (const [index, { name, messages, times }] of transcripts.entries()) {
  progress(`${index + 1}/${transcripts.length} ${name}`);
  const rows = replay(name, messages, times);
  writeFileSync(join(out, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
progress();
const count = (number) => number.toLocaleString("en");
console.log(
  `${transcripts.length} transcripts, ${count(total.calls)} calls, ${count(total.folds)} folds; ` +
    `${count(total.before)} tokens before, ${count(total.after)} after; ${((performance.now() - started) / 1000).toFixed(1)} s`,
);

/** One row a call, as score.py reads them. */
function replay(name, messages, times) {
  const rows = [];
  let previous;
  let plan;
  let sent = [];
  for (const upTo of callsOf({ messages })) {
    const history = messages.slice(0, upTo);
    const idleMs = (times[upTo] ?? NaN) - (times[previous] ?? NaN);
    const result = fold(history, { ...options, ...(plan && { plan }), ...(idleMs >= 0 && { cold: { idleMs } }) });
    check(`${name}, call ${upTo}`, history, sent, result);
    rows.push({ upTo, ...changes(history, result.messages) });
    total.calls += 1;
    total.folds += result.folded;
    total.before += result.report.tokensBefore;
    total.after += result.report.tokensAfter;
    ({ plan, messages: sent } = result);
    previous = upTo;
  }
  return rows;
}

/** The promise that the cache rests on: what was sent stays, up to `foldedFrom`. */
function check(where, history, sent, { messages, folded, report }) {
  if (messages.length !== history.length) throw new Error(`${where}: ${history.length} messages became ${messages.length}`);
  if (folded !== (report.foldedFrom !== undefined)) throw new Error(`${where}: folded is ${folded}, foldedFrom ${report.foldedFrom}`);
  const stays = Math.min(folded ? report.foldedFrom : Infinity, sent.length);
  for (let index = 0; index < stays; index += 1) {
    if (messages[index] === sent[index] || isDeepStrictEqual(messages[index], sent[index])) continue;
    throw new Error(`${where}: message ${index} changed, ${folded ? `though folded from ${report.foldedFrom}` : "without a fold"}`);
  }
}

/** What differs from the history, whoever's message it is: score.py counts an edit of a user's as a fault. */
function changes(history, messages) {
  const edits = [];
  const dropReasoning = [];
  for (const [index, message] of messages.entries()) {
    const original = history[index];
    if (message === original) continue;
    if (textOf(message) !== textOf(original)) edits.push({ index, text: textOf(message) });
    if (reasoningOf(message) !== reasoningOf(original)) dropReasoning.push(index);
  }
  return { edits, dropReasoning };
}

/** As score.py's text_of. */
function textOf({ content }) {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((part) => (part?.type === "text" ? strings(part.text ?? "") : strings(part))).join("\n");
}

function strings(value) {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(strings);
  const inner = value && typeof value === "object" ? Object.values(value) : [];
  return inner.filter((one) => typeof one !== "string" || !one.startsWith("data:")).flatMap(strings);
}

function reasoningOf(message) {
  return [message.reasoning_content, message.reasoning].filter((text) => typeof text === "string").join("");
}
