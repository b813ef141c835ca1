// One small history, folded; every runtime must answer with the same text. `fold` is the package's.
export function program(fold) {
  const file = Array.from({ length: 400 }, (_, line) => `${line}: const value${line} = compute(${line}); // ünïcode 🦀`).join("\n");
  const call = (id, path) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } }],
  });
  const history = [
    { role: "system", content: "You are a careful engineer." },
    { role: "user", content: "Read the files, then say what they do." },
    ...["a", "b", "c", "d", "e", "f"].flatMap((name) => [
      call(`call_${name}`, `${name}.ts`),
      { role: "tool", tool_call_id: `call_${name}`, content: file },
    ]),
  ];
  const result = fold(history, { plan: null, when: "budget", budgetTokens: 20_000, protectRecentTurns: 1 });
  return JSON.stringify({
    folded: result.folded,
    firstUnchanged: result.messages[0] === history[0],
    lastUnchanged: result.messages.at(-1) === history.at(-1),
    tokensSaved: result.report.tokensBefore - result.report.tokensAfter,
    messages: result.messages,
  });
}
