/** What adapters remember of conversations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plan } from "warmfold";
import { newSteps } from "../../js/adapters/steps.js";

const plan: Plan = { version: 1, format: "ai-sdk", edits: [] };

test("the newest message that an earlier step knew is found, by its id or by itself", () => {
  const steps = newSteps();
  const [one, two] = [{}, {}];
  steps.keep(["a", "b"], plan);
  steps.keep([one], plan);
  assert.equal(steps.find(["a", "b", "c"])?.upTo, 2);
  assert.equal(steps.find(["a", "b", "c", one, two])?.upTo, 1);
  assert.equal(steps.find(["a", two]), undefined);
});

test("a conversation that is known by ids is known by its newest alone, and only the latest are known", () => {
  const steps = newSteps();
  steps.keep(["first"], plan);
  for (let at = 0; at < 255; at++) steps.keep([`${at}`], plan);
  steps.keep(["first", "again"], plan);
  assert.equal(steps.find(["first"]), undefined);
  assert.equal(steps.find(["0"])?.upTo, 1);
  steps.keep(["last"], plan);
  assert.equal(steps.find(["0"]), undefined);
  assert.equal(steps.find(["first", "again", "more"])?.upTo, 2);
});
