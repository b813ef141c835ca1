import { fold } from "./node_modules/warmfold/esm/warmfold.js";
import { program } from "./program.mjs";

postMessage(program(fold));
