// An agent takes the middleware as it is.
import { createAgent } from "langchain";
import { warmfold, type Options } from "warmfold/langchain";

const options: Options = { preset: "careful", marks: "anthropic", onDecision: ({ report }) => report.tokensSaved };
export const agent = createAgent({ model: "anthropic:claude-sonnet-4-5", middleware: [warmfold(options)] });
// @ts-expect-error It is no number.
export const wrong: number = agent;
