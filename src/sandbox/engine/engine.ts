/** One QuickJS engine: WebAssembly with a memory of its own. */
import variant from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSEmscriptenModule,
  type QuickJSRuntime,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { megabyte } from "../../base/units.ts";
import { EngineMemory, type MemoryOptions } from "./engine-memory.ts";
import { type Imports, instantiateInterruptible } from "./interruptible.ts";
import { encodeLongTexts } from "./long-texts.ts";

/** Memory reserved for the engine itself, so that exhausted memory is an exception and no abort. */
const engineReserveBytes = 1_048_576;

export interface Engine {
  quickjs: QuickJSWASMModule;
  /** The emscripten module behind `quickjs`. */
  module: QuickJSEmscriptenModule;
  memory: EngineMemory;
  /** Called about every millisecond within loops of the engine that run no JavaScript. May throw to end them. */
  onTick: () => void;
}

/** QuickJS's own memory limit does not cover typed arrays; the maximum of the memory does. Throws NoMemoryError. */
export async function createEngine(
  wasmModule: WebAssembly.Module,
  memoryBytes: number,
  options?: MemoryOptions,
): Promise<Engine> {
  const memory = new EngineMemory(memoryBytes, options);
  const engine = { memory, onTick: () => {} };
  let module: QuickJSEmscriptenModule | undefined;
  const emscriptenModule = {
    // Otherwise the path of this program would get into the engine's memory.
    thisProgram: "quickjs",
    // An abort also throws an exception, and the outcome reports it. Nothing is printed, because stderr belongs to the program.
    printErr: () => {},
    async instantiateWasm(imports: Imports, onSuccess: (instance: WebAssembly.Instance) => void) {
      const instance = await instantiateInterruptible(wasmModule, imports, () => engine.onTick());
      onSuccess(instance);
      return instance.exports;
    },
    onRuntimeInitialized(this: QuickJSEmscriptenModule) {
      module = this;
      encodeLongTexts(this, memory);
    },
  };
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(variant, { wasmMemory: memory.wasm, emscriptenModule }),
  );
  return Object.assign(engine, { quickjs, module: module! });
}

/** The limit that the engine enforces itself. */
export function limitMemory(runtime: QuickJSRuntime, { memory }: Engine): void {
  runtime.setMemoryLimit(memory.maxBytes - engineReserveBytes);
}

/** The engine's static data is below this address. It contains the end of the used memory. */
export const staticBytes = 262_144;

/**
 * Finds the word in which the engine keeps the end of its used memory (the word of `sbrk`, which has no name in the program): two large
 * allocations raise it by their sizes. Of several such words, it is the highest.
 */
export async function findEndAddress(wasmModule: WebAssembly.Module): Promise<number> {
  const { quickjs, memory } = await createEngine(wasmModule, 16 * megabyte);
  const context = quickjs.newContext();
  const look = () => new Int32Array(memory.bytes.slice(0, staticBytes).buffer);
  const takes = [1_048_576, 2_097_152];
  const looks = [look()];
  for (const bytes of takes) {
    context.newArrayBuffer(new ArrayBuffer(bytes));
    looks.push(look());
  }
  const [before, between, after] = looks as [Int32Array, Int32Array, Int32Array];
  const raisedBy = (from: Int32Array, to: Int32Array, word: number, bytes = 0) => {
    const by = to[word]! - from[word]!;
    return by >= bytes && by < bytes + 131_072;
  };
  let found = -1;
  for (let word = 0; word < before.length; word++) {
    if (!raisedBy(before, between, word, takes[0]) || !raisedBy(between, after, word, takes[1])) continue;
    if (found === -1 || after[word]! > after[found]!) found = word;
  }
  if (found === -1) throw new Error("the engine does not use its memory as expected");
  return found * 4;
}
