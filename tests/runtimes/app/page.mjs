import { fold } from "warmfold";
import { program } from "./program.mjs";

globalThis.result = program(fold);
