/**
 * The README's programs run. A fence says so in its info string: ```ts runnable, or ```js runnable.
 * Each is a module of its own, in a process of its own, that imports the package by name.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = join(root, "README.md");

interface Block {
  line: number;
  language: string;
  runnable: boolean;
  code: string;
}

/** Fenced blocks, as CommonMark has them: indented up to three spaces, of any length, of either character, closed or not. */
function blocks(markdown: string): Block[] {
  const found: Block[] = [];
  let open: { fence: string; indent: number; block: Block } | undefined;
  for (const [at, line] of markdown.split(/\r?\n/).entries()) {
    const [, indent = "", fence = "", info = ""] = /^( *)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open) {
      const closes = fence.startsWith(open.fence) && info.trim() === "" && indent.length < 4;
      if (closes) open = undefined;
      else open.block.code += `${line.replace(new RegExp(`^ {0,${open.indent}}`), "")}\n`;
    } else if (fence && indent.length < 4 && !(fence[0] === "`" && info.includes("`"))) {
      const [language = "", ...words] = info.trim().toLowerCase().split(/[\s,{}]+/);
      const block = { line: at + 1, language: { typescript: "ts", javascript: "js", mjs: "js" }[language] ?? language, runnable: words.includes("runnable"), code: "" };
      found.push(block);
      open = { fence, indent: indent.length, block };
    }
  }
  return found;
}

describe("README.md", () => {
  const runnable = existsSync(readme) ? blocks(readFileSync(readme, "utf8")).filter((block) => block.runnable) : [];
  mkdirSync(join(root, "build"), { recursive: true }); // inside the package, so that its own name resolves
  const folder = mkdtempSync(join(root, "build", "readme-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("has programs that run", { skip: !existsSync(readme) && "there is no README.md" }, () => {
    assert.notEqual(runnable.length, 0, "mark the fences of its programs: ```ts runnable");
    for (const { line, language } of runnable) assert.match(language, /^(ts|js)$/, `line ${line}: only ts and js can be run`);
  });

  for (const { line, language, code } of runnable) {
    test(`the program on line ${line}`, () => {
      const file = join(folder, `line-${line}.${language === "ts" ? "mts" : "mjs"}`);
      writeFileSync(file, code);
      const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", file], { cwd: root, encoding: "utf8", timeout: 60_000 });
      assert.equal(status, 0, `${stdout}\n${stderr}`);
    });
  }
});

/** The rows of all tables, by what stands first in them, as { column: cell }; of equal names the first. */
function tableRows(markdown: string): Map<string, Record<string, string>> {
  const rows = new Map<string, Record<string, string>>();
  let head: string[] = [];
  for (const line of markdown.split("\n")) {
    const cells = line.startsWith("|") ? line.slice(1, -1).split("|").map((cell) => cell.trim()) : [];
    if (head.length === 0 || cells.length === 0) head = cells;
    else if (!rows.has(cells[0]!)) rows.set(cells[0]!, Object.fromEntries(head.map((column, at) => [column, cells[at]!])));
  }
  return rows;
}

test("its figures of policies are those of docs/front.md", () => {
  const [own, front] = [readme, join(root, "docs/front.md")].map((file) => tableRows(readFileSync(file, "utf8")));
  const policies = [...own!.values()].filter((row) => "hurt" in row && !/^-+$/.test(row["policy"]!));
  assert.ok(policies.length >= 4);
  for (const row of policies) {
    const measured = front!.get(row["policy"]!) ?? {};
    for (const [column, cell] of Object.entries(row)) assert.equal(cell, measured[column], `${row["policy"]}, ${column}: npm run front wrote another figure`);
  }
});

test("fences are found as CommonMark has them", () => {
  const markdown = ["```ts runnable", "a", "```", "~~~~js runnable", "```", "~~~~", "text ```ts runnable``` text", "  ```js", "  b", "  ```", "    ```ts runnable", "```sh runnable\r", "c"].join("\n");
  assert.deepEqual(
    blocks(markdown).map(({ line, language, runnable, code }) => [line, language, runnable, code]),
    [[1, "ts", true, "a\n"], [4, "js", true, "```\n"], [8, "js", false, "b\n"], [12, "sh", true, "c\n"]],
  );
});
