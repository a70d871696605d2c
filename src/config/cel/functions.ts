/** The functions of CEL that conditions may call, besides its macros and `matches`. */
import {
  durationText,
  partOf,
  readDuration,
  readTimestamp,
  secondsOf,
  timeParts,
  timestampAt,
  timestampText,
} from "./time.ts";
import { Duration, Fields, integer, List, Timestamp, TypeName, typeOf, type Value } from "./values.ts";
import { Undecidable, type Work } from "./work.ts";

/** Characters of a text that a condition may convert into a number. */
const maxConvertedChars = 400;

/** A method gets its receiver as the first value. Throws Undecidable if there is no result. */
export type CelFunction = (values: readonly Value[], work: Work) => Value;

export const functions: Readonly<Record<string, CelFunction>> = {
  dyn: ([value]) => value!,
  type: ([value]) => new TypeName(typeOf(value!)),
  size: sizeOf,
  bool: conversion(([value]) => {
    if (typeof value === "boolean") return value;
    if (["1", "t", "T", "true", "TRUE", "True"].includes(value as string)) return true;
    if (["0", "f", "F", "false", "FALSE", "False"].includes(value as string)) return false;
    throw noFunction("bool", [value!]);
  }),
  int: conversion(([value]) => {
    if (typeof value === "bigint") return value;
    if (typeof value === "number" && Math.abs(value) < 2 ** 63) return BigInt(Math.trunc(value));
    if (value instanceof Timestamp) return secondsOf(value);
    if (typeof value === "string" && value.length <= maxConvertedChars && /^[+-]?\d+$/.test(value)) {
      return integer(BigInt(value.replace("+", "")));
    }
    throw noFunction("int", [value!]);
  }),
  double: conversion(([value]) => {
    if (typeof value === "number") return value;
    if (typeof value === "bigint") return Number(value);
    const text = typeof value === "string" && value.length <= maxConvertedChars ? value : "";
    if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
    if (/^nan$/i.test(text)) return Number.NaN;
    const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    if (Number.isFinite(number)) return number;
    throw noFunction("double", [value!]);
  }),
  string: conversion(([value]) => {
    if (typeof value === "string") return value;
    if (typeof value === "bigint" || typeof value === "boolean") return String(value);
    if (typeof value === "number") return Math.abs(value) === Infinity ? (value > 0 ? "+Inf" : "-Inf") : String(value);
    if (value instanceof Timestamp) return timestampText(value);
    if (value instanceof Duration) return durationText(value);
    throw noFunction("string", [value!]);
  }),
  timestamp: conversion(([value]) => {
    if (value instanceof Timestamp) return value;
    if (typeof value === "bigint") return timestampAt(value);
    if (typeof value === "string") return readTimestamp(value);
    throw noFunction("timestamp", [value!]);
  }),
  duration: conversion(([value]) => {
    if (value instanceof Duration) return value;
    if (typeof value === "string") return readDuration(value);
    throw noFunction("duration", [value!]);
  }),
};

export const methods: Readonly<Record<string, CelFunction>> = {
  size: sizeOf,
  startsWith: ofTexts("startsWith", (text, [other = ""]) => text.startsWith(other)),
  endsWith: ofTexts("endsWith", (text, [other = ""]) => text.endsWith(other)),
  contains: ofTexts("contains", (text, [other = ""], work) => {
    search(text, other, work);
    return text.includes(other);
  }),
  lowerAscii: ofTexts("lowerAscii", (text, _, work) => mapped(text, /[A-Z]+/g, (part) => part.toLowerCase(), work)),
  upperAscii: ofTexts("upperAscii", (text, _, work) => mapped(text, /[a-z]+/g, (part) => part.toUpperCase(), work)),
  trim: ofTexts("trim", trimmed),
  indexOf: (values, work) => indexOf("indexOf", values, work),
  lastIndexOf: (values, work) => indexOf("lastIndexOf", values, work),
  substring(values, work) {
    const [text, from, to] = values;
    if (typeof text !== "string") throw noFunction("substring", values);
    const size = sizeOfText(text, work);
    const start = position("substring", from!, size);
    const end = to === undefined ? size : position("substring", to, size);
    if (end < start) throw noFunction("substring", values);
    return text.slice(unitsBefore(text, start, work), unitsBefore(text, end, work));
  },
  split(values, work) {
    const [text, separator, limit = -1n] = values;
    if (typeof text !== "string" || typeof separator !== "string" || typeof limit !== "bigint") {
      throw noFunction("split", values);
    }
    search(text, separator, work);
    work.take(text.length);
    if (limit === 0n) return List.of([]);
    const parts = separator === "" ? Array.from(text) : text.split(separator);
    if (limit < 0n || BigInt(parts.length) <= limit) return List.of(parts);
    const most = Number(limit);
    return List.of([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]);
  },
  join(values, work) {
    const [list, separator = ""] = values;
    if (!(list instanceof List) || typeof separator !== "string") throw noFunction("join", values);
    const parts: string[] = [];
    for (let index = 0; index < list.size; index++) {
      const part = list.at(index);
      if (typeof part !== "string") throw noFunction("join", values);
      work.take(2 + (part.length + separator.length) / 10);
      parts.push(part);
    }
    return parts.join(separator);
  },
  ...Object.fromEntries(timeParts.map((part) => [part, timePart(part)])),
};

