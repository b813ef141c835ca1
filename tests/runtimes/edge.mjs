// Runtimes that compile no bytes. Both run what esbuild makes of the app under a condition; the wasm is copied beside it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { esbuild } from "./bundlers.mjs";
import { find } from "./installed.mjs";

const executable = find(["workerd"], "@cloudflare", "bin/workerd");
export const noWorkerd = !executable && "skipped: no workerd";

const bundle = (conditions, format) =>
  esbuild("fetch.mjs", "fetch.js", { format, conditions, loader: { ".wasm": "copy" } });

/** Cloudflare's runtime itself. */
export async function workerd(conditions) {
  process.env.MINIFLARE_WORKERD_PATH = executable;
  // Importing it fails where there is no workerd.
  const { Log, LogLevel, Miniflare } = await import("miniflare");
  const folder = await bundle(conditions, "esm");
  let said = "";
  const worker = new Miniflare({
    rootPath: folder,
    modulesRoot: folder,
    scriptPath: "fetch.js",
    modules: true,
    modulesRules: [
      { type: "ESModule", include: ["**/*.js"] },
      { type: "CompiledWasm", include: ["**/*.wasm"] },
    ],
    // Workers dated after this month may compile while they load, if within their start-up time; none may later.
    compatibilityDate: "2025-05-01",
    // Else it asks Cloudflare what a request looks like.
    cf: false,
    log: new Log(LogLevel.NONE),
    handleRuntimeStdio: (_, stderr) => stderr.on("data", (text) => (said += text)),
  });
  const [answer] = await Promise.allSettled([worker.dispatchFetch("http://localhost/").then((response) => response.text())]);
  // Rejects, once all is ended, where it did not start.
  await worker.dispose().catch(() => {});
  // What a worker throws as it loads is told on stderr only.
  if (answer.status === "rejected") throw new Error(said, { cause: answer.reason });
  return answer.value;
}

/** Stands in for that of Vercel and Next.js: a realm with little in it, modules that were compiled outside of it, and no compiling inside. */
export async function edgeLight(conditions) {
  const folder = await bundle(conditions, "cjs");
  const require = (specifier) => {
    const [path, query] = specifier.split("?");
    if (query !== "module") throw new Error(`${specifier} does not say that a module is meant`);
    return new WebAssembly.Module(readFileSync(join(folder, path)));
  };
  const globals = { module: {}, require, Response, TextDecoder, TextEncoder, atob };
  const realm = createContext(globals, { codeGeneration: { strings: false, wasm: false } });
  runInContext(readFileSync(join(folder, "fetch.js"), "utf8"), realm);
  return globals.module.exports.default.fetch().text();
}
