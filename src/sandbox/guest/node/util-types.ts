/** `node:util/types`. */

const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);
const isA = (...classes: (abstract new (...args: never[]) => object)[]) => {
  return (value: unknown) => classes.some((each) => value instanceof each);
};

export const types: Record<string, (value: unknown) => boolean> = {
  isDate: isA(Date),
  isRegExp: isA(RegExp),
  isMap: isA(Map),
  isSet: isA(Set),
  isWeakMap: isA(WeakMap),
  isWeakSet: isA(WeakSet),
  isPromise: isA(Promise),
  isNativeError: isA(Error),
  isArrayBuffer: isA(ArrayBuffer),
  isSharedArrayBuffer: isA(SharedArrayBuffer),
  isAnyArrayBuffer: isA(ArrayBuffer, SharedArrayBuffer),
  isArrayBufferView: ArrayBuffer.isView,
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isDataView: isA(DataView),
  isUint8Array: isA(Uint8Array),
  isFloat64Array: isA(Float64Array),
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
