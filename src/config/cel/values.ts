/** The values of CEL, the Common Expression Language, and what holds for all of them. Values of JSON are read when they are asked for. */
import { exactDigits } from "../../base/exact-json.ts";
import { Undecidable, type Work } from "./work.ts";

/** Levels of values that a condition compares. */
const maxConditionDepth = 500;

/** Integers are bigints, other numbers are doubles. */
export type Value = null | boolean | bigint | number | string | List | Fields | TypeName | Timestamp | Duration;

/** A list of CEL, or of JSON. */
export class List {
  readonly #items: readonly unknown[];
  readonly #isJson: boolean;

  private constructor(items: readonly unknown[], isJson: boolean) {
    this.#items = items;
    this.#isJson = isJson;
  }

  static of(items: readonly Value[]): List {
    return new List(items, false);
  }

  static ofJson(items: readonly unknown[]): List {
    return new List(items, true);
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Value {
    const item = this.#items[index];
    return this.#isJson ? fromJson(item) : (item as Value);
  }
}

/** The keys of a map. */
export type Key = boolean | bigint | string;

/** A map of CEL, or an object of JSON. */
export class Fields {
  readonly #entries: ReadonlyMap<Key, Value> | undefined;
  readonly #json: Readonly<Record<string, unknown>>;
  #keys: readonly Key[] | undefined;

  protected constructor(entries: ReadonlyMap<Key, Value> | undefined, json: Readonly<Record<string, unknown>>) {
    this.#entries = entries;
    this.#json = json;
  }

  static of(entries: ReadonlyMap<Key, Value>): Fields {
    return new Fields(entries, {});
  }

  static ofJson(json: object): Fields {
    return new Fields(undefined, json as Record<string, unknown>);
  }

  /** A value that JSON does not have is left out. */
  has(key: Key): boolean {
    if (this.#entries) return this.#entries.has(key);
    return typeof key === "string" && Object.hasOwn(this.#json, key) && this.#json[key] !== undefined;
  }

  /** Undefined if the map does not have the key. */
  get(key: Key): Value | undefined {
    if (this.#entries) return this.#entries.get(key);
    return typeof key === "string" && this.has(key) ? fromJson(this.#json[key]) : undefined;
  }

  keys(work: Work): readonly Key[] {
    if (this.#keys) return this.#keys;
    const json = this.#json;
    this.#keys = this.#entries ? [...this.#entries.keys()] : Object.keys(json).filter((key) => json[key] !== undefined);
    work.take(25 * this.#keys.length);
    return this.#keys;
  }
}

export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** Whole numbers of JSON are integers, which CEL does not compute together with other numbers. */
export function fromJson(value: unknown): Value {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return value;
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case "object": {
      if (value === null) return null;
      const digits = exactDigits(value);
      if (digits !== undefined) return exactValue(digits);
      return Array.isArray(value) ? List.ofJson(value) : Fields.ofJson(value);
    }
    default:
      return null;
  }
}

export function typeOf(value: Value): string {
  if (value === null) return "null_type";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  if (value instanceof List) return "list";
  if (value instanceof Fields) return "map";
  if (value instanceof TypeName) return "type";
  return value instanceof Timestamp ? "google.protobuf.Timestamp" : "google.protobuf.Duration";
}

/** Values of different types are different. Numbers are equal if their values are. */
export function areEqual(one: Value, other: Value, work: Work, depth = 0): boolean {
  work.take(5);
  if (depth > maxConditionDepth) throw new Undecidable("the values are nested too deeply");
  if (typeof one === "string" && typeof other === "string") {
    if (one.length !== other.length) return false;
    work.read(one);
    return one === other;
  }
  // An integer and a double are compared by value, and NaN equals nothing.
  if (isNumber(one) && isNumber(other)) return one <= other && one >= other;
  if (one instanceof List && other instanceof List) {
    if (one.size !== other.size) return false;
    for (let index = 0; index < one.size; index++) {
      if (!areEqual(one.at(index), other.at(index), work, depth + 1)) return false;
    }
    return true;
  }
  if (one instanceof Fields && other instanceof Fields) {
    const keys = one.keys(work);
    if (keys.length !== other.keys(work).length) return false;
    return keys.every((key) => other.has(key) && areEqual(one.get(key)!, other.get(key)!, work, depth + 1));
  }
  if (one instanceof TypeName && other instanceof TypeName) return one.name === other.name;
  if (one instanceof Timestamp && other instanceof Timestamp) return one.nanos === other.nanos;
  if (one instanceof Duration && other instanceof Duration) return one.nanos === other.nanos;
  return one === other;
}

export function isNumber(value: Value): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

/** A value as the key of a map, in which the double 1.0 is the integer 1. Undefined if a map cannot have it. */
export function asKey(value: Value): Key | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" || typeof value === "boolean" || typeof value === "bigint" ? value : undefined;
}

/** The value of a number that JavaScript cannot hold. One beyond 64 bits is compared as a double. */
function exactValue(digits: string): Value {
  const whole = /^-?\d+$/.test(digits) ? BigInt(digits) : undefined;
  return whole === undefined || whole > maxInteger || whole < minInteger ? Number(digits) : whole;
}

const maxInteger = 2n ** 63n - 1n;
const minInteger = -(2n ** 63n);

/** Integers have 64 bits. */
export function integer(value: bigint): bigint {
  if (value > maxInteger || value < minInteger) throw new Undecidable("an integer is too large");
  return value;
}
