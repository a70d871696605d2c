/** `node:util`. */
import { stripVTControlCharacters } from "node-inspect-extracted";
import { customInspect, format, formatWithOptions, inspect } from "../inspect.ts";
import { TextDecoder, TextEncoder } from "../web/encoding.ts";
import { deepEqual } from "./deep-equal.ts";
import { types } from "./util-types.ts";

type Callback = (error: unknown, value?: unknown) => void;
type Callable = (this: unknown, ...args: unknown[]) => unknown;

const customPromisify = Symbol.for("nodejs.util.promisify.custom");

function promisify(original: Callable): Callable {
  if (typeof original !== "function") throw new TypeError("promisify takes a function");
  const own = (original as unknown as Record<symbol, Callable>)[customPromisify];
  if (own) return own;
  return function (...args) {
    return new Promise((resolve, reject) => {
      const callback: Callback = (error, value) => (error ? reject(error) : resolve(value));
      Reflect.apply(original, this, [...args, callback]);
    });
  };
}
promisify.custom = customPromisify;

function callbackify(original: (...args: unknown[]) => Promise<unknown>): Callable {
  return function (...args) {
    const callback = args.pop() as Callback;
    Reflect.apply(original, this, args).then(
      (value: unknown) => callback(null, value),
      (error: unknown) => callback(error ?? new Error("The promise was rejected with a falsy value")),
    );
  };
}

function inherits(child: Callable, superConstructor: Callable): void {
  Object.defineProperty(child, "super_", { value: superConstructor, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, superConstructor.prototype);
}

export const util = {
  inspect,
  format,
  formatWithOptions,
  promisify,
  callbackify,
  inherits,
  deprecate: (original: Callable) => original,
  debuglog: () => Object.assign(() => {}, { enabled: false }),
  isDeepStrictEqual: (left: unknown, right: unknown) => deepEqual(left, right, true),
  isArray: Array.isArray,
  types,
  /** The sandbox has no colours. */
  styleText: (_style: unknown, text: string) => text,
  stripVTControlCharacters,
  toUSVString: (text: unknown) => String(text).toWellFormed(),
  TextEncoder,
  TextDecoder,
};
Object.assign(inspect, { custom: customInspect });
