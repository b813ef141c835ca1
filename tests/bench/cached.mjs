// Whether providers cached what the simulated cache says: predicted against reported cached tokens, by transcript.
//     npm run cached -- TRANSCRIPTS_DIR
// Prints, for transcripts with five reports of cached tokens or more, the error of two predictions, relative to the prompt, and every miss
// of over 2% with what the data tells about it:
//   totals      what the call before read and wrote, by its own report; after an idle gap over the lifetime, what the first call read.
//               This judges the rules of caching alone.
//   transcript  what `replay` finds cached in the recorded messages, its tokens brought to the provider's by a line fitted to the
//               transcript's totals: a slope for the tokenizer, and a hidden prefix (system prompt and tools that were not recorded),
//               for which a system prompt of that length stands in. This judges the whole model; "fit" is the error of that line alone.
import { replay } from "warmfold";
import { printTable, show } from "./figures.mjs";
import { progress, readTranscripts, refuse } from "./transcripts.mjs";

const MISS = 0.02;
/** Of providers that cache by themselves and never report a write: the profile with the steps that were seen. */
const AUTOMATIC = { profile: "deepseek", step: 64 };
const WORD = "word ";

const [folder, ...rest] = process.argv.slice(2);
if (!folder || rest.length > 0) refuse("expected TRANSCRIPTS_DIR");
const transcripts = readTranscripts(folder).map((transcript) => ({ ...transcript, reports: reportsOf(transcript) }));
const judged = transcripts.filter(({ reports }) => reports.filter(({ read }) => read !== undefined).length >= 5);
const unreported = transcripts.filter(({ reports }) => reports.length >= 5 && reports.every(({ read }) => read === undefined));
if (judged.length === 0) refuse(`no transcript in ${folder} has a record of cached tokens beside it, in ../timing`);

const results = judged.map((transcript, index) => {
  progress(`${index + 1}/${judged.length} ${transcript.name}`);
  return judge(transcript);
});
progress();

const median = (numbers) => numbers.toSorted((left, right) => left - right)[numbers.length >> 1];
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const errors = (calls, field) => calls.map((call) => Math.abs(call[field] - call.read) / call.total);
const misses = ({ calls }) => calls.filter((call) => Math.abs(call.totals - call.read) > MISS * call.total);

printTable(
  ["transcript", "calls", "totals: median", "mean", "misses", "transcript: median", "mean", "fit: median", "slope", "hidden"],
  results.map((result) => {
    const { name, calls, fit } = result;
    const both = ["totals", "transcript"].map((field) => errors(calls, field));
    const off = calls.map(({ tokens, total }) => Math.abs(fit.slope * tokens + fit.hidden - total) / total);
    const [totals, transcript] = both.map((list) => [median(list), mean(list)].map(show.percent));
    return [name, show.whole(calls.length), ...totals, show.whole(misses(result).length), ...transcript, show.percent(median(off)), fit.slope.toFixed(2), show.whole(fit.hidden)];
  }),
);

console.log(`\nmisses of "totals" over ${show.percent(MISS)} of the prompt\n`);
const explained = results.flatMap((result) => misses(result).map((call) => ({ name: result.name, ...call, why: explain(call) })));
printTable(
  ["transcript", "message", "gap, s", "predicted", "read", "prompt", "what the data tells"],
  explained.map(({ name, at, gap, totals, read, total, why }) => [name, `${at}`, gap === undefined ? "" : show.whole(gap / 1000), show.whole(totals), show.whole(read), show.whole(total), why]),
);

const calls = results.flatMap((result) => result.calls);
const sum = (field) => calls.reduce((total, call) => total + call[field], 0);
const share = (field) => show.percent(sum(field) / sum("read") - 1);
const within = (field) => calls.filter((call) => Math.abs(call[field] - call.read) <= MISS * call.total).length;
const marked = results.filter(({ automatic }) => !automatic).flatMap((result) => result.calls);
console.log(`\n${results.length} transcripts, ${show.whole(calls.length)} calls after a first one; ${show.whole(sum("read"))} cached tokens reported`);
console.log(`totals: ${show.whole(within("totals"))} calls within ${show.percent(MISS)}, sum off by ${share("totals")}; transcript: ${show.whole(within("transcript"))} calls, ${share("transcript")}`);
console.log(`of ${show.whole(marked.length)} calls to Claude, ${show.whole(marked.filter(({ read, before }) => read === before).length)} read to the token what the call before had read and written`);
for (const [why, count] of tally(explained.map(({ why }) => why))) console.log(`  ${count} × ${why}`);
for (const { name, skipped } of results.filter(({ skipped }) => skipped > 0)) {
  console.log(`${name}: left out ${skipped} calls whose usage was carried over a compaction (the total falls after them while messages are only added)`);
}
for (const { name, uncached } of results.filter(({ uncached }) => uncached.length > 0)) {
  console.log(`${name}: nothing was read or written by a prompt of ${uncached.map(show.whole).join(", ")} tokens: under the model's minimum`);
}
if (unreported.length > 0) console.log(`no cached tokens reported: ${unreported.map(({ name }) => name).join(", ")}`);

