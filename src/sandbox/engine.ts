/** One QuickJS engine: WebAssembly with a memory of fixed size, from which fresh runtimes are made. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { type Imports, instantiateInterruptible } from "./interruptible.ts";

const pageBytes = 65_536;

/** Left to the engine itself when code has used up its own part, so that running out is an exception and no abort. */
const reserveBytes = 1_048_576;

/**
 * Depth of calls. More is not better: above this, an overflow reaches the host as a RangeError of its own stack, which
 * ends the instance (see quickjs-emscripten #240).
 */
const stackBytes = 262_144;

export interface Engine {
  quickjs: QuickJSWASMModule;
  memory: WebAssembly.Memory;
  /** Called about every millisecond from within loops of the engine that run no JavaScript; may throw to end them. */
  onTick: () => void;
}

/**
 * QuickJS's own memory limit does not hold for typed arrays; a WebAssembly.Memory that cannot grow does. Its initial
 * size is its maximum, since growing inside a promise job aborts on dispose. Pages cost nothing until they are touched.
 */
export async function createEngine(wasmModule: WebAssembly.Module, memoryBytes: number): Promise<Engine> {
  const pages = Math.ceil(memoryBytes / pageBytes);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const engine = { memory, onTick: () => {} };
  const emscriptenModule = {
    // Otherwise the path of this program gets into the engine's memory.
    thisProgram: "quickjs",
    async instantiateWasm(imports: Imports, onSuccess: (instance: WebAssembly.Instance) => void) {
      const instance = await instantiateInterruptible(wasmModule, imports, () => engine.onTick());
      onSuccess(instance);
      return instance.exports;
    },
  };
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memory, emscriptenModule }));
  return Object.assign(engine, { quickjs });
}

/** The limits that the engine can hold by itself. */
export function limitRuntime(runtime: QuickJSRuntime, { memory }: Engine): void {
  runtime.setMemoryLimit(memory.buffer.byteLength - reserveBytes);
  runtime.setMaxStackSize(stackBytes);
}
