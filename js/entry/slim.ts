// Without the wasm: the host calls init with the bytes of `warmfold/warmfold.wasm`, however it gets them.
export { init } from "../wasm.js";
export * from "../index.js";
