// What the commands over recorded transcripts share: reading a folder of them, refusing, and saying how far they are.
// A transcript is NAME.json, an OpenAI Chat request body; TRANSCRIPTS_DIR/../timing/NAME.json may hold the messages' times and usage.
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { WarmfoldError, decide } from "warmfold";

const command = basename(process.argv[1], ".mjs");

/** Ends the command: what it was given cannot be worked with. */
export function refuse(text) {
  console.error(`${command}: ${text}`);
  process.exit(2);
}

export function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return refuse(`cannot read ${path}: ${error.message}`);
  }
}

/** All transcripts by name: { name, messages, model?, timing, times }; `timing` is what was recorded, `times` has each message's milliseconds or null. */
export function readTranscripts(folder) {
  if (!isFolder(folder)) refuse(`${folder} is not a folder`);
  const names = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => basename(name, ".json")).sort();
  if (names.length === 0) refuse(`no *.json in ${folder}`);
  return names.map((name) => {
    const { messages, source } = readJson(join(folder, `${name}.json`));
    if (!Array.isArray(messages)) refuse(`${name}.json has no messages`);
    check(name, messages);
    const path = join(folder, "..", "timing", `${name}.json`);
    const timing = isFile(path) ? readJson(path).messages : [];
    const recorded = new Map(timing.map(({ i, ts }) => [i, milliseconds(ts)]));
    return { name, messages, model: source?.model, timing, times: messages.map((_, index) => recorded.get(index) ?? null) };
  });
}

function check(name, messages) {
  try {
    decide(messages, { plan: null, when: "never" });
  } catch (error) {
    if (!WarmfoldError.isInstance(error)) throw error;
    refuse(`${name}.json: ${error.message}`);
  }
}

/** ISO 8601 or milliseconds already. */
function milliseconds(time) {
  const value = typeof time === "string" ? Date.parse(time) : time;
  return Number.isFinite(value) ? value : null;
}

/** Model calls: assistant messages with something before them. */
export function callsOf({ messages }) {
  return messages.flatMap(({ role }, index) => (role === "assistant" && index > 0 ? [index] : []));
}

/** The transcripts that score.py reads: those of five calls or more. */
export function readScored(folder) {
  const scored = readTranscripts(folder).filter((transcript) => callsOf(transcript).length >= 5);
  return scored.length > 0 ? scored : refuse(`no transcript of five calls or more in ${folder}`);
}

/** The folder of score.py, which stands beside the corpus. */
export function scorerOf(folder) {
  const path = resolve(folder, "..", "..", "eval", "score.py");
  return isFile(path) ? dirname(path) : refuse(`there is no ${path}, which scores the transcripts`);
}

/** Runs Python with these arguments; its output as JSON. Nothing is written beside the script. */
export function python(...values) {
  const { status, error, stdout, stderr } = spawnSync("python3", ["-B", ...values], { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (error) refuse(`cannot run python3: ${error.message}`);
  if (status !== 0) refuse(`score.py failed: ${stderr.trim().split("\n").at(-1)}`);
  return JSON.parse(stdout);
}

/** Shown on a terminal only; `undefined` clears it. */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text ?? ""}`);
}
