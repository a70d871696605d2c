/** What a small model meant by its answer: an object or a name, out of fences, prose and thoughts. Pure. */
import { isObject, type JsonObject, parsedJson } from "../json-object.ts";
import { readValue } from "./lenient-json.ts";

/** Longer answers are none to such a question, and are not searched. */
const maxLength = 200_000;
/** Braces that may begin an object. */
const maxTries = 200;

/** The last object of the answer, which is what comes after all thinking aloud; undefined where there is none. */
export function objectIn(answer: string): JsonObject | undefined {
  const text = withoutThoughts(answer);
  const whole = parsedJson(text);
  if (isObject(whole)) return whole;
  let found: JsonObject | undefined;
  for (let at = text.indexOf("{"), tries = 0; at !== -1 && tries < maxTries; tries++) {
    const read = readValue(text, at);
    if (isObject(read?.value)) found = read.value;
    at = text.indexOf("{", read?.end ?? at + 1);
  }
  return found;
}

/**
 * Which of the names the answer means: as it says it, or as near to it as case and signs go. In prose, the only one that
 * stands there. Undefined for none of them.
 */
export function choiceIn(answer: string, names: readonly string[]): string | undefined {
  const object = objectIn(answer);
  if (object) return named(saidIn(object), names);
  const text = withoutThoughts(answer);
  const value = parsedJson(text);
  const said = typeof value === "string" ? value : text.replace(/```\w*/g, "").trim();
  return named(said, names) ?? onlyOne(said, names);
}

/** What an answer says that is none of the choices, to be told of it. */
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

/** A name within another one that stands there is not meant. */
function onlyOne(text: string, names: readonly string[]): string | undefined {
  const there = names.filter((name) => standsIn(text, name));
  const whole = there.filter((name) => !there.some((other) => other !== name && other.includes(name)));
  return whole.length === 1 ? whole[0] : undefined;
}

function standsIn(text: string, name: string): boolean {
  const isPart = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  for (let at = text.indexOf(name); at !== -1 && name !== ""; at = text.indexOf(name, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + name.length])) return true;
  }
  return false;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Of models that think aloud, what comes after it; of one that never came to an end, nothing. */
function withoutThoughts(answer: string): string {
  const text = answer.slice(0, maxLength);
  const ends = [...text.matchAll(/<\/think(?:ing)?>/gi)];
  const last = ends.at(-1);
  const rest = last ? text.slice(last.index + last[0].length).trim() : text.trim();
  return /^<think(?:ing)?>/i.test(rest) ? "" : rest;
}
