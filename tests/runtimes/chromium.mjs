// Pages in headless Chromium.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";
import { find } from "./installed.mjs";

const LIMIT_MS = 30_000;
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const executablePath = find(["chromium", "chromium-browser", "google-chrome", "chrome"]);
export const noChromium = !executablePath && "skipped: no chromium on PATH";

// One for all pages, with a fresh profile in a temporary folder: that is what launch makes.
let browser;
after(async () => (await browser)?.close());

/** What the page at the address put into `globalThis.result`. */
export async function resultAt(url) {
  browser ??= chromium.launch({ executablePath, args: FLAGS });
  const page = await (await browser).newPage();
  const failure = new Promise((_, reject) => page.on("pageerror", reject));
  const result = async () => {
    await page.goto(url);
    return (await page.waitForFunction(() => globalThis.result, undefined, { timeout: LIMIT_MS })).jsonValue();
  };
  try {
    return await Promise.race([result(), failure]);
  } finally {
    await page.close();
  }
}

/** The same of a page in a folder. */
export async function resultOf(folder, page) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await resultAt(`http://127.0.0.1:${server.address().port}/${page}`);
  } finally {
    server.close();
  }
}
