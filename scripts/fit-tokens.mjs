// Fits the weights of src/tokens/weights.rs and prints them: least absolute relative error over texts that we may use, for each tokenizer
// of tests/bench/tokenizers. The texts are files of this repository and of the packages that it and that folder install, cut up and dressed
// as agents see them (numbered lines, listings, search results, diffs, JSON), and made ones (base64, hexadecimal, runs of spaces).
//     node scripts/fit-tokens.mjs
// Installs half a gigabyte of tokenizers the first time. Counts of texts are kept in build/, since counting takes minutes.
import { execFileSync, execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const FOLDER = "tests/bench/tokenizers";
if (!existsSync(`${FOLDER}/node_modules`)) execSync("npm ci --ignore-scripts --no-fund --no-audit", { cwd: FOLDER, stdio: "inherit" });
const { tokenizers } = await import("../tests/bench/tokenizers/all.mjs");

/** Characters of a text. */
const LONGEST = 4000;

/** Keeps features that often come together from growing against each other. */
const RIDGE = 2;

/** A generator that gives the same numbers on every run. */
let seed = 1;
function random(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

const DRESSES = [
  (text) => text.split("\n").map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join("\n"),
  (text, path) => text.split("\n").filter((_, at) => at % 3 === 0).map((line, at) => `${path}:${at * 3 + 1}:${line}`).join("\n"),
  (text, path) => `diff --git a/${path} b/${path}\nindex ${hex(7)}..${hex(7)} 100644\n--- a/${path}\n+++ b/${path}\n@@ -${text.length},7 +${text.length},9 @@\n${text.split("\n").map((line) => " +- "[random(4)] + line).join("\n")}`,
  (text, path) => JSON.stringify({ path, old_string: text.slice(0, 500), new_string: text.slice(200, 900) }),
  (text) => JSON.stringify({ stdout: text, stderr: "", exit_code: 0, duration_seconds: random(10000) / 1000 }),
  (text, path) => walk(path.split("/").slice(0, 3).join("/")).slice(0, 60).join("\n") || path,
  (text, path) => walk(path.split("/").slice(0, 3).join("/")).slice(0, 40).map((name) => `-rw-r--r-- 1 root root ${String(random(100000)).padStart(8)} ${["Jan", "May", "Nov"][random(3)]} ${random(30)} ${random(24)}:${10 + random(50)} ${name.split("/").at(-1)}`).join("\n"),
  (text, path) => text.split("\n").slice(0, 30).map((line, at) => `2025-0${1 + random(9)}-${10 + random(18)}T${10 + random(13)}:${10 + random(49)}:${10 + random(49)}.${100 + random(899)}Z [${["INFO", "WARN", "ERROR"][at % 3]}] ${path.split("/").at(-1)}: ${line.trim()}`).join("\n"),
];

function groups(items, key) {
  const found = new Map();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), item]);
  return found;
}

const texts = [...files(), ...localised(), ...made(), ...trees()];
const features = featuresOf(texts.map(({ text, tree }) => tree ?? text));
console.log(`${texts.length} texts: ${[...groups(texts, ({ kind }) => kind)].map(([kind, of]) => `${of.length} ${kind}`).join(", ")}`);
const all = tokenizers();
const kept = existsSync("build/tokens.json") ? JSON.parse(readFileSync("build/tokens.json", "utf8")) : {};
for (const { name, count } of all) {
  const counts = texts.map(({ text }) => (kept[`${name} ${hash(text)}`] ??= count(text)));
  const weights = fit(features, counts, texts.map(({ weight }) => weight));
  const errors = texts.map((_, at) => Math.abs(estimate(features[at], weights) / counts[at] - 1)).sort((a, b) => a - b);
  console.log(`    // ${name}: median error of a text ${(100 * errors[errors.length >> 1]).toFixed(1)}%, nine in ten within ${(100 * errors[Math.floor(errors.length * 0.9)]).toFixed(1)}%`);
  console.log(`    [${weights.join(", ")}],`);
  if (process.env.KINDS) {
    for (const [kind, of] of groups(texts.map(({ kind }, at) => ({ kind, error: estimate(features[at], weights) / counts[at] - 1 })), ({ kind }) => kind)) {
      const each = of.map(({ error }) => Math.abs(error)).sort((a, b) => a - b);
      console.log(`        ${kind}: ${(100 * each[each.length >> 1]).toFixed(1)}%, ${(100 * each.at(-1)).toFixed(0)}% at the most`);
    }
  }
}
mkdirSync("build", { recursive: true });
writeFileSync("build/tokens.json", JSON.stringify(kept));

function hash(text) {
  return createHash("md5").update(text).digest("base64");
}

