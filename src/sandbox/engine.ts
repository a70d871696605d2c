/** One QuickJS engine: WebAssembly with a memory of fixed size, from which fresh runtimes are made. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";

const pageBytes = 65_536;

/** Left to the engine itself when code has used up its own part, so that running out is an exception and no abort. */
const reserveBytes = 1_048_576;

/**
 * Depth of calls. More is not better: above this, an overflow reaches the host as a RangeError of its own stack, which
 * ends the instance (see quickjs-emscripten #240).
 */
const stackBytes = 262_144;

/**
 * QuickJS's own memory limit does not hold for typed arrays; a WebAssembly.Memory that cannot grow does. Its initial
 * size is its maximum, since growing inside a promise job aborts on dispose. Pages cost nothing until they are touched.
 */
export async function createEngine(memoryBytes: number): Promise<QuickJSWASMModule> {
  const pages = Math.ceil(memoryBytes / pageBytes);
  const bytes = await Bun.file(wasmFile).arrayBuffer();
  return newQuickJSWASMModuleFromVariant(
    newVariant(variant, {
      wasmModule: new WebAssembly.Module(bytes),
      wasmMemory: new WebAssembly.Memory({ initial: pages, maximum: pages }),
    }),
  );
}

/** A runtime of its own for one execution, with the limits that the engine can hold by itself. */
export function createRuntime(engine: QuickJSWASMModule, memoryBytes: number) {
  const runtime = engine.newRuntime();
  runtime.setMemoryLimit(memoryBytes - reserveBytes);
  runtime.setMaxStackSize(stackBytes);
  return runtime;
}
