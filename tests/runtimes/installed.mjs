// The package as a user gets it: packed, and installed in a folder of its own outside the repository.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const LIMIT_MS = 60_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const root = here("../..");
/** The folder of the app that has installed it. */
export const app = mkdtempSync(join(tmpdir(), "warmfold-"));
// Also when a test file fails as it loads.
process.on("exit", () => rmSync(app, { recursive: true, force: true }));

/** Runs a program in the app's folder; what it wrote. */
export async function run(command, ...values) {
  // A runtime that keeps files of its own keeps them in the app's folder.
  const env = { ...process.env, DENO_DIR: join(app, ".deno"), DENO_NO_UPDATE_CHECK: "1", DO_NOT_TRACK: "1" };
  const { stdout } = await promisify(execFile)(command, values, { cwd: app, env, timeout: LIMIT_MS, killSignal: "SIGKILL" });
  return stdout.trimEnd();
}
export const node = (...values) => run(process.execPath, ...values);

cpSync(here("app"), app, { recursive: true });
writeFileSync(join(app, "package.json"), '{ "private": true }\n');
export const tarball = join(app, JSON.parse(await run("npm", "pack", "--json", "--pack-destination", app, join(root, "pkg")))[0].filename);
await run("npm", "install", "--offline", "--no-fund", "--no-audit", tarball);

/** The path of a program: among the packages of this folder, which are for one platform each, else on PATH, else nothing. */
export function find(names, scope, inside) {
  const packages = scope ? here(`node_modules/${scope}`) : "";
  const pinned = existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, inside)) : [];
  const onPath = (process.env.PATH ?? "").split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return [...pinned, ...onPath].find((path) => existsSync(path));
}
