import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fold, init } from "warmfold/slim";
import { program } from "./program.mjs";

init(readFileSync(fileURLToPath(import.meta.resolve("warmfold/warmfold.wasm"))));
console.log(program(fold));
