/**
 * JSON with numbers that JavaScript cannot hold: integers beyond 2^53, and decimals with more digits than a number keeps. Claudikins
 * holds such a number as raw JSON, so that it is passed on unchanged, and gives it to programs as a text with its digits.
 */
import { minLostDigits } from "./limits.ts";

interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
}

const { rawJSON, isRawJSON } = JSON as unknown as RawJson;

/** A number that may lose digits, alone or in a text of JSON. Shorter numbers with a short exponent never lose any. */
const longNumber = /(?:^|[\s:,[])(-?(?:\d[\d.]{15}[\d.eE+-]*|\d+(?:\.\d+)?[eE][+-]?\d{3}\d*))/g;

/** Found in each text with a number, or the text of one, that JavaScript cannot hold. Much faster than looking for numbers. */
export const manyDigits: RegExp = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Whether a JSON text may have a number that JavaScript cannot hold. */
export function mayHaveExact(json: string): boolean {
  if (!manyDigits.test(json)) return false;
  longNumber.lastIndex = 0;
  for (let found = longNumber.exec(json); found; found = longNumber.exec(json))
    if (losesDigits(found[1] ?? "")) return true;
  return false;
}

/** Whether JavaScript changes the value of a number of JSON. Integers beyond 2^53 always count, so that all ids of one kind have one type. */
function losesDigits(written: string): boolean {
  const number = Number(written);
  if (/^-?\d+$/.test(written)) return !Number.isSafeInteger(number);
  const kept = String(number);
  return kept !== written && (!Number.isFinite(number) || plain(written) !== plain(kept));
}

/** The one form that equal numbers share. */
function plain(written: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(written) ?? [];
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  while (digits[from] === "0") from++;
  while (to > from && digits[to - 1] === "0") to--;
  const power = Number(exponent) - fraction.length + digits.length - to;
  return from === to ? "0" : `${sign}${digits.slice(from, to)}e${power}`;
}

const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether a value is the text of a number that JavaScript cannot hold. */
export function isExactText(value: unknown): value is string {
  return typeof value === "string" && value.length > 2 && isNumber.test(value) && losesDigits(value);
}

/** The value of the text of a number: a number if it prints back as the same text; undefined for other texts. */
export function numberInText(text: string): number | undefined {
  return isNumber.test(text) && String(Number(text)) === text && !losesDigits(text) ? Number(text) : undefined;
}

/** The number that a text says. `JSON.stringify` writes its digits. */
export function exactNumber(text: string): object {
  return rawJSON(text);
}

/** The digits of a number that JavaScript cannot hold; undefined for any other value. */
export function exactDigits(value: unknown): string | undefined {
  return isRawJSON(value) ? value.rawJSON : undefined;
}

/** The value of a JSON text. Numbers that JavaScript cannot hold are raw JSON. Throws SyntaxError. */
export function parseExact(json: string): unknown {
  return mayHaveExact(json) ? restored(JSON.parse(rewritten(json, mark))) : JSON.parse(json);
}

/** A JSON text for a parser that would round: numbers that JavaScript cannot hold are texts that `restoreExact` recognises. */
export function markExact(json: string): string {
  if (!mayHaveExact(json)) return json;
  hasMarked = true;
  return rewritten(json, mark);
}

/** Puts the numbers of a text of `markExact` back into its value. */
export function restoreExact(value: unknown): void {
  if (hasMarked) restored(value);
}

/** Whether values may have marks. Nearly no host ever sends such a number. */
let hasMarked = false;

/** The value of a JSON text as `parseExact` gives it, or undefined if it is not JSON. */
export function parsedExact(json: string): unknown {
  try {
    return parseExact(json);
  } catch {
    return undefined;
  }
}

/** Whether a value, which may be nested too deeply for recursion, has a number that JavaScript cannot hold. */
export function hasExact(value: unknown): boolean {
  const waiting = [value];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    if (isRawJSON(node)) return true;
    for (const each of Object.values(node)) if (typeof each === "object") waiting.push(each);
  }
  return false;
}

/** A copy of a value of JSON. */
export function copyExact<T>(value: T): T {
  return parseExact(JSON.stringify(value)) as T;
}

/** A copy of a value of JSON in which JavaScript has rounded the numbers, for checks and comparisons. */
export function rounded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** A JSON text for programs: numbers that JavaScript cannot hold are texts with the same digits. */
export function withExactTexts(json: string): string {
  return mayHaveExact(json) ? rewritten(json, "") : json;
}

/** Begins texts that stand for numbers while a text is parsed. It is random, so that no server can write it. */
const mark = `${crypto.randomUUID()} `;

/** Changes the value, which may be nested too deeply for recursion. A reviver of `JSON.parse` would take ten times as long. */
function restored(value: unknown): unknown {
  const top = [value];
  const waiting: object[] = [top];
  const visit = (each: unknown, put: (number: object) => void) => {
    if (typeof each === "string") {
      if (each.startsWith(mark)) put(rawJSON(each.slice(mark.length)));
    } else if (typeof each === "object" && each !== null) waiting.push(each);
  };
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const fields = node as Record<string | number, unknown>;
    if (Array.isArray(node)) for (const [at, item] of node.entries()) visit(item, (number) => (fields[at] = number));
    else for (const key in node) visit(fields[key], (number) => (fields[key] = number));
  }
  return top[0];
}

const quote = 34;
const minus = 45;

/** The JSON text with numbers that JavaScript cannot hold as texts that begin with `before`. */
function rewritten(json: string, before: string): string {
  let written = "";
  let copied = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) at = endOfText(json, at);
    else if (code === minus || isDigit(code)) {
      const start = at;
      while (at + 1 < json.length && isOfNumber(json.charCodeAt(at + 1))) at++;
      const number = json.slice(start, at + 1);
      const isShort = number.length < minLostDigits && !/e/i.test(number);
      if (isShort || !isNumber.test(number) || !losesDigits(number)) continue;
      written += `${json.slice(copied, start)}"${before}${number}"`;
      copied = at + 1;
    }
  }
  return copied === 0 ? json : written + json.slice(copied);
}

const isDigit = (code: number) => code >= 48 && code <= 57;
/** Digits, and the characters of signs, fractions and exponents. */
const isOfNumber = (code: number) =>
  isDigit(code) || code === 43 || code === minus || code === 46 || (code | 32) === 101;

/** The place of the quote that ends a text. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - escapes - 1] === "\\") escapes++;
    if (escapes % 2 === 0) return at;
  }
  return json.length;
}
