/** Turns JSON Schemas into TypeScript types on one line, for signatures. An invalid schema is `unknown`. */
import { isObject } from "../../base/json-object.ts";
import { maxDocDescriptionChars } from "../limits.ts";
import { mergeObjects, type ObjectNode, type ReferenceNode, type TypeNode } from "./node.ts";
import { joinedByAnd, joinedByOr, keyText, Printer, recordText, type TextOf } from "./printer.ts";
import type { Role } from "./read-schema.ts";

/** Depths of nested objects and lists to try, until the text is short enough. */
const depths = [6, 4, 3, 2, 1];

/** Characters of a type in a signature. A longer type is written with less depth. */
const maxOneLineTypeChars = 3_000;

/** Values of an enumeration in a signature. */
const maxEnumValues = 24;

/** Levels of references. */
const maxReferenceDepth = 64;

/** Characters of a format or default in the comment of a field in a signature. */
const maxTypeNoteChars = 60;

/**
 * The type of the schema's values. References are followed; recursion and too deep parts become `unknown`. A required
 * argument with a default is optional and shows it. Further keys of any type are not shown.
 */
export function typeText(schema: unknown, role: Role = "results"): string {
  const line = new OneLine(schema, role);
  for (const depth of depths) {
    const text = line.write(schema, depth, depth === 1 ? Number.POSITIVE_INFINITY : maxOneLineTypeChars);
    if (text !== undefined) return text;
  }
  return "unknown";
}

interface LineState {
  left: number;
  /** The schemas around it. */
  within: readonly object[];
}

class OneLine extends Printer<LineState> {
  readonly #role: Role;

  constructor(schema: unknown, role: Role) {
    super(schema, role);
    this.#role = role;
  }

  /** Undefined if the text would be too long. */
  write(schema: unknown, depth: number, maxLength: number): string | undefined {
    const within = typeof schema === "object" && schema !== null ? [schema] : [];
    return this.attempt(maxLength, () => this.text(this.reader.typeOf(schema), { left: depth, within }));
  }

  protected objectText(node: ObjectNode, _: LineState, textOf: TextOf): string {
    const record = recordText(node, textOf);
    if (record !== undefined) return record;
    const named = node.members.map(({ name, isOptional, type, schema, usual }) => {
      const key = this.counted(`${keyText(name)}${isOptional ? "?" : ""}: `);
      const facts = this.#role === "arguments" ? factsText(schema, isOptional ? usual : undefined) : seenText(schema);
      return key + this.#withListed(textOf(type), schema) + this.counted(facts);
    });
    const further = node.others
      .map(({ key, type }) => ({ key, text: textOf(type) }))
      .filter(({ text }) => text !== "unknown");
    return `{ ${[...named, ...further.map(({ key, text }) => `[key: ${key}]: ${text}`)].join("; ")} }`;
  }

  /** The values of a text argument that only its description lists. */
  #withListed(text: string, schema: unknown): string {
    const isText = this.#role === "arguments" && /^string(?: \| null)?$/.test(text);
    const values = isText ? listedValues(schema) : [];
    if (values.length === 0) return text;
    const union = values.map((each) => JSON.stringify(each)).join(" | ");
    return this.counted(text.replace("string", () => union));
  }

  /** Shows some of many values, with a mark for the others. */
  protected unionText(options: TypeNode[], place: LineState): string {
    const literals = options.filter(({ kind }) => kind === "literal");
    const hidden = new Set(literals.slice(maxEnumValues));
    const kinds = [...hidden].map((node) => typeof (node as { value: unknown }).value);
    const shown = options.filter((option) => !hidden.has(option)).map((option) => this.text(option, place));
    return joinedByOr([...shown, ...kinds]);
  }

  protected intersectionText(parts: TypeNode[], place: LineState): string {
    return joinedByAnd(this.#resolved(parts, place).map(([part, where]) => this.text(part, where)));
  }

  protected referenceText(node: ReferenceNode, place: LineState): string {
    const [[target, where] = []] = this.#resolved([node], place);
    return target && where ? this.text(target, where) : "unknown";
  }

  /** Follows references, except the ones that are being written already, and merges objects. */
  #resolved(nodes: TypeNode[], place: LineState): [TypeNode, LineState][] {
    const found = nodes.flatMap((node): [TypeNode, LineState][] => {
      if (node.kind !== "reference") return [[node, place]];
      this.step();
      if (place.within.length > maxReferenceDepth || place.within.includes(node.schema)) return [];
      const where = { ...place, within: [...place.within, node.schema] };
      const target = this.reader.typeOf(node.schema);
      return target.kind === "intersection" ? this.#resolved(target.of, where) : [[target, where]];
    });
    const places = new Map(found);
    const all = found.flatMap(([, { within }]) => within);
    return mergeObjects(found.map(([node]) => node)).map((node) => {
      const own = places.get(node);
      // A merged object is inside all schemas of its parts.
      return [node, own ?? { ...place, within: [...new Set(all)] }];
    });
  }
}

/** Describes an observed field that never had another value. Its type is unknown. */
export const nullSoFar = "null so far";

function seenText(schema: unknown): string {
  return isObject(schema) && schema["description"] === nullSoFar ? ` /* ${nullSoFar} */` : "";
}

