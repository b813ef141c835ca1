// For webpack, which makes a file of it, and for all that read `new URL` as it does.
import { fold, init } from "warmfold/slim";
import { program } from "./program.mjs";

fetch(new URL("warmfold/warmfold.wasm", import.meta.url))
  .then((response) => response.arrayBuffer())
  .then((bytes) => {
    init(bytes);
    globalThis.result = program(fold);
  });
