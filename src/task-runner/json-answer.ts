/** Finds the object or the name in a small model's answer, and skips fences, prose and thoughts. */
import { isObject, type JsonObject, parsedJson } from "../base/json-object.ts";

/** Only this much of an answer is searched. */
const maxAnswerChars = 200_000;

/** Braces that are tried as the start of an object. */
const maxObjectStarts = 200;

/** The last object of the answer, because models think before they answer; undefined if there is none. */
export function objectIn(answer: string): JsonObject | undefined {
  const text = withoutThoughts(answer);
  const whole = parsedJson(text);
  if (isObject(whole)) return whole;
  let found: JsonObject | undefined;
  for (let at = text.indexOf("{"), tries = 0; at !== -1 && tries < maxObjectStarts; tries++) {
    const read = readValue(text, at);
    if (isObject(read?.value)) found = read.value;
    at = text.indexOf("{", read?.end ?? at + 1);
  }
  return found;
}

/**
 * The name that the answer chooses, ignoring case and punctuation if needed; in prose, the only name in the text. Undefined
 * if there is none.
 */
export function choiceIn(answer: string, names: readonly string[]): string | undefined {
  const object = objectIn(answer);
  if (object) return named(saidIn(object), names);
  const text = withoutThoughts(answer);
  const value = parsedJson(text);
  const said = typeof value === "string" ? value : text.replace(/```\w*/g, "").trim();
  return named(said, names) ?? onlyNameIn(said, names);
}

/** The value of `choice`, else the first text in the object. It is quoted in the correction. */
export function saidIn(answer: JsonObject): string {
  const texts = Object.values(answer).filter((value) => typeof value === "string");
  const { choice } = answer;
  return typeof choice === "string" ? choice : (texts[0] ?? "");
}

function named(said: string, names: readonly string[]): string | undefined {
  const exact = names.find((name) => name === said.trim());
  if (exact !== undefined) return exact;
  const wanted = plain(said);
  const alike = names.filter((name) => plain(name) === wanted);
  return wanted !== "" && alike.length === 1 ? alike[0] : undefined;
}

/** The only name in the text. A name inside a longer one does not count. */
function onlyNameIn(text: string, names: readonly string[]): string | undefined {
  const there = names.filter((name) => containsWord(text, name));
  const whole = there.filter((name) => !there.some((other) => other !== name && other.includes(name)));
  return whole.length === 1 ? whole[0] : undefined;
}

function containsWord(text: string, name: string): boolean {
  const wordCharacter = "[\\p{L}\\p{N}_]";
  return name !== "" && new RegExp(`(?<!${wordCharacter})${RegExp.escape(name)}(?!${wordCharacter})`, "u").test(text);
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The answer after `<think>…</think>`; empty if the thoughts do not end. */
function withoutThoughts(answer: string): string {
  const text = answer.slice(0, maxAnswerChars);
  const ends = [...text.matchAll(/<\/think(?:ing)?>/gi)];
  const last = ends.at(-1);
  const rest = last ? text.slice(last.index + last[0].length).trim() : text.trim();
  return /^<think(?:ing)?>/i.test(rest) ? "" : rest;
}

/** Levels of the JSON of an answer. */
const maxAnswerDepth = 64;

const words: Record<string, unknown> = { true: true, false: false, null: null, True: true, False: false, None: null };

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

class NotJson extends Error {}

/** The value that begins at `from`, and the offset after it; undefined if there is none or it is cut off. */
export function readValue(text: string, from = 0): { value: unknown; end: number } | undefined {
  let at = from;
  try {
    return { value: value(0), end: at };
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }

  function value(depth: number): unknown {
    space();
    if (depth > maxAnswerDepth) throw new NotJson();
    const first = text[at];
    if (first === "{") return object(depth);
    if (first === "[") return list(depth);
    if (first === '"' || first === "'") return string(first);
    return bareWord();
  }

  function object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    at += 1;
    while (!ends("}")) {
      const quote = text[at];
      const key = quote === '"' || quote === "'" ? string(quote) : match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy);
      space();
      if (text[at] !== ":") throw new NotJson();
      at += 1;
      entries.push([key, value(depth + 1)]);
      separator("}");
    }
    return Object.fromEntries(entries);
  }

  function list(depth: number): unknown[] {
    const items: unknown[] = [];
    at += 1;
    while (!ends("]")) {
      items.push(value(depth + 1));
      separator("]");
    }
    return items;
  }

  /** Whether the object or list ends here. Skips the end if so. */
  function ends(end: string): boolean {
    space();
    if (text[at] !== end) return false;
    at += 1;
    return true;
  }

  function separator(end: string): void {
    space();
    if (text[at] === ",") at += 1;
    else if (text[at] !== end) throw new NotJson();
  }

  /** Unescaped line breaks are allowed. */
  function string(quote: string): string {
    let read = "";
    for (at += 1; at < text.length; at++) {
      const char = text[at]!;
      if (char === quote) {
        at += 1;
        return read;
      }
      read += char === "\\" ? escaped() : char;
    }
    throw new NotJson();
  }

  function escaped(): string {
    at += 1;
    const char = text[at] ?? "";
    if (char !== "u") return escapes[char] ?? char;
    at += 1;
    const code = Number.parseInt(match(/[\da-fA-F]{4}/y), 16);
    at -= 1;
    return String.fromCharCode(code);
  }

  function bareWord(): unknown {
    const word = match(/[\w.+-]+/y);
    if (Object.hasOwn(words, word)) return words[word];
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(word)) return Number(word);
    throw new NotJson();
  }

  function match(pattern: RegExp): string {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) throw new NotJson();
    at += found.length;
    return found;
  }

  function space(): void {
    const space = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
  }
}
