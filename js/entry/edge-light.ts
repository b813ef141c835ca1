// As in workerd; Next.js and Vercel want to be told by the query that a compiled module is meant.
import module from "../warmfold.wasm?module";
import { init } from "../wasm.js";

init(module);
export * from "../index.js";