/** What the provider reported of each call, whatever it calls the fields. */
function reportsOf({ timing, times }) {
  return timing.filter(({ usage }) => usage).map(({ i, usage }) => {
    const read = usage.cache_read_input_tokens ?? usage.cacheRead;
    const written = usage.cache_creation_input_tokens ?? usage.cacheWrite ?? 0;
    const plain = usage.input_tokens ?? usage.input ?? usage.prompt_tokens;
    return { at: i, time: times[i], read, written, total: (read ?? 0) + written + plain };
  });
}

/** Both predictions for each call that has one before it. */
function judge({ name, messages, times, model, reports }) {
  const automatic = reports.every(({ written }) => written === 0);
  const options = { model: { id: model }, ...(automatic && { cache: AUTOMATIC.profile }), times, when: "never" };
  const recorded = new Map(replay(messages, options).byCall.map((call) => [call.upTo, call]));
  const skipped = carriedOver(reports);
  const own = reports.slice(skipped).map((report) => ({ ...report, tokens: recorded.get(report.at).tokens }));
  const fit = line(own.map(({ tokens, total }) => [tokens, total]));
  const prefix = systemOf(Math.max(0, fit.hidden / fit.slope));
  const replayed = replay(messages, { ...options, system: prefix.text }).byCall;
  const byMessage = new Map(replayed.map((call) => [call.upTo, call]));
  const shared = own[0].read;
  const calls = own.slice(1).map((call, index) => {
    const last = own[index];
    const cold = replayed.some(({ upTo, cold }) => cold && upTo > last.at && upTo <= call.at);
    const before = automatic ? last.total - (last.total % AUTOMATIC.step) : last.read + last.written;
    const cached = byMessage.get(call.at).cachedWithout;
    const found = (tokens) => Math.min(cold ? shared : tokens, call.total);
    const gap = call.time === null || last.time === null ? undefined : call.time - last.time;
    return { ...call, gap, cold, shared, before, totals: found(before), transcript: found(cached === 0 ? 0 : fit.slope * (cached - prefix.tokens) + fit.hidden) };
  });
  const uncached = automatic ? [] : own.filter(({ read, written }) => read + written === 0).map(({ total }) => total);
  return { name, automatic, skipped, fit, calls, uncached };
}

/** A transcript that begins behind a compaction keeps messages from before it, with the usage of their longer prompts. */
function carriedOver(reports) {
  const fall = reports.findIndex(({ total }, index) => index > 0 && total < 0.8 * reports[index - 1].total);
  return fall > 0 && reports[0].total > 2 * reports[fall].total ? fall : 0;
}

/** A system prompt of about so many of our tokens. */
function systemOf(tokens) {
  const call = [{ role: "user", content: "" }, { role: "assistant", content: "" }];
  const estimate = (system) => replay(call, { system }).tokens - replay(call).tokens;
  const text = WORD.repeat(Math.round((1000 * tokens) / estimate(WORD.repeat(1000))));
  return { text, tokens: estimate(text) };
}

/** Least squares. */
function line(points) {
  const [x, y] = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
  const over = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  const slope = over / points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return { slope, hidden: y - slope * x };
}

function explain({ cold, read, totals }) {
  if (cold) return read > totals ? "alive after all: gaps are from answer to answer" : "idle: less of the shared prefix was warm than at first";
  return read > totals ? "longer: calls between that were not recorded" : "prefix changed (restart, changed tools, sub-agents)";
}

/** How often each comes, most first. */
function tally(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, left], [, right]) => right - left);
}
