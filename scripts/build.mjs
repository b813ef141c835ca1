// Makes pkg/, the folder that is published. Rust to wasm to one self-contained file for each module format, and to one beside the wasm for each edge runtime.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import zopfli from "@gfx/zopfli";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

// Edge runtimes' bundlers read ESM, whoever asks.
const ENTRIES = { esm: ["warmfold", "slim", "workerd", "edge-light"], cjs: ["warmfold", "slim"] };
// They import the package itself, so that each runtime gets the wasm in its own way, and once.
const ADAPTERS = ["ai-sdk", "langchain"];
// The entries must load anywhere. (Top-level await and modules of Node's are esbuild's errors already.)
const FORBIDDEN = /\bfetch\s*\(|\bimport\.meta\b/;

const step = (text) => console.log(`build: ${text}`);
const run = (command, ...values) => execFileSync(command, values, { stdio: "inherit" });
const node = (script, ...values) => run(process.execPath, `node_modules/${script}`, ...values);

const deflatedWasm = {
  name: "deflated wasm",
  setup: ({ onLoad }) =>
    // Zopfli takes a second and a half and saves a twentieth over zlib's best.
    onLoad({ filter: /\.wasm$/ }, async ({ path }) => ({
      contents: await zopfli.deflateAsync(readFileSync(path), { numiterations: 15 }),
      loader: "binary",
    })),
};

const packageItself = {
  name: "the package itself",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\.\/index\.js$/ }, ({ importer }) => (importer.includes("adapters") ? { path: "warmfold", external: true } : undefined)),
};

rmSync("pkg", { recursive: true, force: true });

step("build helper (the longest step the first time)");
run("cargo", "build", "--quiet", "--profile=xtask", "--package=xtask");

step("Rust to wasm");
run("cargo", "xtask", "bindgen");

step("wasm-opt");
node(
  "binaryen/bin/wasm-opt",
  "build/bindgen/warmfold_bg.wasm",
  "-Oz",
  "--converge",
  // Read for the features by now; nobody needs them after this.
  "--strip-target-features",
  "--strip-producers",
  "--output=build/warmfold.wasm",
);

step("declarations");
rmSync("build/types", { recursive: true, force: true });
node("typescript/bin/tsc", "--project", "tsconfig.types.json");

step("bundles");
for (const [format, names] of Object.entries(ENTRIES)) {
  const { outputFiles } = await build({
    entryPoints: [...names.map((name) => `js/entry/${name}.ts`), ...ADAPTERS.map((name) => `js/adapters/${name}.ts`)],
    entryNames: "[name]",
    outdir: `pkg/${format}`,
    bundle: true,
    format,
    platform: "neutral",
    target: "es2022",
    plugins: [deflatedWasm, packageItself],
    external: ["*.wasm", "*.wasm?module", "langchain", "@langchain/*"],
    // Nine tenths of the file are the wasm in base64; names stay for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: true,
    write: false,
    logLevel: "warning",
  });
  mkdirSync(`pkg/${format}`, { recursive: true });
  for (const { path, text } of outputFiles) {
    const found = path.endsWith(".js") && FORBIDDEN.exec(text);
    if (found) throw new Error(`${path} contains ${found[0]}`);
    writeFileSync(path, text);
  }
  cpSync("build/types", `pkg/${format}/types`, { recursive: true });
  cpSync("pkg-template/warmfold.wasm.d.ts", `pkg/${format}/types/entry/warmfold.wasm.d.ts`);
}
// Its files are .js and .d.ts like the others; this says that they are CommonJS.
writeFileSync("pkg/cjs/package.json", '{ "type": "commonjs" }\n');

step("package");
cpSync("build/warmfold.wasm", "pkg/warmfold.wasm");
cpSync("pkg-template/README.md", "pkg/README.md");
cpSync("LICENSE", "pkg/LICENSE");
const manifest = JSON.parse(readFileSync("pkg-template/package.json", "utf8"));
// Last, because its time says that the package is complete.
writeFileSync("pkg/package.json", JSON.stringify({ ...manifest, version: crateVersion() }, null, 2) + "\n");

const main = readFileSync("pkg/esm/warmfold.js");
step(`done: pkg/esm/warmfold.js is ${main.length} bytes, ${gzipSync(main).length} gzipped`);

function crateVersion() {
  const metadata = execFileSync("cargo", ["metadata", "--no-deps", "--format-version=1"]);
  return JSON.parse(metadata).packages.find(({ name }) => name === "warmfold").version;
}
