// The wasm is inside, compiled as this module loads: nothing to await, to fetch or to configure.
// It is deflated before it becomes base64: base64 of the plain bytes would be a third larger even after gzip.
import { inflateSync } from "fflate";
import bytes from "../../build/warmfold.wasm?deflated";
import { init } from "../wasm.js";

init(inflateSync(bytes));
export * from "../index.js";
