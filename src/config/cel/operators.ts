/** The operators of CEL, as its specification defines them: https://github.com/google/cel-spec/blob/master/doc/langdef.md. */
import { duration, timestamp } from "./time.ts";
import { areEqual, asKey, Duration, Fields, integer, isNumber, List, Timestamp, typeOf, type Value } from "./values.ts";
import { TooMuchWork, Undecidable, type Work } from "./work.ts";

/** Throws Undecidable if the values have no result. */
export type Operator = (left: Value, right: Value, work: Work) => Value;

export const operators: Readonly<Record<string, Operator>> = {
  "==": areEqual,
  "!=": (left, right, work) => !areEqual(left, right, work),
  "<": (left, right, work) => isOrdered(left, right, work, (order) => order < 0),
  "<=": (left, right, work) => isOrdered(left, right, work, (order) => order <= 0),
  ">": (left, right, work) => isOrdered(left, right, work, (order) => order > 0),
  ">=": (left, right, work) => isOrdered(left, right, work, (order) => order >= 0),
  in(left, right, work) {
    if (right instanceof Fields) {
      const key = asKey(left);
      return key !== undefined && right.has(key);
    }
    if (!(right instanceof List)) throw noOperator("in", left, right);
    for (let index = 0; index < right.size; index++) if (areEqual(left, right.at(index), work)) return true;
    return false;
  },
  "+"(left, right, work) {
    if (typeof left === "bigint" && typeof right === "bigint") return integer(left + right);
    if (typeof left === "number" && typeof right === "number") return left + right;
    if (typeof left === "string" && typeof right === "string") {
      work.read(left);
      work.read(right);
      return left + right;
    }
    if (left instanceof List && right instanceof List) return joined(left, right, work);
    if (left instanceof Timestamp && right instanceof Duration) return timestamp(left.nanos + right.nanos);
    if (left instanceof Duration && right instanceof Timestamp) return timestamp(left.nanos + right.nanos);
    if (left instanceof Duration && right instanceof Duration) return duration(left.nanos + right.nanos);
    throw noOperator("+", left, right);
  },
  "-"(left, right) {
    if (typeof left === "bigint" && typeof right === "bigint") return integer(left - right);
    if (typeof left === "number" && typeof right === "number") return left - right;
    if (left instanceof Timestamp && right instanceof Timestamp) return duration(left.nanos - right.nanos);
    if (left instanceof Timestamp && right instanceof Duration) return timestamp(left.nanos - right.nanos);
    if (left instanceof Duration && right instanceof Duration) return duration(left.nanos - right.nanos);
    throw noOperator("-", left, right);
  },
  "*"(left, right) {
    if (typeof left === "bigint" && typeof right === "bigint") return integer(left * right);
    if (typeof left === "number" && typeof right === "number") return left * right;
    throw noOperator("*", left, right);
  },
  "/"(left, right) {
    if (typeof left === "bigint" && typeof right === "bigint") return integer(left / nonZero(right));
    if (typeof left === "number" && typeof right === "number") return left / right;
    throw noOperator("/", left, right);
  },
  "%"(left, right) {
    if (typeof left === "bigint" && typeof right === "bigint") return left % nonZero(right);
    throw noOperator("%", left, right);
  },
};

export function negated(value: Value): Value {
  if (typeof value === "bigint") return integer(-value);
  if (typeof value === "number") return -value;
  throw new Undecidable(`a ${typeOf(value)} has no negative`);
}

/** The item of a list, or the value of a key. */
export function itemOf(value: Value, index: Value): Value {
  if (value instanceof Fields) {
    const key = asKey(index);
    const found = key === undefined ? undefined : value.get(key);
    if (found === undefined) throw new Undecidable(`there is no ${keyText(index)}`);
    return found;
  }
  if (!(value instanceof List)) throw new Undecidable(`a ${typeOf(value)} has no ${keyText(index)}`);
  const at = asKey(index);
  if (typeof at !== "bigint" || at < 0n || at >= BigInt(value.size)) {
    throw new Undecidable(`a list of ${value.size} has no ${keyText(index)}`);
  }
  return value.at(Number(at));
}

