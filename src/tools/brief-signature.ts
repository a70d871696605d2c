/** Makes the shortest signature from which a tool can be called, for the list that agents always have in their context. */

import type { RegistryTool } from "./model.ts";
import { formatOf, resultType } from "./signature.ts";
import { typeText } from "./types/one-line.ts";

/** Values of an argument in a brief signature. With more, only the first one is shown. */
const maxBriefValues = 6;

/** Fields of a result in a brief signature. An object with more is rarely a wrapper, so its first few are enough to tell what it is. */
const maxBriefFields = 4;

/** Number of fields that are then shown. */
const firstBriefFields = 2;

/** Optional arguments in a brief signature, if there are at least two more. */
const maxBriefOptional = 4;

/** Fields of an object in the longer form of a brief signature. */
const maxFields = 8;

/** A longer outline belongs to a union with many variants. */
const maxOutlineChars = 120;

interface BriefSignature {
  /** `({ sku, warehouse? })`: an argument without a type is a string, and an optional one perhaps one of a few. */
  args: string;
  /** `{ sku, levels: { on_hand }[] }`: the names of the fields. Undefined if the result is not known. */
  result: string | undefined;
  /** `{ sku, levels }`: the fields that a program destructures, or one of the rows that it iterates over. */
  outline: string | undefined;
  /** `{ sku, levels: { on_hand }[] }`: more fields, and the fields of the rows in a wrapper. */
  fields: string | undefined;
}

export function briefSignature(tool: RegistryTool): BriefSignature {
  const args = typeText(tool.inputSchema, "arguments");
  const known = resultType(tool);
  const type = known === "unknown" ? undefined : known;
  return {
    args: `(${args.startsWith("{ ") ? briefArguments(args) : ""})`,
    result: type && `${briefType(type)}${formatText(tool)}`,
    outline: type && outlineOf(type),
    fields: type && fieldsOf(type),
  };
}

/** A sentence is text for people that programs do not read. The requirements and effects of a call come before it. */
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
  return withFirstOptional(withoutComments(type)).replace(
    argumentParts,
    (_, optional?: string, values?: string, text?: string) => {
      if (optional !== undefined) return "?";
      if (text !== undefined) return "";
      if (values === undefined) return ",";
      const all = values.split(" | ");
      return all.length <= maxBriefValues ? values : `${all[0]} | …`;
    },
  );
}

/** All required arguments, and the first optional ones. */
function withFirstOptional(type: string): string {
  const members = partsOf(type.slice(2, -2));
  const optional = members.filter((member) => optionalName.test(member));
  if (optional.length <= maxBriefOptional + 1) return type;
  const left = new Set(optional.slice(maxBriefOptional));
  return `{ ${members.filter((member) => !left.has(member)).join("; ")}; … }`;
}

const optionalName = new RegExp(String.raw`^(?:${literal}|[^:"]+)\?:`);

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
  const text = withObjects(type, (members) => {
    const names = members.map(({ name }) => name);
    return names.length > maxBriefFields ? [...names.slice(0, firstBriefFields), "…"] : names;
  });
  // For a union of many objects, this is all that a program can use.
  return text.length > maxOutlineChars ? "object" : text;
}

/**
 * The same with more fields, and with the fields of the rows if one field is a list: `{ entities: { name }[] }`. Undefined if the text is
 * long.
 */
export function fieldsOf(type: string): string | undefined {
  const text = withObjects(type, (members) => {
    const lists = members.filter(isList);
    return cut(members).map((member) => {
      if (typeof member === "string") return member;
      return lists.length === 1 && isList(member)
        ? `${member.name}: ${withObjects(member.type, namesOf)}`
        : member.name;
    });
  });
  return text.length > maxOutlineChars ? undefined : text;
}

interface Member {
  name: string;
  type: string;
}

const isList = ({ type }: Member) => type.startsWith("{") && type.endsWith("}[]");
const cut = (members: Member[]) => (members.length > maxFields ? [...members.slice(0, maxFields), "…"] : members);
const namesOf = (members: Member[]) =>
  cut(members).map((member) => (typeof member === "string" ? member : member.name));

/** The type without comments, with the shown members of each of its outer objects. */
function withObjects(type: string, shown: (members: Member[]) => string[]): string {
  const plain = withoutComments(type);
  let [text, at] = ["", 0];
  while (at < plain.length) {
    if (plain[at] !== "{") text += plain[at++];
    else {
      const end = endOf(plain, at);
      const members = shown(membersOf(plain.slice(at + 1, end - 1)));
      text += members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
      at = end;
    }
  }
  return text;
}

/** The members of `id: string; status?: string`. */
function membersOf(text: string): Member[] {
  return partsOf(text).flatMap((part) => {
    const [, name, type = ""] = memberParts.exec(part) ?? [];
    return name === undefined ? [] : [{ name, type }];
  });
}

/** `id: string` and `status?: string` for both. */
function partsOf(members: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < members.length; ) {
    const end = endOf(members, from, ";");
    parts.push(members.slice(from, end).trim());
    from = end + 1;
  }
  return parts;
}

const memberParts = new RegExp(String.raw`^(${literal}|\[[^\]]*\]|[^:]+?)\??: ?(.*)$`, "s");

/**
 * The index after the bracket that closes the one at `from`. With `mark`, the index of the next mark outside of brackets and strings, or
 * the end.
 */
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
