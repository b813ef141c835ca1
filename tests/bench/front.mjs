// Cost against harm: the presets beside the reference policies of eval/score.py, on recorded transcripts of five calls or more.
//     npm run front -- TRANSCRIPTS_DIR
// Prints effective cost, macro, cost, calls hurt, quotes lost and rewrites a transcript, and how the presets do on either half of the
// transcripts; writes docs/front.md and docs/front.svg.
// Presets are replayed `asScored` with the recorded times, references are scored by TRANSCRIPTS_DIR/../../eval/score.py. Takes half a minute.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// Draws SVG in Node without a browser or a DOM, and its label transform keeps labels apart; well kept, used by millions.
import { View, parse } from "vega";
import { figuresOf, markdownTable, printTable, replayAll, show } from "./figures.mjs";
import { progress, python, readScored, refuse, scorerOf } from "./transcripts.mjs";

/** From the most careful on: joined in the plot. */
const PAYING = ["careful", "balanced", "thrifty"];
const OURS = [...PAYING, "spec"];
const PRICES = "anthropic-5m";
const DOCS = new URL("../../docs/", import.meta.url);

const [folder, ...rest] = process.argv.slice(2);
if (!folder || rest.length > 0) refuse("expected TRANSCRIPTS_DIR");
const transcripts = readScored(folder);
const calls = new Set();
const ours = OURS.map((preset) => {
  progress(`preset ${preset}`);
  const reports = replayAll(transcripts, { preset });
  calls.add(reports.reduce((sum, report) => sum + report.calls, 0));
  return { name: preset, ours: true, ...figuresOf(reports), ...apart(reports) };
});
progress("reference policies");
const scored = python(join(scorerOf(folder), "score.py"), folder, "--reference", "--json");
progress();
if (scored.transcripts !== transcripts.length || calls.size > 1 || !calls.has(scored.calls)) {
  refuse(`score.py reads ${scored.transcripts} transcripts with ${scored.calls} calls, replay ${transcripts.length} with ${[...calls].join(", ")}`);
}
const references = Object.entries(scored.policies).map(([name, { effective, macro, cost, hurt, lost, changes }]) => {
  return { name: name === "none" ? "not folding" : name, ours: false, effective: effective[PRICES], macro, cost: cost[PRICES], hurt, lost, folds: changes };
});

const head = ["policy", "effective", "macro", "cost", "hurt", "lost", "rewrites"];
const row = ({ name, effective, macro, cost, hurt, lost, folds }) => [name, show.ratio(effective), show.ratio(macro), show.ratio(cost), show.percent(hurt), show.percent(lost), show.tenths(folds)];
const headApart = ["preset", "even half", "odd half", "hurt, even", "hurt, odd", "worst transcript", "dearer", "not folded"];
const rowApart = ({ name, halves: [even, odd], worst, dearer, untouched }) => {
  return [name, show.ratio(even.effective), show.ratio(odd.effective), show.percent(even.hurt), show.percent(odd.hurt), show.ratio(worst), String(dearer), String(untouched)];
};
const title = `${transcripts.length} transcripts, ${show.whole(scored.calls)} model calls, ${show.whole(scored.quotes)} quoted lines`;
console.log(`${title}; relative to not folding, ${PRICES}\n`);
printTable(head, [...ours, ...references].map(row));
console.log();
printTable(headApart, ours.map(rowApart));

mkdirSync(DOCS, { recursive: true });
writeFileSync(new URL("front.svg", DOCS), await plot([...ours, ...references]));
writeFileSync(new URL("front.md", DOCS), markdown());

/** The two halves of the corpus, every other transcript by name, and the transcripts that came out worst. */
function apart(reports) {
  const ratios = reports.map(({ effective, costWithout }) => effective / costWithout);
  return {
    halves: [0, 1].map((half) => figuresOf(reports.filter((_, index) => index % 2 === half))),
    worst: Math.max(...ratios),
    dearer: ratios.filter((ratio) => ratio > 1).length,
    untouched: reports.filter(({ folds }) => folds === 0).length,
  };
}

