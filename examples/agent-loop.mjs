// The smallest agent loop: fold before each model call, send what comes back, keep history and plan.
//     npm run build && node examples/agent-loop.mjs
import { fold } from "warmfold";

const tools = {
  read_file: ({ path }) => Array.from({ length: 400 }, (_, line) => `${path}:${line + 1} const value_${line} = compute(${line});`).join("\n"),
};

/** Stands in for `client.chat.completions.create`: reads twenty files, one a call, then answers. */
function model({ messages }) {
  const read = messages.filter(({ role }) => role === "tool").length;
  if (read === 20) return { role: "assistant", content: "All twenty files compute their values line by line." };
  const call = { id: `call_${read}`, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path: `src/part_${read}.ts` }) } };
  return { role: "assistant", content: null, tool_calls: [call] };
}

const history = [{ role: "system", content: "You are a careful engineer." }, { role: "user", content: "What do the files in src compute?" }];
let plan = null; // nothing is cached yet; store it beside the history as JSON

for (;;) {
  const folded = fold(history, { plan });
  plan = folded.plan;
  const { tokensBefore, tokensAfter } = folded.report;
  console.log(`call with ${history.length} messages: ${tokensBefore} → ${tokensAfter} tokens, ${folded.verdict}`);

  const answer = model({ messages: folded.messages }); // the folded messages go into the request only
  history.push(answer);
  for (const { id, function: { name, arguments: text } } of answer.tool_calls ?? []) {
    history.push({ role: "tool", tool_call_id: id, content: tools[name](JSON.parse(text)) });
  }
  if (!answer.tool_calls) break;
}
console.log(history.at(-1).content);
