/**
 * Calls functions of the engine through the engine's module. On the usual way, quickjs-emscripten makes a handle for each argument and for the result,
 * and four arrays: a call takes 5 µs more.
 */
import type {
  JSContextPointer,
  JSValueConstPointerPointer,
  JSValuePointer,
  OwnedHeapCharPointer,
  QuickJSHandle,
} from "quickjs-emscripten-core";
import { parsedJson } from "../../base/json-object.ts";
import type { Engine } from "./engine.ts";
import { outOfMemory } from "./long-texts.ts";

const pointerBytes = Int32Array.BYTES_PER_ELEMENT;

export class DirectCall {
  readonly #engine: Engine;
  /** It does not grow. */
  readonly #memory: DataView;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#memory = new DataView(engine.memory.buffer);
  }

  /**
   * Calls a function with numbers and texts, and drops its result. Throws an error whose `guest` is what the function throws. If the engine is
   * stopped within the call, nothing is freed: it is not used again.
   */
  call(
    address: JSContextPointer,
    method: QuickJSHandle,
    self: QuickJSHandle,
    args: readonly (number | string)[],
  ): void {
    const { module } = this.#engine;
    const ffi = this.#engine.quickjs.getFFI();
    const values = args.map((arg) =>
      typeof arg === "number" ? ffi.QTS_NewFloat64(address, arg) : this.#newText(address, arg),
    );
    const list = module._malloc(values.length * pointerBytes) as JSValueConstPointerPointer;
    // The allocator returns 0 if there is no room.
    if (Number(list) === 0) throw outOfMemory();
    for (const [place, value] of values.entries()) this.#memory.setInt32(list + place * pointerBytes, value, true);
    const result = ffi.QTS_Call(address, method.value, self.value, values.length, list);
    const thrown = ffi.QTS_ResolveException(address, result);
    module._free(list);
    for (const value of [...values, result]) ffi.QTS_FreeValuePointer(address, value);
    if (thrown) throw this.#failure(address, thrown);
  }

  #newText(address: JSContextPointer, text: string): JSValuePointer {
    const { module, quickjs } = this.#engine;
    const bytes = module.lengthBytesUTF8(text) + 1;
    const copy = module._malloc(bytes) as OwnedHeapCharPointer;
    module.stringToUTF8(text, copy, bytes);
    const value = quickjs.getFFI().QTS_NewString(address, copy);
    module._free(copy);
    return value;
  }

  #failure(address: JSContextPointer, thrown: JSValuePointer): Error {
    const { module, quickjs } = this.#engine;
    const ffi = quickjs.getFFI();
    const json = ffi.QTS_Dump(address, thrown);
    const text = module.UTF8ToString(json);
    ffi.QTS_FreeCString(address, json);
    ffi.QTS_FreeValuePointer(address, thrown);
    return Object.assign(new Error("a call failed"), { guest: parsedJson(text) });
  }
}
