// What the commands that replay a whole corpus share: adding up its reports, and tables on a terminal and in Markdown.
import { replay } from "warmfold";

/** One report a transcript, reckoned as score.py does, with the prices of Anthropic's five-minute cache. */
export function replayAll(transcripts, options) {
  return transcripts.map(({ messages, times }) => replay(messages, { cache: "anthropic-5m", ...options, times, asScored: true }));
}

/** Over all transcripts, relative to not folding; `macro` is the mean of the transcripts' own ratios. */
export function figuresOf(reports) {
  const sum = (field) => reports.reduce((total, report) => total + report[field], 0);
  return {
    effective: sum("effective") / sum("costWithout"),
    macro: reports.reduce((total, { effective, costWithout }) => total + effective / costWithout, 0) / reports.length,
    cost: sum("cost") / sum("costWithout"),
    hurt: sum("hurtCalls") / sum("calls"),
    lost: sum("lostQuotes") / Math.max(1, sum("quotes")),
    folds: sum("folds") / reports.length,
  };
}

/** Figures as they are shown. */
export const show = {
  ratio: (number) => number.toFixed(3),
  percent: (number) => `${(100 * number).toFixed(2)}%`,
  change: (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(3)}`,
  tenths: (number) => number.toFixed(1),
  whole: (number) => Math.round(number).toLocaleString("en"),
};

/** Columns as wide as they need to be; all but the first are numbers. */
export function printTable(head, rows) {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column].length)));
  const line = (row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join("  ").trimEnd();
  for (const row of [head, ...rows]) console.log(line(row));
}

export function markdownTable(head, rows) {
  const line = (row) => `| ${row.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line), ""].join("\n");
}
