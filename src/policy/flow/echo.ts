/** Answers that only repeat what they were given. Nobody learns data from them. */
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { lettersOf } from "./letters.ts";

/** Whether each value of a tool's result is in its arguments, or is the tool's name. Names of properties count as words of the server. */
export function isEcho(result: JsonObject, { tool, args }: { tool: string; args: object }): boolean {
  const { content = [], structuredContent } = result;
  if (!Array.isArray(content) || !content.every(isText)) return false;
  const values = [...content.map(({ text }): unknown => parsedJson(text) ?? text), structuredContent ?? []];
  const given = [lettersOf(tool), ...leavesOf(args).map(lettersOf)];
  return leavesOf(values).every((leaf) => {
    const letters = lettersOf(leaf);
    return letters === "" || given.includes(letters);
  });
}

function isText(block: unknown): block is { text: string } {
  return isObject(block) && block["type"] === "text" && typeof block["text"] === "string";
}

/** Texts, numbers and other plain values, as texts. */
function leavesOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [String(value)];
}
