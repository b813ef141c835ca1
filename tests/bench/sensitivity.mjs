// What each value of a preset does: every knob is varied alone, on recorded transcripts of five calls or more.
//     npm run sensitivity -- TRANSCRIPTS_DIR [PRESET]
// Prints effective cost, macro, calls hurt and folds a transcript for each value, and writes them to docs/sensitivity.md. The change of
// effective cost is given for the two halves of the corpus too (every other transcript by name): where they disagree, it is noise. A star
// marks values under which every call comes out as under the preset itself. Takes one to two minutes.
import { mkdirSync, writeFileSync } from "node:fs";
import { WarmfoldError, replay } from "warmfold";
import { figuresOf, markdownTable, printTable, replayAll, show } from "./figures.mjs";
import { progress, readScored, refuse } from "./transcripts.mjs";

const GROUPS = { read: ["read"], "search, list, fetch": ["search", "list", "fetch"], others: ["write", "verify", "run", "other"] };
const AGES = [0, 1, 2, 4, 6, 8, 12, 16];
const SIZES = [200, 300, 600, 1200, 2048, 4096, 8192];
const KEPT = [0, 60, 100, 200, 256, 512, 1024];

const plain = (name) => (value) => ({ [name]: value });
const ofGroup = (group, field) => (value) => ({ byKind: Object.fromEntries(GROUPS[group].map((kind) => [kind, { [field]: value }])) });
const forGroups = (field, values) => Object.keys(GROUPS).map((group) => ({ name: `${field} of ${group}`, values, options: ofGroup(group, field) }));
const KNOBS = [
  { name: "expectedCalls", values: [5, 10, 20, 40, 80], options: plain("expectedCalls") },
  { name: "protectQuotedCalls", values: [0, 2, 5, 10, 15, 20, 30], options: plain("protectQuotedCalls") },
  ...forGroups("protectCalls", AGES),
  ...forGroups("maxBytes", SIZES),
  ...forGroups("keepHeadBytes", KEPT),
  ...forGroups("keepTailBytes", KEPT),
  { name: "minSavedBytes", values: [0, 60, 120, 250, 500, 1000], options: plain("minSavedBytes") },
  { name: "protectRecentTurns", values: [0, 1, 2, 4, 8], options: plain("protectRecentTurns") },
];

const [folder, preset = "balanced", ...rest] = process.argv.slice(2);
if (!folder || rest.length > 0) refuse("expected TRANSCRIPTS_DIR [PRESET]");
const transcripts = readScored(folder);
try {
  replay([], { preset });
} catch (error) {
  if (!WarmfoldError.isInstance(error) || error.path !== "options.preset") throw error;
  refuse(error.message);
}

const base = measure({});
const runs = KNOBS.flatMap(({ name, values, options }) => values.map((value) => ({ name, value, options: options(value) })));
const results = runs.map(({ name, value, options }, index) => {
  progress(`${index + 1}/${runs.length} ${name} ${value}`);
  return { name, value, ...measure(options) };
});
progress();

const HEAD = ["", "effective", "change", "even half", "odd half", "macro", "hurt", "folds"];
const change = ({ all, even, odd }) => [all.effective - base.all.effective, even.effective - base.even.effective, odd.effective - base.odd.effective];
const cells = ({ all }, changes) => [show.ratio(all.effective), ...changes, show.ratio(all.macro), show.percent(all.hurt), show.tenths(all.folds)];
const rows = results.map((result) => {
  const star = result.print === base.print ? " *" : "";
  return [`${result.name} ${show.whole(result.value)}${star}`, ...cells(result, change(result).map(show.change))];
});
const table = [[`preset ${preset}`, ...cells(base, ["", "", ""])], ...rows];

const apart = results.map(change).map(([, even, odd]) => Math.abs(even - odd)).sort((left, right) => left - right);
const opposed = results.map(change).filter(([, even, odd]) => even * odd < 0).length;
const noise =
  `The preset itself costs ${show.ratio(base.even.effective)} on one half of the transcripts and ${show.ratio(base.odd.effective)} on the other (hurt ` +
  `${show.percent(base.even.hurt)} and ${show.percent(base.odd.hurt)}). A value changes the two halves by amounts that differ by ${show.ratio(apart[apart.length >> 1])} in the ` +
  `median and ${show.ratio(apart.at(-1))} at most; ${opposed} of ${results.length} values help one half and harm the other.`;

console.log(`${transcripts.length} transcripts; relative to not folding, anthropic-5m; * as the preset in every call\n`);
printTable(HEAD, table);
console.log(`\n${noise}`);
const docs = new URL("../../docs/", import.meta.url);
mkdirSync(docs, { recursive: true });
writeFileSync(new URL("sensitivity.md", docs), markdown());

/** Figures over all transcripts and over each half, and what tells whether two runs differ anywhere. */
function measure(options) {
  const reports = replayAll(transcripts, { preset, ...options });
  const half = (parity) => figuresOf(reports.filter((_, index) => index % 2 === parity));
  return { all: figuresOf(reports), even: half(0), odd: half(1), print: JSON.stringify(reports) };
}

function markdown() {
  return `# Sensitivity of the preset "${preset}"

Written by \`npm run sensitivity\` (tests/bench/sensitivity.mjs): each knob varied alone, on ${transcripts.length} recorded transcripts, relative to
not folding, priced as anthropic-5m; *effective*, *macro* and *hurt* as in [front.md](front.md). *change* is that of effective against the
preset, then on each half of the transcripts (every other one by name). A star marks values under which every call comes out as under the
preset itself. \`expectedCalls\` is by default the larger of 10 and the calls so far.

${noise}

${markdownTable(HEAD, table)}`;
}
