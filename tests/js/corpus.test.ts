/** A handful of calls of each recorded conversation in Anthropic's format, beside its Chat twin; `npm run twins` takes all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { agreement, levelled, SIZELESS } from "./twins/decisions.js";
import { faultsOf, newFaults } from "./twins/faults.js";
import type { Block, Message, Request } from "./twins/messages.js";
import { callsOf, readPairs, spread, type Pair } from "./twins/pairs.js";
import { SETTINGS, sum, walk } from "./twins/walk.js";

const CALLS = 6;
const folder = fileURLToPath(new URL("../../../shared/corpus", import.meta.url));
const pairs = readPairs(folder);

if (!pairs) console.log("skipped: there is no ../shared/corpus");
else {
  describe("recorded conversations", () => {
    for (const pair of pairs) {
      test(`${pair.name}: nothing that the provider refuses, thinking and images intact, alike in objects and bytes, warm`, () => {
        const calls = spread(callsOf(pair), CALLS);
        const walked = Object.values(SETTINGS).map((options) => walk(pair, calls, options));
        assert.deepEqual(sum(walked).faults, []);
      });
    }

    test("are decided as their twins are, where no size decides", () => {
      const all = pairs.flatMap((pair) => {
        const level = levelled(pair);
        return SIZELESS.map(([, options]) => [pair.name, agreement(level, options, spread(callsOf(level), 2 * CALLS))] as const);
      });
      for (const [name, { alike, all: edits }] of all) assert.equal(alike, edits, name);
      const total = sum(all.map(([, result]) => result));
      console.log(`${total.alike} of ${total.all} edits alike`);
      assert.ok(total.all > 1000, `a test that looks at nothing: ${total.all} edits`);
    });
  });
}

describe("what is looked for", () => {
  const call = (id: string): Block => ({ type: "tool_use", id, name: "read", input: {} } as Block);
  const result = (tool_use_id: string, content: Block["content"] = "line of a log\n".repeat(300)): Block => ({ type: "tool_result", tool_use_id, content });
  const thought: Block = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
  const image: Block = { type: "image", source: { type: "base64", data: "aW1n" } };
  const round = (id: string): Message[] => [
    { role: "assistant", content: [thought, call(id)] },
    { role: "user", content: [result(id, [{ type: "text", text: "seen\n".repeat(300) }, image])] },
  ];
  const request = (): Request => ({
    messages: [
      { role: "user", content: "Look" },
      ...Array.from({ length: 8 }, (_, at) => round(`a${at}`)).flat(),
      { role: "assistant", content: [{ ...thought, thinking: "Let me see. ".repeat(50) }, { type: "text", text: "Done." }] },
      { role: "user", content: "And now?" },
      ...round("b"),
    ],
  });

  test("is not there in a sound request, before and after", () => {
    const pair: Pair = { name: "sound", request: request(), twin: { messages: request().messages.map(({ role }) => ({ role, content: "" })) } };
    assert.deepEqual(faultsOf(pair.request), []);
    for (const options of Object.values(SETTINGS)) {
      const { faults, edits, thinking, images, calls, sameWays } = walk(pair, callsOf(pair), { ...options, when: "budget", budgetTokens: 1 });
      assert.deepEqual(faults, []);
      assert.equal(sameWays, calls);
      assert.equal(images.intact, images.given);
      assert.ok(edits > 5 && calls === 11, `${edits} edits, ${calls} calls`);
      assert.deepEqual([thinking.given - thinking.intact, thinking.dropped > 0], [thinking.dropped, options.dropReasoning === true]);
    }
  });

  const damages: [fault: RegExp, damage: (messages: Message[]) => unknown][] = [
    [/a call without its result/, (messages) => messages.splice(2, 1)],
    [/a result without its call/, (messages) => messages.splice(1, 1)],
    [/two results of one call/, (messages) => (messages[2]!.content as Block[]).push(result("a0"))],
    [/two calls have the id/, (messages) => messages.splice(3, 0, ...round("a0"))],
    [/text behind a call/, (messages) => (messages[1]!.content as Block[]).push({ type: "text", text: "x" })],
    [/an empty text in a result/, (messages) => (messages[2]!.content = [result("a0", [{ type: "text", text: " " }])])],
    [/no content/, (messages) => (messages[0]!.content = "")],
    [/is not the user's/, (messages) => (messages[1]!.role = "user")],
    [/no tool here/, (messages) => (messages[0]!.role = "tool")],
    [/it ends with thinking/, (messages) => (messages[17]!.content = [thought])],
    [/thinking without a signature/, (messages) => ((messages[1]!.content as Block[])[0] = { type: "thinking", thinking: "Hm." })],
    [/a mark on thinking/, (messages) => ((messages[1]!.content as Block[])[0] = { ...thought, cache_control: { type: "ephemeral" } })],
    [/5 marks/, (messages) => [2, 4, 6, 8, 10].forEach((at) => ((messages[at]!.content as Block[])[0]!.cache_control = { type: "ephemeral" }))],
  ];
  for (const [fault, damage] of damages) {
    test(`is found: ${fault.source}`, () => {
      const damaged = request();
      damage(damaged.messages);
      const found = newFaults(faultsOf(request()), damaged);
      assert.ok(found.some((one) => fault.test(one)), found.join("; "));
      assert.deepEqual(newFaults(faultsOf(damaged), damaged), []);
    });
  }
});
