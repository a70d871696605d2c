/** `node:util` and `node:util/types`. */
import { customInspect, format, formatWithOptions, inspect } from "../inspect.ts";
import { inspect as library } from "../library.ts";
import { TextDecoder, TextEncoder } from "../web/encoding.ts";
import { deepEqual } from "./deep-equal.ts";

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

const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);
const isA = (...classes: (abstract new (...args: never[]) => object)[]) => {
  return (value: unknown) => classes.some((each) => value instanceof each);
};

const classes = [
  ...[Date, RegExp, Map, Set, WeakMap, WeakSet, Promise, ArrayBuffer, SharedArrayBuffer, DataView],
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
];

/** `node:util/types`. */
const types: Record<string, (value: unknown) => boolean> = {
  ...Object.fromEntries(classes.map((type) => [`is${type.name}`, isA(type)])),
  isNativeError: isA(Error),
  isAnyArrayBuffer: isA(ArrayBuffer, SharedArrayBuffer),
  isArrayBufferView: ArrayBuffer.isView,
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isBoxedPrimitive: (value) =>
    /^(?:Boolean|Number|String|Symbol|BigInt)$/.test(tagOf(value)) && typeof value === "object",
  isAsyncFunction: (value) => typeof value === "function" && /^Async/.test(tagOf(value)),
  isGeneratorFunction: (value) => typeof value === "function" && /GeneratorFunction$/.test(tagOf(value)),
  isGeneratorObject: (value) => /Generator$/.test(tagOf(value)) && typeof value === "object",
  isMapIterator: (value) => tagOf(value) === "Map Iterator",
  isSetIterator: (value) => tagOf(value) === "Set Iterator",
  isSymbolObject: (value) => tagOf(value) === "Symbol" && typeof value === "object",
  // The target of a Proxy cannot be detected from JavaScript.
  isProxy: () => false,
};

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
  stripVTControlCharacters: library.stripVTControlCharacters,
  toUSVString: (text: unknown) => String(text).toWellFormed(),
  TextEncoder,
  TextDecoder,
};
Object.assign(inspect, { custom: customInspect });