/** Files as they are, and as tools show them. */
function files() {
  const roots = [["src", 60], ["js", 20], ["tests", 120], ["README.md", 4], ["DESIGN.md", 4], ["node_modules", 900], [`${FOLDER}/node_modules/node-gyp`, 90], [`${process.env.CARGO_HOME ?? `${process.env.HOME}/.cargo`}/registry/src`, 400]];
  const wanted = /\.(rs|ts|tsx|js|mjs|cjs|py|md|json|toml|yml|yaml|html|css|c|h|txt|sh|svg|lock)$/;
  const skipped = /tokenizer|tiktoken|\/locales?\/|\.min\.|bench\/tokens|package-lock|fixtures\/calls/;
  return roots.flatMap(([root, most]) => {
    const found = walk(root).filter((path) => wanted.test(path) && !skipped.test(path));
    const byEnding = [...groups(found, (path) => path.split(".").at(-1)).values()];
    const chosen = [];
    for (let round = 0; chosen.length < most && byEnding.some((paths) => paths.length > 0); round++) {
      for (const paths of byEnding) if (paths.length > 0 && chosen.length < most) chosen.push(...paths.splice(random(paths.length), 1));
    }
    return chosen.flatMap((path) => {
      const whole = readFileSync(path, "utf8");
      const from = whole.length > LONGEST ? whole.indexOf("\n", random(whole.length - LONGEST)) + 1 : 0;
      const text = whole.slice(from, from + 600 + random(LONGEST - 600));
      if (text.length < 200) return [];
      const dressed = DRESSES[random(DRESSES.length)];
      const isDense = text.length / text.split("\n").length > 200;
      return [
        { kind: isDense ? "dense" : "plain", weight: isDense ? 2 : 1, text },
        { kind: "dressed", weight: 1.5, text: dressed(text.slice(0, 2500), path) },
      ];
    });
  });
}

function walk(root) {
  const status = statSync(root, { throwIfNoEntry: false });
  if (!status) return [];
  if (!status.isDirectory()) return [root];
  return readdirSync(root, { withFileTypes: true }).filter((entry) => !entry.isSymbolicLink()).flatMap((entry) => (entry.isDirectory() ? walk(join(root, entry.name)) : [join(root, entry.name)])).sort();
}

