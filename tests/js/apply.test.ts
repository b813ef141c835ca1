/** Patches that take messages out of a list, as objects: what is not patched stays the very same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatches, type Patch } from "../../js/apply.js";

const text = (text: string): Patch[1] => ({ set: { text } });
const said = (content: string) => ({ record: [["role", { text: "user" }], ["content", { text: content }]] as [string, { text: string }][] });

test("exchanges become one message, and all others stay who they are", () => {
  const messages = ["go", "call", "result", "result", "so?", "call", "result"].map((content) => Object.freeze({ content }));
  Object.freeze(messages);
  const patches: Patch[] = [
    [[1], { set: said("done") }],
    [[4, "content"], text("so!")],
    [[5], { set: said("done too") }],
    [[6], "remove"],
    [[3], "remove"],
    [[2], "remove"],
    [[0], { insert: said("notes") }],
  ];
  const sent: object[] = applyPatches<object[]>(messages, patches, "");
  assert.deepEqual(sent, [
    { role: "user", content: "notes" }, { content: "go" }, { role: "user", content: "done" }, { content: "so!" }, { role: "user", content: "done too" },
  ]);
  assert.equal(sent[1], messages[0]);
  assert.equal(messages.length, 7);
});

test("a message that loses results keeps its other parts", () => {
  const parts = [{ type: "tool_result" }, { type: "text", text: "so?" }, { type: "tool_result" }, { type: "image" }].map((part) => Object.freeze(part));
  const messages = [{ role: "user", content: "go" }, { role: "assistant" }, Object.freeze({ role: "user", content: Object.freeze(parts) })];
  const patches: Patch[] = [[[1], { set: said("done") }], [[2, "content", 2], "remove"], [[2, "content", 0], "remove"]];
  const [first, , last] = applyPatches<object[]>(messages, patches, "") as { content: object[] }[];
  assert.equal(first, messages[0]);
  assert.deepEqual(last!.content.length, 2);
  assert.equal(last!.content[0], parts[1]);
  assert.equal(last!.content[1], parts[3]);
  assert.equal(parts.length, 4);
});
