/** What edge runtimes and their bundlers import: the compiled module. Elsewhere read or fetch the file's bytes. */
declare const module: WebAssembly.Module;
export default module;
