// Each bundler with as little configuration as it takes. What one warns of is a fault.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuildItself from "esbuild";
import { rollup as rollupItself } from "rollup";
import * as viteItself from "vite";
import webpackItself from "webpack";
import { app } from "./installed.mjs";

let folders = 0;
/** A new folder for what one run writes, with the page of a classic script in it. */
function newFolder() {
  const folder = join(app, `bundled-${++folders}`);
  cpSync(join(app, "classic.html"), join(folder, "classic.html"));
  return folder;
}

function fault(message) {
  throw new Error(message);
}

/** Returns, as the others do, the folder that it wrote to. */
export async function esbuild(entry, name, options) {
  const folder = newFolder();
  const { warnings } = await esbuildItself.build({
    absWorkingDir: app,
    entryPoints: [entry],
    outfile: join(folder, name),
    bundle: true,
    logLevel: "silent",
    ...options,
  });
  if (warnings.length > 0) fault(warnings[0].text);
  return folder;
}

export async function rollup(entry, name) {
  const folder = newFolder();
  const bundle = await rollupItself({ input: join(app, entry), plugins: [nodeResolve()], onwarn: ({ message }) => fault(message) });
  await bundle.write({ file: join(folder, name) });
  await bundle.close();
  return folder;
}

export async function webpack(entry, name) {
  const folder = newFolder();
  const stats = await new Promise((resolve, reject) =>
    webpackItself(
      {
        context: app,
        mode: "production",
        entry: `./${entry}`,
        output: { path: folder, filename: name },
        // It would warn of anything over 244 KB.
        performance: false,
      },
      (error, stats) => (error ? reject(error) : resolve(stats)),
    ),
  );
  if (stats.hasErrors() || stats.hasWarnings()) fault(stats.toString("errors-warnings"));
  return folder;
}

const customLogger = { ...viteItself.createLogger("silent"), warn: fault, warnOnce: fault, error: fault };
const viteConfig = { root: app, configFile: false, logLevel: "warn", customLogger };

export async function viteBuild(page) {
  const folder = newFolder();
  await viteItself.build({ ...viteConfig, build: { outDir: folder, emptyOutDir: false, rolldownOptions: { input: join(app, page) } } });
  return folder;
}

/** Serves the app as in development while `use` has its address. */
export async function viteDev(use) {
  const server = await viteItself.createServer({ ...viteConfig, server: { host: "127.0.0.1", port: 0, watch: null } });
  try {
    await server.listen();
    return await use(server.resolvedUrls.local[0]);
  } finally {
    await server.close();
  }
}
