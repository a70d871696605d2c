/** Recognises answers that only repeat their arguments. No data can be learned from them. */
import { isObject, parsedJson } from "../../base/json-object.ts";
import { maxEchoChars } from "../limits.ts";
import { lettersOf } from "./letters.ts";

/** Total letters of the property names that such an answer may add. They are too few for an address. */
const maxOwnNameLetters = 12;

/**
 * Whether each value of a tool's result, as JSON, is one of its arguments or its name. Names of properties could carry data too, so the
 * names that the server adds must have few letters.
 */
export function isEcho(json: string, { tool, args }: { tool: string; args: object }): boolean {
  const values = json.length > maxEchoChars ? undefined : valuesOf(parsedJson(json));
  if (!values) return false;
  const given = new Set([lettersOf(tool), ...leavesOf(args).map(lettersOf), ""]);
  if (!leavesOf(values).every((leaf) => given.has(lettersOf(leaf)))) return false;
  const known = new Set(namesIn(args));
  const own = [...new Set(namesIn(values))].filter((name) => !known.has(name)).join("");
  return own.length <= maxOwnNameLetters && /^[a-z]*$/i.test(own);
}

/** The members of a result that hold only texts and structured content. */
const plainMembers = new Set(["content", "structuredContent", "isError"]);

/** Undefined if the result has anything else, such as a picture. */
function valuesOf(result: unknown): unknown[] | undefined {
  if (!isObject(result) || !Object.keys(result).every((key) => plainMembers.has(key))) return undefined;
  const { content = [], structuredContent = [] } = result;
  if (!Array.isArray(content) || !content.every(isPlainText)) return undefined;
  return [structuredContent, ...content.map(({ text }): unknown => parsedJson(text) ?? text)];
}

function isPlainText(block: unknown): block is { text: string } {
  return (
    isObject(block) && block["type"] === "text" && typeof block["text"] === "string" && Object.keys(block).length === 2
  );
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Texts, numbers and other plain values, as texts. */
function leavesOf(value: unknown): string[] {
  return isContainer(value) ? Object.values(value).flatMap(leavesOf) : [String(value)];
}

function namesIn(value: unknown): string[] {
  if (!isContainer(value)) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(namesIn)];
}
