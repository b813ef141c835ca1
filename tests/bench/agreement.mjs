// Whether `replay` reckons as eval/score.py does: the same policy judged by both, transcript by transcript.
//     npm run agreement -- TRANSCRIPTS_DIR [PRESET]
// Prints effective cost and cost (relative to not folding), calls hurt and quotes lost of both, in all and where they differ most.
// Exits 1 if effective or cost of the whole corpus differ by over 1%. The decisions that score.py reads are made by decisions.mjs, call
// by call through `fold`; so this also holds `replay` against carrying a plan. Takes half a minute.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { figuresOf, printTable, replayAll, show } from "./figures.mjs";
import { progress, python, readScored, refuse, scorerOf } from "./transcripts.mjs";

const TOLERANCE = 0.01;
const SHOWN = 12;

/** What score.py makes of each transcript, in the fields of `replay`'s report. */
const SCORE_EACH = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
from score import MAIN, load, score
folder, decisions, rows = sys.argv[2], sys.argv[3], []
for name in json.loads(sys.argv[4]):
    t = load(folder, name)
    base = score(t, [{"upTo": c} for c in t.calls])
    with open(os.path.join(decisions, name + ".jsonl"), encoding="utf8") as f: s = score(t, [json.loads(l) for l in f])
    rows.append(dict(calls=len(t.calls), quotes=t.ndeps, cost=s["cost"][MAIN], costWithout=base["cost"][MAIN], effective=s["cost"][MAIN] + s["again"][MAIN],
                     hurtCalls=s["hurt"], lostQuotes=s["lost"], folds=s["changes"], faults=s["faults"]))
print(json.dumps(rows))
`;

const [folder, preset = "balanced", ...rest] = process.argv.slice(2);
if (!folder || rest.length > 0) refuse("expected TRANSCRIPTS_DIR [PRESET]");
const transcripts = readScored(folder);
const scorer = scorerOf(folder);
const scored = scoredByPython();
progress(`replay of preset ${preset}`);
const replayed = replayAll(transcripts, { preset });
progress();

const HEAD = ["", "effective", "cost", "hurt", "quotes lost", "quotes"];
const sum = (reports, field) => reports.reduce((total, report) => total + report[field], 0);
function row(name, reports) {
  const { effective, cost } = figuresOf(reports);
  return [name, effective.toFixed(4), cost.toFixed(4), ...["hurtCalls", "lostQuotes", "quotes"].map((field) => show.whole(sum(reports, field)))];
}
function relative(left, right, field) {
  return figuresOf(left)[field] / figuresOf(right)[field] - 1;
}

console.log(`preset ${preset}, ${transcripts.length} transcripts, ${show.whole(sum(replayed, "calls"))} calls, relative to not folding\n`);
printTable(HEAD, [row("score.py", scored), row("replay", replayed)]);

const differences = transcripts.map(({ name }, index) => {
  const [one, other] = [[replayed[index]], [scored[index]]];
  const quotes = replayed[index].lostQuotes - scored[index].lostQuotes;
  return { name, index, effective: relative(one, other, "effective"), cost: relative(one, other, "cost"), quotes };
});
const most = differences.toSorted((left, right) => Math.abs(right.effective) - Math.abs(left.effective)).slice(0, SHOWN);
const pair = (index, field) => `${show.whole(scored[index][field])} / ${show.whole(replayed[index][field])}`;
console.log("\nwhere they differ most (difference of replay; score.py / replay)\n");
printTable(
  ["transcript", "effective", "cost", "without folding, tokens", "hurt", "quotes lost", "quotes", "folds"],
  most.map(({ name, index, effective, cost }) => [name, percent(effective), percent(cost), pair(index, "costWithout"), ...["hurtCalls", "lostQuotes", "quotes", "folds"].map((field) => pair(index, field))]),
);

const faults = scored.flatMap(({ faults }, index) => faults.map((fault) => `${transcripts[index].name}: ${fault}`));
for (const fault of faults.slice(0, 10)) console.log(`score.py finds a fault: ${fault}`);
const off = ["effective", "cost"].map((field) => [field, relative(replayed, scored, field)]);
console.log(`\nin all: ${off.map(([field, difference]) => `${field} ${percent(difference)}`).join(", ")}; ${faults.length} faults`);
if (faults.length > 0 || off.some(([, difference]) => Math.abs(difference) > TOLERANCE)) process.exit(1);

function scoredByPython() {
  const temporary = mkdtempSync(join(tmpdir(), "warmfold-"));
  try {
    progress("decisions");
    const options = join(temporary, "options.json");
    writeFileSync(options, JSON.stringify({ preset, cache: "anthropic-5m" }));
    const decisions = fileURLToPath(new URL("decisions.mjs", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [decisions, folder, temporary, options], { encoding: "utf8" });
    if (status !== 0) refuse(stderr.trim());
    progress("score.py");
    return python("-c", SCORE_EACH, scorer, folder, temporary, JSON.stringify(transcripts.map(({ name }) => name)));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

function percent(number) {
  return `${number < 0 ? "−" : "+"}${Math.abs(100 * number).toFixed(3)}%`;
}
