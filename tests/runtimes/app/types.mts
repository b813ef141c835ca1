// What TypeScript makes of each entry.
import { fold, type FoldResult, type Plan } from "warmfold";
import { fold as slimFold, init } from "warmfold/slim";
import { warmfold, type Options } from "warmfold/ai-sdk";
import module from "warmfold/warmfold.wasm";

const result: FoldResult<{ role: string; content: string }> = fold([{ role: "user", content: "hi" }], { plan: null });
const plan: Plan = slimFold(result.messages).plan;
const compiled: WebAssembly.Module = module;
init(compiled);
export { plan };
const options: Options = { preset: "careful", onDecision: ({ report }) => report.tokensSaved };
export const sent: string = warmfold(options)({ messages: [{ role: "user", content: "hi" }], model: "any" }).messages[0]!.content;
// @ts-expect-error It is no number.
export const wrong: number = module;
