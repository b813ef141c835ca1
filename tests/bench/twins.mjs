// Recorded conversations in Anthropic's format through the built package, call by call, and beside each the same one as OpenAI Chat.
//     npm run twins -- [CORPUS_DIR] [--json]        what the provider would refuse, what must not change, and the agreement with the twins
//     npm run twins -- [CORPUS_DIR] --cost [--json] what each preset costs by `replay`
// CORPUS_DIR holds anthropic/NAME.json, openai/NAME.json and timing/NAME.json; default ../shared/corpus. Each conversation is folded with
// default options, with marks "anthropic" and with dropReasoning; each time through objects that grow, new objects and bytes. Exits 1 on any
// fault. Takes two minutes.
import { replay } from "warmfold";
import { LEVELS, LEVELLED, SIZELESS, agreement, levelled } from "../js/twins/decisions.ts";
import { callsOf, readPairs, readTimes } from "../js/twins/pairs.ts";
import { SETTINGS, sum, walk } from "../js/twins/walk.ts";
import { printTable, show } from "./figures.mjs";
import { progress, refuse } from "./transcripts.mjs";

const PRESETS = ["careful", "balanced", "thrifty", "spec"];
const flags = process.argv.slice(2).filter((value) => value.startsWith("--"));
const [folder = "../shared/corpus", ...rest] = process.argv.slice(2).filter((value) => !value.startsWith("--"));
if (rest.length > 0 || flags.some((flag) => !["--json", "--cost"].includes(flag))) refuse("expected [CORPUS_DIR] [--cost] [--json]");
const pairs = readPairs(folder) ?? refuse(`there is no ${folder}/anthropic`);
if (pairs.length === 0) refuse(`no conversation in ${folder}/anthropic has a twin in ${folder}/openai`);

/** One result a conversation. */
function each(work) {
  const results = pairs.map((pair, at) => {
    progress(`${at + 1}/${pairs.length} ${pair.name}`);
    return { name: pair.name, ...work(pair) };
  });
  progress();
  return results;
}

const isJson = flags.includes("--json");
if (flags.includes("--cost")) costs();
else checks();

function checks() {
  const results = each((pair) => {
    const calls = callsOf(pair);
    const settings = Object.fromEntries(Object.entries(SETTINGS).map(([name, options]) => [name, walk(pair, calls, options)]));
    return { settings, agreement: levelsOf(pair) };
  });
  const faultsOf = ({ name, settings }) => Object.entries(settings).flatMap(([setting, { faults }]) => faults.map((fault) => `${name}, ${setting}, ${fault}`));
  const faults = results.flatMap(faultsOf);
  process.exitCode = faults.length > 0 ? 1 : 0;
  if (isJson) return console.log(JSON.stringify({ results, faults }, null, 1));

  const all = { name: `${results.length} conversations`, settings: added(results.map(({ settings }) => settings)), agreement: totalled(results) };
  printTable(
    ["", "calls", "edits", "faults", "thinking", "intact", "dropped", "images", "intact", "objects = bytes", "warm", "as the twin", "sizes aside"],
    [...results, all].map(rowOf),
  );
  console.log(`
edits: at the last call, with default options. faults to warm: of the calls of all three settings. dropped: whole, by dropReasoning, before the
open tool loop and the latest answer. objects = bytes: calls with one request and plan through objects that grow, new ones and bytes. warm:
calls that did not fold; each begins with all that the one before sent. as the twin: edits, over all calls, of texts that are the same in both.
sizes aside: the twin is told which results failed, and all tokens cost the same.

why they differ: edits alike with more and more of what only one of the two formats says taken away
`);
  const share = ({ alike, all }) => `${show.whole(alike)} of ${show.whole(all)} ${show.percent(alike / Math.max(1, all)).padStart(8)}`;
  printTable(["", "default options", "the rest at another call", ...SIZELESS.map(([what]) => what)], all.agreement.map(([normal, ...sizeless], at) => [
    LEVELS[at][0], share(normal), show.whole(normal.otherCall), ...sizeless.map(share),
  ]));
  for (const fault of faults.slice(0, 20)) console.log(`fault: ${fault}`);
  console.log(`\n${faults.length} faults`);
}

/** At each level, with default options and with those under which no size decides. */
function levelsOf(pair) {
  return LEVELS.map((_, at) => {
    const level = levelled(pair, at + 1);
    return [{}, ...SIZELESS.map(([, options]) => options)].map((options) => agreement(level, options));
  });
}

function rowOf({ name, settings, agreement }) {
  const all = sum(Object.values(settings));
  const { calls, edits } = settings.default;
  const [asItIs, aside] = [agreement[0][0], agreement[LEVELLED - 1][1]];
  const { thinking, images, sameWays, warm, faults } = all;
  const of = (part, whole) => `${show.whole(part)} of ${show.whole(whole)}`;
  return [
    name, ...[calls, edits, faults.length, thinking.given, thinking.intact, thinking.dropped, images.given, images.intact].map(show.whole),
    of(sameWays, all.calls), of(warm.kept, warm.calls), ...[asItIs, aside].map(({ alike, all }) => (all === 0 ? "" : of(alike, all))),
  ];
}

function added(all) {
  return Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, sum(all.map((settings) => settings[name]))]));
}

function totalled(results) {
  return LEVELS.map((_, level) => [0, ...SIZELESS].map((_, at) => sum(results.map(({ agreement }) => agreement[level][at]))));
}

/** By `replay`, with the recorded pauses between answers; what is found cached is all that was sent, or what a mark ended. */
function costs() {
  const WHICH = [["unmarked", {}], ["marked", { marks: "anthropic" }]];
  const results = each((pair) => {
    const { messages, system } = pair.request;
    const options = { format: "anthropic", cache: "anthropic-5m", system, times: readTimes(folder, pair) };
    const reports = (more) => Object.fromEntries(PRESETS.map((preset) => [preset, totalsOf(replay(messages, { ...options, ...more, preset }))]));
    return Object.fromEntries(WHICH.map(([which, more]) => [which, reports(more)]));
  }).filter(({ unmarked }) => unmarked.balanced.calls > 0);
  if (isJson) return console.log(JSON.stringify(results, null, 1));
  for (const [which, more] of WHICH) {
    const totals = PRESETS.map((preset) => sum(results.map((result) => result[which][preset])));
    const row = (name, reports, field) => [name, show.whole(reports[0].costWithout), ...reports.map((report) => show.ratio(report[field] / report.costWithout))];
    const rows = results.map((result) => row(result.name, PRESETS.map((preset) => result[which][preset]), "cost"));
    const cached = more.marks ? 'with marks "anthropic"' : "all that was sent taken to be cached";
    console.log(`\nestimated input cost relative to not folding, anthropic-5m prices, ${cached}\n`);
    const count = (name, field) => [name, "", ...totals.map((total) => show.whole(total[field]))];
    printTable(["", "not folding, tokens", ...PRESETS], [
      ...rows, row("all", totals, "cost"), row("all, lost quotes fetched again", totals, "effective"), count("folds", "folds"), count("calls hurt", "hurtCalls"),
    ]);
  }
  const { calls, coldCalls } = sum(results.map(({ unmarked }) => unmarked.balanced));
  const counted = `${results.length} conversations of one answered call or more, ${show.whole(calls)} calls`;
  console.log(`\n${counted}, ${show.whole(coldCalls)} of them after a pause of over five minutes`);
}

function totalsOf({ byCall: _, cachedShare, cachedShareWithout, ...totals }) {
  return totals;
}
