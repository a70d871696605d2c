/** Finds the object or the name in a small model's answer, past fences, prose and thoughts. */
import { isObject, type JsonObject, parsedJson } from "../base/json-object.ts";
import { readValue } from "./lenient-json.ts";

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
