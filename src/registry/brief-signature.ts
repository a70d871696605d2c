/** Makes the shortest signature from which a tool can be called, for the list that agents always have in their context. */
import { isObject } from "../json-object.ts";
import { requiredArguments } from "./json-schema.ts";
import type { RegistryTool } from "./model.ts";
import { observedType } from "./signature.ts";
import { typeText } from "./types/one-line.ts";
import { keyText } from "./types/printer.ts";

interface BriefSignature {
  /** `({ sku, warehouse? })`: an argument without a type is a string, and an optional one perhaps one of a few. */
  args: string;
  /** `{ sku, levels: { on_hand }[] }`: the names of the fields. Undefined if the result is not known. */
  result: string | undefined;
}

export function briefSignature(tool: RegistryTool): BriefSignature {
  const args = typeText(tool.inputSchema, "arguments");
  return { args: `(${args.startsWith("{ ") ? briefArguments(args) : ""})`, result: briefResult(tool) };
}

/** `({ sku, warehouse? })`: the names of the arguments alone. */
export function argumentNames({ inputSchema }: RegistryTool): string {
  const { properties } = inputSchema;
  if (!isObject(properties)) return "()";
  const required = requiredArguments(inputSchema, inputSchema);
  const names = Object.keys(properties).map((name) => `${keyText(name)}${required.has(name) ? "" : "?"}`);
  return names.length === 0 ? "()" : `({ ${names.join(", ")} })`;
}

function briefResult({ outputSchema, observed, known }: RegistryTool): string | undefined {
  const type = outputSchema ? typeText(outputSchema) : observed ? observedType(observed) : known?.type;
  if (type === undefined || type === "unknown") return undefined;
  // A sentence is written for people: programs do not read it.
  const format = known?.text && !known.text.includes("sentence") ? ` /* ${known.text} */` : "";
  return `${briefType(type)}${format}`;
}

const literal = String.raw`"(?:[^"\\]|\\.)*"`;
const literals = String.raw`${literal}(?: \| ${literal})*`;
const fieldEnd = "(?=;| })";

const comments = new RegExp(String.raw`(${literal})| ?\/\*.*?\*\/`, "g");
const withoutComments = (type: string) => type.replace(comments, (_, text?: string) => text ?? "");

/** The values of an optional argument, other values, the type of a string, and separators. */
const argumentParts = new RegExp(String.raw`\?(: ${literals})${fieldEnd}|(${literals})|(: string)${fieldEnd}|(;)`, "g");

/** More values of an argument are not shown. */
const maxValues = 6;

function briefArguments(type: string): string {
  return withoutComments(type).replace(argumentParts, (_, optional?: string, values?: string, text?: string) => {
    if (optional !== undefined) return "?";
    if (text !== undefined) return "";
    if (values === undefined) return ",";
    const all = values.split(" | ");
    return all.length <= maxValues ? values : `${all[0]} | …`;
  });
}

/** The types of plain values, values, and separators. */
const resultParts = new RegExp(`(: (?:string|number|boolean|${literals}))${fieldEnd}|(${literals})|(;)`, "g");

/** The names of the fields, without the types of plain values. */
function briefType(type: string): string {
  return withoutComments(type).replace(resultParts, (_, plain?: string, values?: string) => {
    if (plain !== undefined) return "";
    return values ?? ",";
  });
}
