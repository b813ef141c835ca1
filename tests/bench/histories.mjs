// Deterministic histories that look like a coding agent's: user turns, tool calls with realistic arguments, code-like and log-like
// results of 8 KB on average, some in other scripts, some read again whole, in part, or after a change.

const WORDS = "account batch cache cursor deadline encoder entry error frame handler index limit merge node offset parser queue result schema token value window".split(" ");
const ABROAD = ["// 深い構造を浅い構造に変換します。", "// 缓存前缀必须保持不变。", "console.log(\"🚀 готово\", résumé);", "# 설정 파일을 다시 읽습니다 👩‍💻"];
const COMMANDS = ["npm test -- --filter", "cargo build --package", "git log --stat --", "ls -la src/", "docker compose logs --tail 200"];

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What an agent's tools answer. */
export function makeWorld(seed) {
  const random = randomNumbers(seed);
  const below = (end) => Math.floor(random() * end);
  const pick = (list) => list[below(list.length)];
  const word = () => pick(WORDS);
  // Lines of code differ, as they do in files: what the model writes must not quote every file it has read.
  const code = () => {
    const indent = "  ".repeat(1 + below(4));
    const line = pick([
      () => `const ${word()}${below(9e6)} = await ${word()}.${word()}(${word()}, { ${word()}: ${below(5000)} });`,
      () => `if (${word()}${below(9e6)}.${word()} !== undefined && ${word()}Count > ${below(64)}) return ${word()};`,
      () => `/** Keeps the ${word()} of each ${word()} until ${word()} ${below(9e6)} has come. */`,
      () => `} // ${word()}`,
    ])();
    return indent + line;
  };
  const log = () => `2026-03-${10 + below(20)}T${10 + below(13)}:${10 + below(49)}:${10 + below(49)}.${100 + below(899)}Z ${pick(["INFO", "DEBUG", "WARN"])} [${word()}-${below(16)}] ${word()} ${word()} in ${below(900)}ms id=${below(2 ** 31).toString(16)}`;

  const text = (from, bytes) => {
    const abroad = random() < 0.04;
    const made = [];
    for (let length = 0; length < bytes; ) {
      const line = abroad && random() < 0.5 ? pick(ABROAD) : from();
      made.push(line);
      length += line.length + 1;
    }
    return made.join("\n");
  };
  const size = () => {
    const share = random();
    if (share < 0.25) return 200 + below(1300);
    if (share < 0.65) return 2500 + below(7500);
    return share < 0.93 ? 10_000 + below(14_000) : 30_000 + below(30_000);
  };
  return { random, below, pick, word, code: (bytes = size()) => text(code, bytes), log: (bytes = size()) => text(log, bytes) };
}

/** A history of so many messages, about 4 KB each. */
export function agentHistory(length, seed = 1) {
  const { random, below, pick, word, code, log } = makeWorld(seed);
  const files = new Map();
  const paths = [];

  const read = () => {
    const known = paths.length > 0 && random() < 0.3;
    const path = known ? pick(paths.slice(-12)) : `src/${word()}/${word()}_${paths.length}.ts`;
    if (!known) paths.push(path);
    if (!known || random() < 0.4) files.set(path, code()); // new, or changed since
    const whole = files.get(path);
    if (!known || random() < 0.6) return { name: "read_file", parameters: { path }, result: whole };
    const offset = below(40);
    return { name: "read_file", parameters: { path, offset, limit: 40 }, result: whole.split("\n").slice(offset, offset + 40).join("\n") };
  };
  const run = () => ({ name: "bash", parameters: { command: `${pick(COMMANDS)} ${word()}`, timeout: 120_000 }, result: log() });
  const search = () => ({ name: "grep", parameters: { pattern: `${word()}\\.${word()}`, path: "src" }, result: code(500 + below(4000)) });
  const write = () => {
    const path = pick(paths.slice(-8)) ?? "src/main.ts";
    const lines = (files.get(path) ?? "").split("\n");
    const from = below(lines.length);
    return { name: "edit_file", parameters: { path, old: lines.slice(from, from + 5).join("\n"), new: code(300) }, result: "The file was changed." };
  };

  const messages = [{ role: "system", content: `You are a careful engineer.\n${code(6000)}` }];
  for (let calls = 0; messages.length < length; ) {
    if (messages.at(-1).role !== "tool" || random() < 0.1) {
      messages.push({ role: "user", content: `Please change the ${word()} so that each ${word()} keeps its ${word()}. ${code(150)}` });
    }
    const steps = Array.from({ length: random() < 0.2 ? 2 + below(2) : 1 }, () => ({ id: `call_${calls++}`, ...pick([read, read, read, run, run, search, write])() }));
    const tool_calls = steps.map(({ id, name, parameters }) => ({ id, type: "function", function: { name, arguments: JSON.stringify(parameters) } }));
    messages.push({ role: "assistant", content: random() < 0.3 ? `I will look at the ${word()} first.` : null, tool_calls });
    for (const { id, result } of steps) messages.push({ role: "tool", tool_call_id: id, content: result });
  }
  // As a host has them: parsed, each text flat in memory.
  return JSON.parse(JSON.stringify(messages.slice(0, length)));
}

/** Five messages, 2 KB. */
export function smallHistory(seed = 1) {
  const { code } = makeWorld(seed);
  const tool_calls = [{ id: "call_0", type: "function", function: { name: "read_file", arguments: '{"path":"src/main.ts"}' } }];
  return JSON.parse(JSON.stringify([
    { role: "system", content: "You are a careful engineer." },
    { role: "user", content: "Why does the parser fail?" },
    { role: "assistant", content: null, tool_calls },
    { role: "tool", tool_call_id: "call_0", content: code(1500) },
    { role: "user", content: "And how is it mended?" },
  ]));
}