/** The conversion reads the text with regular expressions, so it must be short. */
function conversion(convert: CelFunction): CelFunction {
  return (values, work) => {
    const [value] = values;
    work.take(50 + (typeof value === "string" ? 20 * Math.min(value.length, maxConvertedChars) : 0));
    return convert(values, work);
  };
}

function timePart(name: string): CelFunction {
  return (values, work) => {
    const [time, zone] = values;
    if (!(time instanceof Timestamp || time instanceof Duration)) throw noFunction(name, values);
    if (zone !== undefined && typeof zone !== "string") throw noFunction(name, values);
    // The calendar of a time zone is looked up.
    work.take(zone === undefined ? 50 : 20_000);
    const part = partOf(time, name, zone);
    if (part === undefined) throw noFunction(name, values);
    return part;
  };
}

function ofTexts(name: string, of: (text: string, others: readonly string[], work: Work) => Value): CelFunction {
  return (values, work) => {
    const texts = values.filter((each) => typeof each === "string");
    const [text] = texts;
    if (text === undefined || texts.length !== values.length) throw noFunction(name, values);
    for (const each of texts) work.read(each);
    return of(text, texts.slice(1), work);
  };
}

function sizeOf([value]: readonly Value[], work: Work): Value {
  if (typeof value === "string") return BigInt(sizeOfText(value, work));
  if (value instanceof List) return BigInt(value.size);
  if (value instanceof Fields) return BigInt(value.keys(work).length);
  throw noFunction("size", [value!]);
}

/** Counts the comparisons of a search, which may compare the whole part at each place. */
function search(text: string, part: string, work: Work): void {
  work.take(((Math.max(text.length - part.length, 0) + 1) * (1 + part.length / 50)) / 20);
}

function mapped(text: string, parts: RegExp, change: (part: string) => string, work: Work): string {
  work.take(text.length * 5);
  return text.replace(parts, change);
}

function trimmed(text: string, _: readonly string[], work: Work): string {
  work.take(text.length / 5);
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start]!)) start += 1;
  while (end > start && isSpace(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

function isSpace(char: string): boolean {
  return /^\p{White_Space}$/u.test(char);
}

/** Characters are code points, which JavaScript stores as one or two units. */
function sizeOfText(text: string, work: Work): number {
  work.take(text.length / 5);
  let size = text.length;
  for (let index = 0; index + 1 < text.length; index++) if (isPair(text, index)) size -= 1;
  return size;
}

function unitsBefore(text: string, characters: number, work: Work): number {
  work.take(characters / 5);
  let index = 0;
  for (let left = characters; left > 0; left--) index += isPair(text, index) ? 2 : 1;
  return index;
}

function isPair(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

function position(name: string, value: Value, size: number): number {
  if (typeof value !== "bigint" || value < 0n || value > BigInt(size)) throw noFunction(name, [value]);
  return Number(value);
}

function indexOf(name: "indexOf" | "lastIndexOf", values: readonly Value[], work: Work): Value {
  const [text, part, from] = values;
  if (typeof text !== "string" || typeof part !== "string") throw noFunction(name, values);
  search(text, part, work);
  const start = from === undefined ? undefined : unitsBefore(text, position(name, from, sizeOfText(text, work)), work);
  const found = text[name](part, start);
  return BigInt(found < 0 ? -1 : sizeOfText(text.slice(0, found), work));
}

function noFunction(name: string, values: readonly Value[]): Undecidable {
  return new Undecidable(`${name}() has no result for ${values.map(typeOf).join(", ")}`);
}
