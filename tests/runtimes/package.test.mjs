// What is in the package: sizes, source maps, types, manifest.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, extname, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { app, node, root, tarball } from "./installed.mjs";

// The wasm is inlined, so a page that uses warmfold loads all of this before its first fold: about what
// one photograph weighs. A core that outgrows it has taken in something that belongs in another entry.
// A third of it knows prices, tools, shell commands and replays: what makes a fold pay. A tenth reads and splices bytes, and
// knows which calls may be made again; a twentieth goes on with conversations; each format beside the first is a twentieth or two.
// A fifth is the context manager: tokens by model family, statistics, outlines, and digests of whole exchanges.
const CEILING_GZIP_KB = 360;
// All but the wasm: it writes the tape, applies patches, compares what an earlier call has read, and holds errors. What is much larger decides something that Rust should.
const CEILING_GZIP_KB_WITHOUT_WASM = 10;
const CEILINGS_KB = {
  "esm/warmfold.js": CEILING_GZIP_KB,
  "cjs/warmfold.js": CEILING_GZIP_KB,
  "esm/slim.js": CEILING_GZIP_KB_WITHOUT_WASM,
  "cjs/slim.js": CEILING_GZIP_KB_WITHOUT_WASM,
  "esm/workerd.js": CEILING_GZIP_KB_WITHOUT_WASM,
  "esm/edge-light.js": CEILING_GZIP_KB_WITHOUT_WASM,
  // They call the package, and remember; LangChain's also makes plain messages of instances, and back.
  "esm/ai-sdk.js": 2,
  "cjs/ai-sdk.js": 2,
  "esm/langchain.js": 3,
  "cjs/langchain.js": 3,
  // As much as what inlines it: gzip deflates less well than the build does, about by what base64 costs.
  "warmfold.wasm": CEILING_GZIP_KB,
  // The wasm three times (ESM, CommonJS, a file of its own) and the sources, in maps: what an install downloads.
  "the tarball": 4 * CEILING_GZIP_KB,
};

const installed = join(app, "node_modules/warmfold");
const content = (path) => readFileSync(join(installed, path));
const filesThatRun = readdirSync(installed, { recursive: true }).filter((path) => [".js", ".wasm"].includes(extname(path)));
const tool = (script, ...values) => node(join(root, "node_modules", script), ...values);

test("size: nothing is over its ceiling", () => {
  const measured = [
    ...filesThatRun.map((path) => [path, content(path).length, gzipSync(content(path), { level: 9 }).length]),
    ["the tarball", "", statSync(tarball).size],
  ].map(([path, bytes, gzip]) => ({ path, bytes, gzip, "ceiling, KB": CEILINGS_KB[path] }));
  console.table(measured);
  const over = measured.filter(({ gzip, "ceiling, KB": ceiling }) => !(gzip <= ceiling * 1024));
  assert.deepEqual(over, []);
});

test("source maps: each file's leads to the line it was made from, and holds the sources", () => {
  for (const path of filesThatRun.filter((name) => name.endsWith(".js"))) {
    const code = content(path).toString();
    assert.ok(code.endsWith(`//# sourceMappingURL=${basename(path)}.map\n`), path);
    const payload = JSON.parse(content(`${path}.map`));
    const map = new SourceMap(payload);
    // A text of js/index.ts, one of js/errors.ts and one of the glue; of an adapter one of its own and one of what they share.
    const adapters = { "ai-sdk.js": ["inputTokenDetails", "idleMs"], "langchain.js": ["input_json_delta", "idleMs"] };
    const texts = adapters[basename(path)] ?? ["a getter of the input called warmfold again", "warmfold.error", "__wbindgen_init_externref_table"];
    for (const text of texts) {
      const before = code.slice(0, code.indexOf(text)).split("\n");
      const { originalSource, originalLine } = map.findEntry(before.length - 1, before.at(-1).length);
      const original = payload.sourcesContent[payload.sources.indexOf(originalSource)];
      assert.ok(original?.split("\n")[originalLine]?.includes(text), `${path}: ${text}: ${originalSource}:${originalLine + 1}`);
    }
  }
});

test("types: each entry has its own, as TypeScript in Node and in a bundler reads them", async () => {
  await tool("typescript/bin/tsc", "--project", ".", "--module", "nodenext");
  await tool("typescript/bin/tsc", "--project", ".", "--module", "esnext", "--moduleResolution", "bundler");
  await tool("typescript/bin/tsc", "--project", ".", "--module", "esnext", "--moduleResolution", "bundler", "--customConditions", "workerd");
});

test("types: an adapter has those of what it adapts, and runs beside it, in both kinds of module", async () => {
  // Installing LangChain once more would take the network.
  for (const name of ["langchain", "@langchain"]) symlinkSync(join(root, "node_modules", name), join(app, "node_modules", name));
  const kinds = ["mts", "cts"].map((ending) => `langchain.${ending}`);
  await tool("typescript/bin/tsc", ...kinds, "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", "", "--skipLibCheck", "--ignoreConfig");
  const said = 'warmfold().name';
  assert.equal(await node("--input-type=module", "--eval", `import { warmfold } from "warmfold/langchain"; console.log(${said})`), "warmfold");
  assert.equal(await node("--input-type=commonjs", "--eval", `const { warmfold } = require("warmfold/langchain"); console.log(${said})`), "warmfold");
});

test("types: attw finds nothing, for ESM and CommonJS", async () => {
  // node16: older resolution knows no exports map.
  await tool("@arethetypeswrong/cli/dist/index.js", tarball, "--profile", "node16", "--no-color");
});

test("publint finds nothing to say", async () => {
  await tool("publint/src/cli.js", join(root, "pkg"), "--strict");
});
