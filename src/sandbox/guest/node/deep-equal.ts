/** Deep equality as in `node:assert` and `util.isDeepStrictEqual`. */
import { bytesOf } from "./buffer.ts";

type Same = (left: unknown, right: unknown) => boolean;

const tagOf = (value: object) => Object.prototype.toString.call(value);

/** Compares two values. If not strict, primitives are compared by `==` and prototypes are ignored. */
export function deepEqual(left: unknown, right: unknown, strict: boolean): boolean {
  const pairs = new Map<object, object>();
  const same: Same = (a, b) => {
    if (Object.is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return !strict && loosely(a, b);
    if (tagOf(a) !== tagOf(b)) return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    // A pair that is already being compared further up is assumed equal, so that cycles end.
    if (pairs.get(a) === b) return true;
    pairs.set(a, b);
    const equal = Object.is(ownValue(a), ownValue(b)) && sameMembers(a, b, same) && sameProperties(a, b, strict, same);
    pairs.delete(a);
    return equal;
  };
  return same(left, right);
}

/** Returns whether two primitives are equal by `==`. NaN is equal to itself. */
export function loosely(left: unknown, right: unknown): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: that is what loose equality is.
  return left == right || (Number.isNaN(left) && Number.isNaN(right));
}

/** Returns what an object holds beside properties and members. An object that cannot be compared holds itself. */
function ownValue(value: object): unknown {
  if (value instanceof Date) return value.getTime();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return value;
  return Array.isArray(value) ? value.length : bytesOf(value)?.toString("latin1");
}

/** Compares the members of Sets and the entries of Maps, in any order. Those in the same order are found at once. */
function sameMembers(left: object, right: object, same: Same): boolean {
  if (left instanceof Error && right instanceof Error) return same(left.cause, right.cause);
  if (!(left instanceof Set || left instanceof Map) || !(right instanceof Set || right instanceof Map)) return true;
  const unmatched = new Set<unknown>(right);
  return (
    left.size === right.size &&
    [...left].every((value) => {
      if (unmatched.delete(value)) return true;
      for (const other of unmatched) if (same(value, other)) return unmatched.delete(other);
      return false;
    })
  );
}

function sameProperties(left: object, right: object, strict: boolean, same: Same): boolean {
  if (ArrayBuffer.isView(left)) return true;
  const [a, b] = [left, right] as [Record<PropertyKey, unknown>, Record<PropertyKey, unknown>];
  const keys = keysOf(a, strict);
  return keys.length === keysOf(b, strict).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

function keysOf(value: object, strict: boolean): PropertyKey[] {
  return strict
    ? Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
    : Object.keys(value);
}
