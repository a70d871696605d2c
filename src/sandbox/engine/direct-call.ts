/**
 * Calls functions of the engine directly through the engine's module. The usual API of quickjs-emscripten creates a handle for each
 * argument and for the result, and four arrays, so a call takes 5 µs more.
 */
import type {
  HostRefId,
  JSContextPointer,
  JSValueConstPointer,
  JSValueConstPointerPointer,
  JSValuePointer,
  OwnedHeapCharPointer,
  QuickJSContext,
  QuickJSHandle,
} from "quickjs-emscripten-core";
import { parsedJson } from "../../base/json-object.ts";
import type { Engine } from "./engine.ts";
import { outOfMemory } from "./long-texts.ts";

const pointerBytes = Int32Array.BYTES_PER_ELEMENT;

export class DirectCall {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
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
    const { module, memory } = this.#engine;
    const ffi = this.#engine.quickjs.getFFI();
    const values = args.map((arg) =>
      typeof arg === "number" ? ffi.QTS_NewFloat64(address, arg) : this.#newText(address, arg),
    );
    const list = module._malloc(values.length * pointerBytes) as JSValueConstPointerPointer;
    // The allocator returns 0 if there is no room.
    if (Number(list) === 0) throw outOfMemory();
    for (const [place, value] of values.entries()) memory.view.setInt32(list + place * pointerBytes, value, true);
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

/**
 * A host function that the engine's module calls directly. The usual API of quickjs-emscripten runs a generator and creates four handles
 * for each call.
 */
export class DirectFunction {
  /** The number by which the engine knows the function. */
  #number: HostRefId | undefined;
  /** The function that was last called through the usual API. */
  #last: HostRefId | undefined;

  /** The context, once it has called any function of the host. */
  context: JSContextPointer | undefined;

  /** `body` gets a number and a text. */
  constructor(
    { quickjs, module }: Engine,
    context: QuickJSContext,
    body: (number: number, text: string) => string | undefined,
  ) {
    const ffi = quickjs.getFFI();
    const { callFunction } = module.callbacks;
    const textOf = (address: JSContextPointer, value: JSValueConstPointer) => {
      const text = ffi.QTS_GetString(address, value);
      try {
        return module.UTF8ToString(text);
      } finally {
        ffi.QTS_FreeCString(address, text);
      }
    };
    const call = (address: JSContextPointer, args: JSValueConstPointer): JSValuePointer => {
      try {
        const number = ffi.QTS_GetFloat64(address, ffi.QTS_ArgvGetJSValueConstPointer(args, 0));
        const answer = body(number, textOf(address, ffi.QTS_ArgvGetJSValueConstPointer(args, 1)));
        if (answer === undefined) return 0 as JSValuePointer;
        using handle = context.newString(answer);
        return ffi.QTS_DupValuePointer(address, handle.value);
      } catch (error) {
        using thrown = context.newError(error as Error);
        return ffi.QTS_Throw(address, thrown.value);
      }
    };
    module.callbacks.callFunction = (asyncify, address, self, count, args, number) => {
      if (number === this.#number && count === 2) return call(address, args);
      this.#last = number;
      this.context = address;
      return callFunction(asyncify, address, self, count, args, number);
    };
  }

  /** Call this during a call through the usual API. Later calls are direct. */
  isCalled(): void {
    this.#number = this.#last;
  }
}
