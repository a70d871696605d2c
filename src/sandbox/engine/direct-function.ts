/**
 * A host function that the engine's module calls itself. On the usual way, quickjs-emscripten runs a generator and makes four handles for
 * each call.
 */
import type {
  HostRefId,
  JSContextPointer,
  JSValueConstPointer,
  JSValuePointer,
  QuickJSContext,
} from "quickjs-emscripten-core";
import type { Engine } from "./engine.ts";

export class DirectFunction {
  /** The number by which the engine knows the function. */
  #number: HostRefId | undefined;
  /** The function that was called last on the usual way. */
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

  /** Call this in a call of the function on the usual way. Later calls go directly. */
  isCalled(): void {
    this.#number = this.#last;
  }
}
