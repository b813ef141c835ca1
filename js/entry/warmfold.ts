// The wasm is inside, compiled as this module loads: nothing to await, to fetch or to configure.
import bytes from "../../build/warmfold.wasm";
import { init } from "../wasm.js";

init(bytes);
export * from "../index.js";
