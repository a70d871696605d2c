/** Makes the signature of a tool: how to call it, with exact names and types. */
import { isObject, type JsonObject } from "../base/json-object.ts";
import { requiredArguments } from "../base/json-schema.ts";
import { pagesKey } from "../sources/source.ts";
import { askExample, askSignature, asksModel } from "./asks-model.ts";
import type { RegistryServer, RegistryTool } from "./model.ts";
import { isVague, resultSchema } from "./observed/result-schema.ts";
import { shallow } from "./observed/shape.ts";
import { sampleArguments } from "./sample.ts";
import { shortened } from "./types/documentation.ts";
import { typeText } from "./types/one-line.ts";

/** If an observed type is longer, its deep parts are left out. */
const maxObservedTypeChars = 400;

/** Only this much of a description is read for a signature. */
const maxSignatureDescriptionChars = 4_000;

type ServerNames = Pick<RegistryServer, "name" | "jsName">;

/** `demo.get_order`, or with brackets if a name is not an identifier: `servers["fs"].read`. */
export function callPath(server: ServerNames, tool: Pick<RegistryTool, "name" | "jsName">): string {
  const object = server.jsName ?? `servers[${JSON.stringify(server.name)}]`;
  return tool.jsName ? `${object}.${tool.jsName}` : `${object}[${JSON.stringify(tool.name)}]`;
}

/** `demo.get_order(args: { order_id: string }): Promise<unknown>`. */
export function signature(server: ServerNames, tool: RegistryTool): string {
  const { inputSchema } = tool;
  if (asksModel(server.name, tool)) return `${callPath(server, tool)}${askSignature}`;
  const args = typeText(inputSchema, "arguments");
  const none =
    args === "Record<string, never>" || args === "Record<string, unknown>" || Object.keys(inputSchema).length === 0;
  const optional = needsNoArguments(inputSchema);
  return `${callPath(server, tool)}(${none ? "" : `args${optional ? "?" : ""}: ${args}`}): ${resultText(tool)}`;
}

/** The type of the result, whether it was observed, and the format of a text. */
export function resultText(tool: RegistryTool): string {
  const format = formatOf(tool);
  const pages = hasPages(tool) ? "all items: .pages(args)" : undefined;
  const comments = [isObserved(tool) ? "observed" : undefined, format, pages].filter((each) => each !== undefined);
  return [`Promise<${resultType(tool) ?? "unknown"}>`, ...comments.map((each) => `/* ${each} */`)].join(" ");
}

function hasPages({ _meta }: Pick<RegistryTool, "_meta">): boolean {
  const pages = _meta?.[pagesKey];
  return isObject(pages) && pages["isChosen"] !== true;
}

/** The format of a text result, or of the only field of a result. */
export function formatOf({ known, observed }: ResultTypes): string | undefined {
  const properties = observed?.["properties"];
  const [field, ...others] = isObject(properties) ? Object.values(properties) : [observed];
  const seen =
    others.length === 0 && isObject(field) && [field["type"]].flat().includes("string")
      ? field["description"]
      : undefined;
  return known?.text ?? (typeof seen === "string" ? seen : undefined);
}

/** Whether the type of the result, or a part that the declared type leaves open, is the observed one. */
export function isObserved({ outputSchema, observed }: RegistryTool): boolean {
  if (!observed) return false;
  return !outputSchema || (isVague(outputSchema) && resultSchema({ outputSchema, observed }) !== outputSchema);
}

/** The server's claims about the effects of a call, as sentences. */
export function effectsOf({ annotations }: Pick<RegistryTool, "annotations">): string {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations ?? {};
  if (readOnlyHint === true) return "It only reads.";
  return [
    destructiveHint === true ? "It may delete or overwrite data." : "",
    idempotentHint === true ? "Repeating it with the same arguments has no further effect." : "",
  ]
    .filter(Boolean)
    .join(" ");
}

interface ResultTypes extends Pick<RegistryTool, "outputSchema" | "known"> {
  observed?: JsonObject | undefined;
}

/**
 * The declared type, completed by the observed one, else the observed one, else the type of a well-known server. Undefined if it is not known.
 */
export function resultType({ outputSchema, observed, known }: ResultTypes): string | undefined {
  if (!outputSchema) return observed ? observedType(observed) : known?.type;
  const declared = typeText(outputSchema);
  if (!observed) return declared;
  const maxChars = declared.length + maxObservedTypeChars;
  const texts = observedDepths.map((depth) => typeText(resultSchema({ outputSchema, observed }, depth)));
  return texts.find((text) => text.length <= maxChars) ?? texts.at(-1);
}

