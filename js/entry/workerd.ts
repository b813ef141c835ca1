// Cloudflare's runtime compiles no bytes, so the wasm is a file that comes compiled with the worker.
// The path is that of the package: esm/workerd.js beside warmfold.wasm's folder.
import module from "../warmfold.wasm";
import { init } from "../wasm.js";

init(module);
export * from "../index.js";
