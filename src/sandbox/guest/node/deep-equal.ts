/** Deep equality as in `node:assert` and `util.isDeepStrictEqual`. */
import { bytesOf } from "../bytes.ts";

type Pairs = Map<object, object>;
const { getPrototypeOf } = Object;
const tagOf = (value: object) => Object.prototype.toString.call(value);

/** Compares two values. If not strict, primitives are compared by `==` and prototypes are ignored. */
export function deepEqual(left: unknown, right: unknown, strict: boolean, pairs: Pairs = new Map()): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    // biome-ignore lint/suspicious/noDoubleEquals: that is what loose equality is.
    return !strict && (left == right || (Number.isNaN(left) && Number.isNaN(right)));
  }
  if (tagOf(left) !== tagOf(right)) return false;
  if (strict && getPrototypeOf(left) !== getPrototypeOf(right)) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  // A pair that is already being compared further up is assumed equal, so that cycles end.
  if (pairs.get(left) === right) return true;
  pairs.set(left, right);
  const equal = sameInside(left, right, strict, pairs) && sameProperties(left, right, strict, pairs);
  pairs.delete(left);
  return equal;
}

function sameInside(left: object, right: object, strict: boolean, pairs: Pairs): boolean {
  if (left instanceof Date && right instanceof Date) return Object.is(left.getTime(), right.getTime());
  if (left instanceof RegExp && right instanceof RegExp) return String(left) === String(right);
  if (left instanceof Error && right instanceof Error) {
    if (left.message !== right.message || left.name !== right.name) return false;
    return deepEqual(left.cause, right.cause, strict, pairs);
  }
  if (left instanceof Set && right instanceof Set) return sameSets(left, right, strict, pairs);
  if (left instanceof Map && right instanceof Map) return sameMaps(left, right, strict, pairs);
  if (ArrayBuffer.isView(left) || left instanceof ArrayBuffer) return sameBytes(left, right);
  if (left instanceof Number || left instanceof String || left instanceof Boolean) {
    return Object.is(left.valueOf(), right.valueOf());
  }
  if (left instanceof Promise || left instanceof WeakMap || left instanceof WeakSet) return false;
  return !Array.isArray(left) || left.length === (right as unknown[]).length;
}

function sameBytes(left: object, right: object): boolean {
  const [a, b] = [bytesOf(left), bytesOf(right)];
  return a !== undefined && b !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function sameSets(left: Set<unknown>, right: Set<unknown>, strict: boolean, pairs: Pairs): boolean {
  if (left.size !== right.size) return false;
  const unmatched = new Set(right);
  return [...left].every((value) => {
    if (unmatched.delete(value)) return true;
    for (const other of unmatched) if (deepEqual(value, other, strict, pairs)) return unmatched.delete(other);
    return false;
  });
}

function sameMaps(left: Map<unknown, unknown>, right: Map<unknown, unknown>, strict: boolean, pairs: Pairs): boolean {
  if (left.size !== right.size) return false;
  const unmatched = new Map(right);
  return [...left].every(([key, value]) => {
    if (unmatched.has(key)) {
      return deepEqual(value, unmatched.get(key), strict, pairs) && unmatched.delete(key);
    }
    for (const [other, its] of unmatched) {
      if (deepEqual(key, other, strict, pairs) && deepEqual(value, its, strict, pairs)) return unmatched.delete(other);
    }
    return false;
  });
}

function sameProperties(left: object, right: object, strict: boolean, pairs: Pairs): boolean {
  if (ArrayBuffer.isView(left)) return true;
  const keys = keysOf(left, strict);
  const others = keysOf(right, strict);
  if (keys.length !== others.length) return false;
  const [a, b] = [left, right] as Record<string | symbol, unknown>[];
  return keys.every((key) => Object.hasOwn(b!, key) && deepEqual(a![key], b![key], strict, pairs));
}

function keysOf(value: object, strict: boolean): (string | symbol)[] {
  if (!strict) return Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  return [
    ...Object.keys(value),
    ...symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol)),
  ];
}
