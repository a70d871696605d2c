/** Makes a JSDoc comment for facts that a type cannot express: description, default and bounds. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { maxDocDescriptionChars } from "../limits.ts";

/** Characters of a default, format or pattern in a comment. */
const maxDocValueChars = 60;

/** The comment with indentation and a line break; empty if there is nothing to say. */
export function docComment(schema: unknown, indent: string): string {
  return comment(documentation(schema), indent);
}

/** A text as a comment. It cannot end the comment. */
export function comment(text: string, indent: string): string {
  const lines = text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) => (character === "\n" ? "\n" : " "))
    .replaceAll("*/", "*\\/")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line, at, all) => line !== "" || (all[at - 1] ?? "") !== "");
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]!.trim()} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`).join("")}${indent} */\n`;
}

function documentation(schema: unknown): string {
  if (!isObject(schema)) return "";
  const { description, title } = schema;
  const text = [description, title].find((each) => typeof each === "string" && each.trim() !== "");
  const facts = factsOf(schema).join("; ");
  const said = typeof text === "string" ? shortened(text.trim(), maxDocDescriptionChars) : "";
  if (said === "" || facts === "") return said || facts;
  return `${said} (${facts})`;
}

/** The facts in words. Each keyword may have any value. */
function factsOf(schema: JsonObject): string[] {
  const { type, multipleOf, format, pattern, deprecated, default: usual } = schema;
  return [
    ...(usual === undefined || usual === null
      ? []
      : [`default: ${shortened(JSON.stringify(usual), maxDocValueChars)}`]),
    ...range("", schema["minimum"], schema["maximum"], schema["exclusiveMinimum"], schema["exclusiveMaximum"]),
    ...range(" characters", schema["minLength"], schema["maxLength"]),
    ...range(" items", schema["minItems"], schema["maxItems"]),
    ...(typeof multipleOf === "number" ? [`multiple of ${multipleOf}`] : []),
    ...(type === "integer" ? ["whole number"] : []),
    ...(typeof format === "string" ? [`format: ${shortened(format, maxDocValueChars)}`] : []),
    ...(typeof pattern === "string" ? [`pattern: ${shortened(pattern, maxDocValueChars)}`] : []),
    ...(deprecated === true ? ["deprecated"] : []),
  ];
}

/** `1 to 5 items`, or `at most 5, more than 0`; empty without bounds. */
function range(unit: string, least: unknown, most: unknown, above?: unknown, below?: unknown): string[] {
  if ([least, most, above, below].every((value) => value === undefined)) return [];
  const bound = (text: string, value: unknown) => (typeof value === "number" ? [`${text} ${value}`] : []);
  const isBoth = typeof least === "number" && typeof most === "number";
  const texts = [
    ...(isBoth ? [`${least} to ${most}`] : [...bound("at least", least), ...bound("at most", most)]),
    ...bound("more than", above),
    ...bound("less than", below),
  ];
  return texts.length === 0 ? [] : [`${texts.join(", ")}${unit}`];
}

/** At most `limit` characters, with "…" at the end of a longer text. Never cuts between the halves of a surrogate pair. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "");
  return `${cut.trimEnd()}…`;
}