/** Levels of an observed type to try, until its text is short enough. */
const observedDepths = [6, 4, 3, 2];

/** The type of an observed shape. Data keys beside fields are not shown. */
export function observedType(observed: JsonObject): string {
  for (const depth of observedDepths) {
    const text = typeText(shallow(observed, depth, true));
    if (text.length <= maxObservedTypeChars) return text;
  }
  return typeText(shallow(observed, 1, true));
}

/** Whether the schema accepts a call without arguments. */
export function needsNoArguments(schema: JsonObject): boolean {
  const combined = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => key in schema);
  return !combined && requiredArguments(schema, schema).size === 0;
}

/** `await demo.get_order({ order_id: "ord_00042" })`. */
export function exampleCall(server: ServerNames, tool: RegistryTool): string {
  return exampleOf(server, tool).example;
}

/**
 * The example call, and whether it tells more than the signature, such as the form of an id. Agents read such an example before a call, so
 * it has placeholders for texts that the tool would refuse.
 */
export function exampleOf(server: ServerNames, tool: RegistryTool): { example: string; exampleTells?: true } {
  if (asksModel(server.name, tool)) return { example: `await ${callPath(server, tool)}${askExample}` };
  const plain = sampleArguments(tool.inputSchema);
  const { text, isTelling } = plain.isTelling ? sampleArguments(tool.inputSchema, "…") : plain;
  return { example: `await ${callPath(server, tool)}(${text})`, ...(isTelling ? { exampleTells: true } : {}) };
}

/** The first sentence of a text, on one line, at most `limit` characters. Headings are skipped. */
export function firstSentence(text: string, limit = 160): string {
  return shortened(sentencesOf(text)[0] ?? "", limit);
}

/** Words of sentences that a model needs to choose a tool. */
const caveat = /\b(?:deprecated|instead)\b|(?<![-\w])(?:only|must)\b/iu;

/** Words of sentences that say what has to be true or done before a call. */
const precondition =
  /\b(?:must|cannot|can't|requires|before|not allowed|needs? to|has to|have to)\b|^first,?\s|(?<!\b(?:the|its|a|each|of|your) )\bfirst(?=[.,;!)]|$| to\b)/iu;

/** The first sentence of a description, and the first ones with a caveat and with a precondition. */
export function tellingSentences(text: string): string {
  const [first = "", ...others] = sentencesOf(text);
  const firstWith = (words: RegExp) =>
    words.test(first) ? undefined : others.find((sentence) => words.test(sentence));
  return [...new Set([first, firstWith(caveat) ?? "", firstWith(precondition) ?? ""])]
    .filter(Boolean)
    .map((sentence) => shortened(sentence, 160))
    .join(" ");
}

/** The sentences of a text, without headings, list marks and emphasis. If a heading names the purpose, it begins there. */
function sentencesOf(text: string): string[] {
  const parts: string[] = [];
  let purpose = 0;
  for (const line of text.slice(0, maxSignatureDescriptionChars).split("\n")) {
    const plain = line.replace(/^\s*(?:[#>*•-]+\s+|\d+[.)]\s+|(?:\p{Extended_Pictographic}\uFE0F?)+\s*)+/u, "").trim();
    const isMarked = /^\s*(?:#|\p{Extended_Pictographic})/u.test(line);
    const isShort = plain.split(" ").length <= 3 && !/[.!?]/u.test(plain);
    const isHeading = /^\s*#/u.test(line) || (isShort && (isMarked || plain.endsWith(":")));
    if (/^(?:purpose|summary|description)\b/iu.test(plain) && plain.length < 20) purpose = parts.length;
    const continues = plain === line.trim() && (parts.at(-1) ?? "") !== "";
    if (isHeading || plain === "") parts.push("");
    else if (continues) parts[parts.length - 1] += ` ${plain}`;
    else parts.push(plain);
  }
  const prose = parts.slice(purpose).filter(Boolean);
  // A text that is only headings is better than none.
  const all = prose.length > 0 ? prose : [text.replace(/^[\s#]+/u, "").slice(0, maxSignatureDescriptionChars)];
  return all.flatMap((part) => splitSentences(part.replace(/\s+/g, " ").trim()));
}

function splitSentences(line: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const { index } of line.matchAll(/(?<!\b(?:e\.g|i\.e|etc|vs))[.!?](?= [^\p{Ll}]|$)/gu)) {
    sentences.push(line.slice(from, index + 1).trim());
    from = index + 1;
  }
  return [...sentences, line.slice(from).trim()].filter(Boolean);
}
