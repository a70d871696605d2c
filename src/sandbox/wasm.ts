/** QuickJS as a compiled WebAssembly module: compiled once a process, while the first worker starts, and given to all. */
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };

let compiling: Promise<WebAssembly.Module> | undefined;

export function compiledEngine(): Promise<WebAssembly.Module> {
  compiling ??= Bun.file(wasmFile).arrayBuffer().then(WebAssembly.compile);
  return compiling;
}
