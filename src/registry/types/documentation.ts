/** Makes a JSDoc comment with what a type cannot express: description, default and bounds. */

import { isObject } from "../../json-object.ts";

const maxChars = 400;
const maxValueChars = 60;

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
  const said = typeof text === "string" ? shortened(text.trim(), maxChars) : "";
  if (said === "" || facts === "") return said || facts;
  return `${said} (${facts})`;
}

/** The facts in words. Each keyword may have any value. */
function factsOf(schema: Record<string, unknown>): string[] {
  const facts: string[] = [];
  const add = (text: string | undefined) => text !== undefined && facts.push(text);
  add("default" in schema && schema["default"] !== null ? `default: ${valueText(schema["default"])}` : undefined);
  add(rangeOf(schema, ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"], ""));
  add(rangeOf(schema, ["minLength", undefined, "maxLength", undefined], " characters"));
  add(rangeOf(schema, ["minItems", undefined, "maxItems", undefined], " items"));
  add(typeof schema["multipleOf"] === "number" ? `multiple of ${schema["multipleOf"]}` : undefined);
  add(schema["type"] === "integer" ? "whole number" : undefined);
  add(typeof schema["format"] === "string" ? `format: ${shortened(schema["format"], maxValueChars)}` : undefined);
  add(typeof schema["pattern"] === "string" ? `pattern: ${shortened(schema["pattern"], maxValueChars)}` : undefined);
  add(schema["deprecated"] === true ? "deprecated" : undefined);
  return facts;
}

type Bounds = [string, string | undefined, string, string | undefined];

function rangeOf(schema: Record<string, unknown>, [low, above, high, below]: Bounds, unit: string): string | undefined {
  const numberAt = (key: string | undefined) => {
    const value = key === undefined ? undefined : schema[key];
    return typeof value === "number" ? value : undefined;
  };
  const least = numberAt(low);
  const most = numberAt(high);
  const more = numberAt(above);
  const less = numberAt(below);
  const texts = [
    least !== undefined && most !== undefined ? `${least} to ${most}` : undefined,
    least !== undefined && most === undefined ? `at least ${least}` : undefined,
    least === undefined && most !== undefined ? `at most ${most}` : undefined,
    more === undefined ? undefined : `more than ${more}`,
    less === undefined ? undefined : `less than ${less}`,
  ].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : `${texts.join(", ")}${unit}`;
}

function valueText(value: unknown): string {
  return shortened(JSON.stringify(value) ?? "undefined", maxValueChars);
}

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Never cuts between the halves of a surrogate pair.
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
