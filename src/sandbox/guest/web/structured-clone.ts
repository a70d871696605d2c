/** `structuredClone`: a deep copy that supports cycles. Functions, symbols, promises and weak references are refused. */
import DOMException from "core-js-pure/stable/dom-exception";

const errors = {
  __proto__: null,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as unknown as Record<string, ErrorConstructor>;

type Seen = Map<object, object>;

function refuse(value: unknown): never {
  const what = typeof value === "function" ? `the function ${value.name || "(anonymous)"}` : String(value);
  throw new DOMException(`${what} could not be cloned`, "DataCloneError");
}

function clone(value: unknown, seen: Seen): unknown {
  if (typeof value === "function" || typeof value === "symbol") refuse(value);
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known) return known;
  const keep = <T extends object>(copy: T): T => {
    seen.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof Map) return fillMap(keep(new Map()), value, seen);
  if (value instanceof Set) return fillSet(keep(new Set()), value, seen);
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) return keep(cloneView(value, seen));
  if (value instanceof Error) return cloneError(value, keep, seen);
  if (value instanceof Boolean || value instanceof Number || value instanceof String)
    return keep(Object(value.valueOf()));
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
    refuse(`#<${value.constructor.name}>`);
  }
  return fill(keep(Array.isArray(value) ? new Array(value.length) : {}), value, seen);
}

function fill(copy: object, from: object, seen: Seen): object {
  for (const [name, value] of Object.entries(from)) {
    const own = { value: clone(value, seen), writable: true, enumerable: true, configurable: true };
    Object.defineProperty(copy, name, own);
  }
  return copy;
}

function fillMap(copy: Map<unknown, unknown>, from: Map<unknown, unknown>, seen: Seen): object {
  for (const [key, value] of [...from]) copy.set(clone(key, seen), clone(value, seen));
  return copy;
}

function fillSet(copy: Set<unknown>, from: Set<unknown>, seen: Seen): object {
  for (const value of [...from]) copy.add(clone(value, seen));
  return copy;
}

type View = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView;
const viewTypes = [Int8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array];
const moreViewTypes = [Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView];

/** Copies a view. Views of the same buffer stay views of one buffer. A subclass (Buffer) becomes its base class. */
function cloneView(view: ArrayBufferView, seen: Seen): ArrayBufferView {
  const found = [...viewTypes, ...moreViewTypes].find((type) => view instanceof type) ?? Uint8Array;
  const buffer = clone(view.buffer, seen) as ArrayBuffer;
  const length = "length" in view ? Number(view.length) : view.byteLength;
  return new (found as unknown as View)(buffer, view.byteOffset, length);
}

function cloneError(error: Error, keep: (copy: Error) => Error, seen: Seen): Error {
  const copy = keep(new (errors[error.name] ?? Error)(error.message));
  const set = (name: string, value: unknown) =>
    Object.defineProperty(copy, name, { value, writable: true, configurable: true });
  set("stack", error.stack);
  if ("cause" in error) set("cause", clone(error.cause, seen));
  return copy;
}

export function structuredClone(value: unknown): unknown {
  return clone(value, new Map());
}