/** Prose in many languages, and emoji. */
function localised() {
  const typescript = `${FOLDER}/node_modules/typescript-locales/lib`;
  const prose = readdirSync(typescript).filter((name) => existsSync(`${typescript}/${name}/diagnosticMessages.generated.json`)).flatMap((name) => {
    const messages = Object.values(JSON.parse(readFileSync(`${typescript}/${name}/diagnosticMessages.generated.json`, "utf8")));
    const weight = /zh|ja|ko|ru/.test(name) ? 3 : 1;
    return pieces(messages, 12, weight, name);
  });
  const words = walk("node_modules/zod/v4/locales").filter((path) => /\.js$/.test(path) && !/\/(en|index)\.js$/.test(path)).flatMap((path) => {
    const strings = readFileSync(path, "utf8").match(/[^"`]*[^\x00-\x7f][^"`]*/g) ?? [];
    return strings.length > 10 ? pieces(strings, 3, 2, "locale") : [];
  });
  const names = readFileSync("node_modules/emojilib/emojis.json", "utf8");
  const emoji = Object.keys(JSON.parse(names));
  return [...prose, ...words, ...Array.from({ length: 40 }, () => {
    const chosen = Array.from({ length: 60 }, () => emoji[random(emoji.length)]);
    return { kind: "emoji", weight: 3, text: chosen.join(["", " ", "\n", " ok "][random(4)]) };
  })];
}

function pieces(strings, count, weight, kind) {
  return Array.from({ length: count }, () => {
    const from = random(Math.max(1, strings.length - 40));
    return { kind, weight, text: strings.slice(from, from + 40).join(["\n", " ", ""][random(3)]).replaceAll(/\{\d\}/g, "") };
  }).filter(({ text }) => text.length > 50);
}

/** Values that are sent as JSON, and counted without being written: manifests, schemas, tool calls. */
function trees() {
  const manifests = walk("node_modules").filter((path) => /\/(package|tsconfig[^/]*|[^/]*schema)\.json$/.test(path));
  return manifests.flatMap((path) => {
    let value;
    try {
      value = JSON.parse(readFileSync(path, "utf8"));
    } catch {
      return [];
    }
    const name = ["read", "search_files", "run_command", "apply_patch"][random(4)];
    const call = { id: `call_${hex(24)}`, type: "function", function: { name, arguments: JSON.stringify({ path, limit: random(500) }) } };
    return [value, [call]].flatMap((tree) => (JSON.stringify(tree).length < 20_000 ? [{ kind: "tree", weight: 0.3, text: JSON.stringify(tree), tree }] : []));
  });
}

/** What no file has enough of. */
function made() {
  const each = (kind, weight, count, make) => Array.from({ length: count }, () => ({ kind, weight, text: make() }));
  const bytes = (length) => Buffer.from(Array.from({ length }, () => random(256)));
  const minified = walk("node_modules").filter((path) => /\.min\.js$|^node_modules\/(zod|openai|vega)\/.*bundle.*\.js$/.test(path)).map((path) => readFileSync(path, "utf8"));
  return [
    ...each("base64", 3, 30, () => bytes(300 + random(2000)).toString("base64")),
    ...each("hexadecimal", 2, 15, () => bytes(200 + random(1000)).toString("hex")),
    ...each("identifiers", 2, 15, () => Array.from({ length: 30 }, () => `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`).join("\n")),
    ...each("numbers", 2, 15, () => Array.from({ length: 200 }, () => random(10 ** (1 + random(9)))).join([", ", "\n", "\t", " "][random(4)])),
    ...each("decimals", 2, 15, () => Array.from({ length: 100 }, () => random(10 ** 9) / 10 ** random(9)).join([", ", "\n", "\t", " "][random(4)])),
    ...each("spaces", 3, 30, () => Array.from({ length: 30 }, () => `${["a", "};", "item", "12"][random(4)]}${" ".repeat(2 + random(60))}${"\n".repeat(random(3))}`).join("")),
    ...each("indents", 3, 15, () => Array.from({ length: 40 }, () => `${[" ", "\t"][random(2)].repeat(random(24))}${["}", "end", "x = 1", "</div>", "return;"][random(5)]}\n`).join("")),
    ...each("rules", 2, 15, () => Array.from({ length: 20 }, () => `${["-", "=", "#", "*", "─", "━", "."][random(7)].repeat(5 + random(90))}\n| ${["name", "ok", "total"][random(3)]} |\n`).join("")),
    ...each("minified", 3, minified.length > 0 ? 60 : 0, () => {
      const text = minified[random(minified.length)];
      const from = random(Math.max(1, text.length - 3000));
      return text.slice(from, from + 500 + random(2500));
    }),
  ];
}

function hex(length) {
  return Array.from({ length }, () => random(16).toString(16)).join("");
}

function featuresOf(texts) {
  const output = execFileSync("cargo", ["run", "--quiet", "--release", "--example", "features"], { input: JSON.stringify(texts), maxBuffer: 2 ** 30, encoding: "utf8" });
  return output.trim().split("\n").map((line) => line.split(" ").map(Number));
}

function estimate(counts, weights) {
  return Math.max(0, counts.reduce((sum, count, at) => sum + count * weights[at], 0)) / 1000;
}

/** Least absolute relative error, by least squares whose weights are found again and again; whole thousandths. */
function fit(features, counts, importance) {
  const size = features[0].length;
  let weights = new Array(size).fill(0);
  for (let round = 0; round < 60; round++) {
    const left = Array.from({ length: size }, (_, at) => Object.assign(new Float64Array(size), { [at]: RIDGE }));
    const right = new Float64Array(size);
    features.forEach((row, text) => {
      const error = Math.abs(row.reduce((sum, count, at) => sum + count * weights[at], 0) / counts[text] - 1);
      const weight = importance[text] / (round === 0 ? 1 : Math.max(error, 0.005)) / counts[text] ** 2;
      for (let i = 0; i < size; i++) {
        if (row[i] === 0) continue;
        right[i] += weight * row[i] * counts[text];
        for (let j = 0; j < size; j++) left[i][j] += weight * row[i] * row[j];
      }
    });
    weights = solve(left, right);
  }
  return weights.map((weight) => Math.round(weight * 1000));
}

/** Gaussian elimination; a feature that no text has weighs nothing. */
function solve(left, right) {
  const size = right.length;
  for (let at = 0; at < size; at++) {
    let best = at;
    for (let row = at + 1; row < size; row++) if (Math.abs(left[row][at]) > Math.abs(left[best][at])) best = row;
    [left[at], left[best], right[at], right[best]] = [left[best], left[at], right[best], right[at]];
    for (let row = at + 1; row < size; row++) {
      const factor = left[row][at] / left[at][at];
      for (let column = at; column < size; column++) left[row][column] -= factor * left[at][column];
      right[row] -= factor * right[at];
    }
  }
  const solved = new Array(size).fill(0);
  for (let at = size - 1; at >= 0; at--) {
    solved[at] = (right[at] - solved.reduce((sum, value, column) => sum + (column > at ? left[at][column] * value : 0), 0)) / left[at][at];
  }
  return solved;
}