/** Defaults that a reader expects. */
const usualDefaults = new Set(["null", "false", '""', "[]", "{}"]);

/** ` /* 1-1000, default 100 *\/`: facts about an argument that a caller needs beside its type. Empty if there is nothing. */
function factsText(schema: unknown, usual: unknown): string {
  if (!isObject(schema)) return "";
  const { minimum, maximum, format, default: own } = schema;
  const written = JSON.stringify(usual ?? own) ?? "";
  const isTold = usual !== undefined || !usualDefaults.has(written);
  const facts = [
    ...(typeof format === "string" && format.length < maxTypeNoteChars ? [format] : []),
    ...(isBound(maximum) ? [isBound(minimum) ? `${minimum}-${maximum}` : `at most ${maximum}`] : []),
    ...(written !== "" && written.length <= maxTypeNoteChars && isTold ? [`default ${written}`] : []),
  ];
  return facts.length === 0 ? "" : ` /* ${facts.join(", ").replaceAll("*/", "*\\/")} */`;
}

/** Some generators write the bounds of the integer type. */
function isBound(value: unknown): value is number {
  return typeof value === "number" && Math.abs(value) < 2 ** 31 - 1;
}

/** Values that are listed in a description. A longer list is rather one of examples. */
const maxListedValues = 20;

const quotedValue = String.raw`(?:"[^"\n]{1,60}"|'[^'\n]{1,60}'|${"`[^`\\n]{1,60}`"}|“[^”\n]{1,60}”)`;
const remark = String.raw`(?:\s*\([^()]{1,80}\))?`;
const separator = String.raw`\s*(?:,\s*(?:or\s|and\s)?|[/|;]|\bor\b|\band\b)\s*`;
const quotedList = new RegExp(`${quotedValue}${remark}(?:${separator}${quotedValue}${remark})+`, "g");

const word = String.raw`[A-Za-z][\w-]*`;
const wordList = new RegExp(
  String.raw`${word}(?:(?:\s*[,|/]\s*(?:or\s+)?|\s+or\s+)${word})+(?=\s*(?:[.;)\]\n]|$))`,
  "g",
);
const pipedList = new RegExp(String.raw`(?<![\w|.{<-]\s?|/\()${word}(?:\s?\|\s?${word})+(?!\s?[\w|.<}-]|\)/)`, "g");

/** The words before a list that has all values. Words without quotes need a colon, too: "use either name or id" lists none. */
const listsAll =
  /(?:\b(?:either|(?:one|any) of(?: the following)?|(?:allowed|possible|valid|accepted|supported|available|permitted)(?: values| options)?(?: are)?|values|options|choices|enum|choose(?: from| between)?))\s*[:=(]?\s*$/i;
const isMeant =
  /(?:\b(?:must|should|can|may|has to|needs? to) be(?: set to)?|\b(?:is|are|accepts|takes)|^|[:(=–—]|\s-)\s*$/i;

/** Signs of examples, which leave other values open. */
const isExample = /\b(?:e\.g|i\.e|such as|for example|for instance|examples?|like|including|include)\b[^.;]*$/i;
const isOpenAfter =
  /^\s*\)?\s*,?\s*(?:etc\b|\.\.\.|…|an?\b|and (?:so|more|others?)\b|or (?:any\w*|an?|another|others?|custom|your|the)\b)/i;

/** Signs of JSON in the text. Strings in JSON are not a list of values. */
const isJsonBefore = /[{[:]\s*"[^.;]*$/;
const isJsonAfter = /^\s*[:}]/;

/** Words for types, and ids in a form such as `ord_0000`, which are no values. */
const noValue =
  /^(?:string|number|integer|boolean|null|none|undefined|object|array|list|any|true|false)$|\d{4}|[{}<>]/i;

/** Empty if the description lists none, or only examples. */
export function listedValues(schema: unknown): string[] {
  if (!isObject(schema) || typeof schema["description"] !== "string") return [];
  const text = schema["description"].slice(0, maxDocDescriptionChars);
  for (const { list, before, pattern } of listsIn(text)) {
    const after = text.slice(before.length + list.length);
    const isAll =
      pattern === pipedList ||
      (listsAll.test(before) && (pattern === quotedList || /[:=]\s*$/.test(before))) ||
      (pattern === quotedList && isMeant.test(before));
    if (!isAll || isExample.test(before) || isOpenAfter.test(after)) continue;
    if (isJsonBefore.test(before) || isJsonAfter.test(after)) continue;
    const found = pattern === quotedList ? quotedIn(list) : list.split(/\s*[,|/]\s*(?:or\s+)?|\s+or\s+/);
    const values = [...new Set(found)];
    if (values.length < 2 || values.length > maxListedValues || values.some((each) => noValue.test(each))) continue;
    return values;
  }
  return [];
}

function listsIn(text: string): { list: string; before: string; pattern: RegExp }[] {
  return [quotedList, wordList, pipedList].flatMap((pattern) =>
    [...text.matchAll(pattern)].map((match) => ({ list: match[0], before: text.slice(0, match.index), pattern })),
  );
}

/** The values without quotes and remarks. */
function quotedIn(list: string): string[] {
  return (list.replace(/\([^()]*\)/g, "").match(new RegExp(quotedValue, "g")) ?? []).map((each) => each.slice(1, -1));
}