function keyText(value: Value): string {
  if (typeof value === "string") return JSON.stringify(value.length > 50 ? `${value.slice(0, 50)}…` : value);
  return typeof value === "bigint" || typeof value === "number" ? `item ${value}` : `key of the type ${typeOf(value)}`;
}

function joined(left: List, right: List, work: Work): List {
  work.take(2 * (left.size + right.size));
  const items: Value[] = [];
  for (const list of [left, right]) for (let index = 0; index < list.size; index++) items.push(list.at(index));
  return List.of(items);
}

function isOrdered(left: Value, right: Value, work: Work, isIt: (order: number) => boolean): boolean {
  // NaN has no order.
  if (isNumber(left) && isNumber(right)) {
    return left < right ? isIt(-1) : left > right ? isIt(1) : left >= right && isIt(0);
  }
  if (typeof left === "string" && typeof right === "string") return isIt(textOrder(left, right, work));
  if (typeof left === "boolean" && typeof right === "boolean") return isIt(Number(left) - Number(right));
  const isTime =
    (left instanceof Timestamp && right instanceof Timestamp) ||
    (left instanceof Duration && right instanceof Duration);
  if (!isTime) throw new Undecidable(`a ${typeOf(left)} is not compared with a ${typeOf(right)}`);
  return isIt(left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0);
}

/** Texts are ordered by code points, unlike in JavaScript. */
function textOrder(left: string, right: string, work: Work): number {
  const length = Math.min(left.length, right.length);
  work.take(length / 2);
  for (let index = 0; index < length; index++) {
    const [one, other] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (one === other) continue;
    // One half of a pair stands for a code point above all others.
    return rank(one) - rank(other);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function nonZero(value: bigint): bigint {
  if (value === 0n) throw new Undecidable("it divides by zero");
  return value;
}

function noOperator(operator: string, left: Value, right: Value): Undecidable {
  return new Undecidable(`there is no ${typeOf(left)} ${operator} ${typeOf(right)}`);
}

/** The pattern of `matches()` in a condition. */
const maxPatternChars = 1_000;

/** Instructions of its program. A character costs as much time as the program is large. */
const maxPatternSize = 1_000;

export type Pattern = (text: string, work: Work) => boolean;

/** Throws an error whose message says what is wrong with the pattern. */
export function patternOf(source: string): Pattern {
  if (source.length > maxPatternChars) throw new Error(`its pattern has more than ${maxPatternChars} characters`);
  // Only a condition with a pattern needs the library.
  const { RE2JS, RE2JSSyntaxException } = require("re2js") as typeof import("re2js");
  let compiled: InstanceType<typeof RE2JS>;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const what = error.message.replace(/^error parsing regexp: /, "");
    throw new Error(`its pattern is not one of RE2, which has no lookaround and no backreferences: ${what}`);
  }
  if (compiled.programSize() > maxPatternSize) throw new Error("its pattern is too large: it repeats too much");
  return (text, work) => {
    work.take(20);
    return compiled.test(text.length < 1_000 ? text : (new TimedText(text, work) as unknown as string));
  };
}

/** A text that ends the search in it when the time is over: the engine asks for one character after another. */
class TimedText extends String {
  readonly #text: string;
  readonly #work: Work;
  #untilCheck = 1;

  constructor(text: string, work: Work) {
    super(text);
    this.#text = text;
    this.#work = work;
  }

  override charCodeAt(index: number): number {
    this.#untilCheck -= 1;
    if (this.#untilCheck === 0) {
      if (this.#work.isLate) throw new TooMuchWork();
      this.#untilCheck = 64;
    }
    return this.#text.charCodeAt(index);
  }
}
