// A page of a folder, opened in headless Chromium.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" };

/** The path of a Chromium on PATH, if any. */
export function findChromium() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Opens `index.html` of the folder and returns what it put into `globalThis.result`. */
export async function resultOfPage(executablePath, folder) {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const body = readFileSync(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A fresh profile in a temporary folder is what launch makes.
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const page = await browser.newPage();
    const failure = new Promise((_, reject) => page.on("pageerror", reject));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const result = page.waitForFunction(() => globalThis.result, undefined, { timeout: 30_000 });
    return await (await Promise.race([result, failure])).jsonValue();
  } finally {
    await browser.close();
    server.close();
  }
}
