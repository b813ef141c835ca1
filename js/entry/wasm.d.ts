// The wasm, as it is meant by how it is imported.

/** Stays an import: the runtime's bundler has it compiled and passes the module. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}

/** Inlined by our build, as deflated bytes. */
declare module "*.wasm?deflated" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