function markdown() {
  const bold = (policy) => row({ ...policy, name: `**${policy.name}**` });
  return `# Cost against harm

Written by \`npm run front\` (tests/bench/front.mjs). ${title}, recorded from real agents.
Input is priced as ${PRICES}; costs are relative to not folding.

![Effective cost against calls hurt, presets and reference policies](front.svg)

${markdownTable(head, [...ours.map(bold), ...references.map(row)])}
- *effective*: cost, and what each loss costs if the agent runs the tool again: the figure to compare by. *macro* is the mean of the
  transcripts' own ratios, so that long ones do not decide it.
- *cost*: of all input tokens, with a simulated cache.
- *hurt*: calls whose answer quotes a line of a tool's result that no longer stood in the prompt; *lost*: those lines, of all that are
  quoted.
- *rewrites*: calls a transcript that changed what had been sent.

Presets are in bold. "last N results" shortens all results but the latest N, at every call; "40k floor 0.75" shortens when the prompt is over
40,000 tokens, oldest first, down to 0.75 of that. Knowing the future, and shortening each result to a line after its last quote with
rewriting for free, costs ${show.ratio(scored.foresight["1"])}.

## How far to trust this

The presets were tuned on these transcripts. *effective* and *hurt* on each half of them, every other one by name; the *effective* of the
transcript that came out worst; how many were *dearer* than without folding, and how many were *not folded* at all:

${markdownTable(headApart, ours.map(rowApart))}`;
}

/** Points, the line that joins the presets, and labels that keep off points, line and one another. */
async function plot(policies) {
  const ours = "#3b82f6"; // these two read on white and on black
  const gray = "#7c8594";
  const points = policies.map(({ name, hurt, effective, ours }) => ({ name, hurt, effective, ours }));
  const joined = PAYING.map((preset) => points.find(({ name }) => name === preset));
  // The label transform keeps off what stands in its own mark: so lines stand there too, as dots without a label.
  const dots = (from, to) => Array.from({ length: 80 }, (_, step) => {
    const mix = (field) => from[field] + ((to[field] - from[field]) * step) / 80;
    return { name: "", hurt: mix("hurt"), effective: mix("effective") };
  });
  const notFolding = [{ hurt: 0, effective: 1 }, { hurt: Math.max(...points.map(({ hurt }) => hurt)), effective: 1 }];
  const lines = [notFolding, ...joined.slice(1).map((to, index) => [joined[index], to])].flatMap(([from, to]) => dots(from, to));
  const place = { x: { scale: "x", field: "hurt" }, y: { scale: "y", field: "effective" } };
  const color = [{ test: "datum.ours", value: ours }, { value: gray }];
  const axis = { domainColor: gray, tickColor: gray, labelColor: gray, titleColor: gray, gridColor: gray, gridOpacity: 0.2, grid: true, labelFontSize: 12, titleFontSize: 13, titleFontWeight: "normal", titlePadding: 10 };
  const view = new View(
    parse({
      $schema: "https://vega.github.io/schema/vega/v6.json",
      description: "Effective cost against the share of calls hurt",
      width: 640,
      height: 400,
      padding: 12,
      data: [{ name: "points", values: points }, { name: "joined", values: joined }, { name: "not folding", values: notFolding }, { name: "labels", values: [...points, ...lines] }],
      scales: [
        { name: "x", type: "linear", range: "width", nice: true, zero: true, domain: { data: "points", field: "hurt" } },
        { name: "y", type: "linear", range: "height", nice: true, zero: false, domain: { data: "points", field: "effective" } },
      ],
      axes: [
        { ...axis, orient: "bottom", scale: "x", format: ".1%", tickCount: 6, title: "calls that quote a line no longer in the prompt" },
        { ...axis, orient: "left", scale: "y", format: ".2f", tickCount: 6, title: "effective cost, not folding = 1" },
      ],
      marks: [
        { type: "line", from: { data: "not folding" }, encode: { enter: { ...place, stroke: { value: gray }, strokeDash: { value: [4, 4] } } } },
        { type: "line", from: { data: "joined" }, encode: { enter: { ...place, stroke: { value: ours }, strokeWidth: { value: 2 } } } },
        { type: "symbol", from: { data: "points" }, encode: { enter: { ...place, size: { value: 70 }, fill: color } } },
        {
          type: "text",
          from: { data: "labels" },
          encode: { enter: { ...place, text: { field: "name" }, fill: color, fontSize: { value: 13 }, fontWeight: [{ test: "datum.ours", value: "bold" }, { value: "normal" }] } },
          transform: [{ type: "label", size: { signal: "[width, height]" }, offset: [8], padding: 8, anchor: ["right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left"] }],
        },
      ],
    }),
    { renderer: "none" },
  );
  const svg = (await view.toSVG()).replaceAll(/<text [^>]*\/>/g, ""); // the empty labels
  if (/<text [^>]*opacity="0">/.test(svg)) throw new Error("a label of the plot found no place: make the plot larger");
  return `${svg}\n`;
}
