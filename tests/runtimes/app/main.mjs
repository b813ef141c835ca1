import { fold } from "warmfold";
import { program } from "./program.mjs";

console.log(program(fold));
