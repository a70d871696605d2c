/** Makes the shortest signature from which a tool can be called, for the list that agents always have in their context. */

import { firstBriefFields, maxBriefFields, maxBriefValues, maxOutlineChars } from "./limits.ts";
import type { RegistryTool } from "./model.ts";
import { formatOf, resultType } from "./signature.ts";
import { typeText } from "./types/one-line.ts";

interface BriefSignature {
  /** `({ sku, warehouse? })`: an argument without a type is a string, and an optional one perhaps one of a few. */
  args: string;
  /** `{ sku, levels: { on_hand }[] }`: the names of the fields. Undefined if the result is not known. */
  result: string | undefined;
  /** `{ sku, levels }`: the fields that a program destructures, or one of the rows that it iterates over. */
  outline: string | undefined;
}

export function briefSignature(tool: RegistryTool): BriefSignature {
  const args = typeText(tool.inputSchema, "arguments");
  const known = resultType(tool);
  const type = known === "unknown" ? undefined : known;
  return {
    args: `(${args.startsWith("{ ") ? briefArguments(args) : ""})`,
    result: type && `${briefType(type)}${formatText(tool)}`,
    outline: type && outlineOf(type),
  };
}

/** A sentence is written for people: programs do not read it. What a call needs or changes stands in front of it. */
function formatText(tool: RegistryTool): string {
  const format = formatOf(tool) ?? "";
  const [effect] = /^[^:;]+(?=; (?:content: )?a sentence\b)/.exec(format) ?? [];
  const told = format.includes("sentence") ? effect : format;
  return told ? ` /* ${told} */` : "";
}

const literal = String.raw`"(?:[^"\\]|\\.)*"`;
const literals = String.raw`${literal}(?: \| ${literal})*`;
const fieldEnd = "(?=;| })";

const comments = new RegExp(String.raw`(${literal})| ?\/\*.*?\*\/`, "g");
const withoutComments = (type: string) => type.replace(comments, (_, text?: string) => text ?? "");

/** The values of an optional argument, other values, the type of a string, and separators. */
const argumentParts = new RegExp(String.raw`\?(: ${literals})${fieldEnd}|(${literals})|(: string)${fieldEnd}|(;)`, "g");

function briefArguments(type: string): string {
  return withoutComments(type).replace(argumentParts, (_, optional?: string, values?: string, text?: string) => {
    if (optional !== undefined) return "?";
    if (text !== undefined) return "";
    if (values === undefined) return ",";
    const all = values.split(" | ");
    return all.length <= maxBriefValues ? values : `${all[0]} | …`;
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

/** The type with the names of the outer fields alone: `{ entities }` for `{ entities: { name: string }[] }`. */
export function outlineOf(type: string): string {
  const plain = withoutComments(type);
  let [text, at] = ["", 0];
  while (at < plain.length) {
    if (plain[at] !== "{") text += plain[at++];
    else {
      const end = endOf(plain, at);
      text += fieldNames(plain.slice(at + 1, end - 1));
      at = end;
    }
  }
  // A union of many objects says no more than this to a program.
  return text.length > maxOutlineChars ? "object" : text;
}

/** `{ id, status }` for `id: string; status?: string`. */
function fieldNames(members: string): string {
  const names: string[] = [];
  for (let from = 0; from < members.length; ) {
    const end = endOf(members, from, ";");
    const member = members.slice(from, end).trim();
    const [name] = new RegExp(String.raw`^(?:${literal}|\[[^\]]*\]|[^:]+?)(?=\??:)`).exec(member) ?? [];
    if (name !== undefined) names.push(name);
    from = end + 1;
  }
  if (names.length === 0) return "{}";
  const shown = names.length > maxBriefFields ? [...names.slice(0, firstBriefFields), "…"] : names;
  return `{ ${shown.join(", ")} }`;
}

/** Behind the bracket that closes the one at `from`; with `mark`, at the next mark outside of brackets and texts, or the end. */
function endOf(type: string, from: number, mark?: string): number {
  let depth = 0;
  for (let at = from; at < type.length; at++) {
    const char = type[at]!;
    if (char === '"') {
      while (++at < type.length && type[at] !== '"') if (type[at] === "\\") at++;
    } else if (char === mark && depth === 0) return at;
    else if ("{[(<".includes(char)) depth++;
    else if ("}])>".includes(char)) {
      depth--;
      if (depth === 0 && mark === undefined) return at + 1;
    }
  }
  return type.length;
}
