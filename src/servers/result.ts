/** Reads tool lists, and turns tool results into values. */
import { ClaudikinsError } from "../base/errors.ts";
import { mayHaveExact, numberInText, parsedExact, withExactTexts } from "../base/exact-json.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { jsonOf, LargeJson, objectJson, wholeOf } from "../base/large-json.ts";
import { withoutBase64 } from "../base/media.ts";

/** Longer text of a result is not checked for being JSON: that would take as long as everything else, and more memory. */
const maxCheckedTextChars = 65_536;

/** Characters of the text of a failed call, because several places read it. */
const maxFailureTextChars = 262_144;

/** Characters of the structured content of a failed call, for programs. */
const maxFailureDataChars = 65_536;

export interface ListedTool {
  name: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
  icons?: unknown[];
  _meta?: JsonObject;
  /** Fields that no revision of MCP defines. */
  more?: JsonObject;
}

/** A CallToolResult, unchecked. Large parts of it are `LargeJson`. */
export type ToolResult = JsonObject;

/** The tools of one page. A tool without a valid name is dropped. A missing schema means "any object". */
export function readTools(page: JsonObject, server: string): ListedTool[] {
  const list = page["tools"];
  if (!Array.isArray(list)) {
    throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" answered tools/list without a tool list`, {
      hint: "Report this to the server's author, or try another version of it.",
    });
  }
  return list.flatMap((entry: unknown): ListedTool[] => {
    if (!isObject(entry) || typeof entry["name"] !== "string" || entry["name"] === "") return [];
    // How a tool supports tasks is left out, because claudikins passes no tasks on.
    const { name, title, description, inputSchema, annotations, outputSchema, icons, _meta, execution, ...more } =
      entry;
    return [
      {
        name: entry["name"],
        ...(typeof title === "string" ? { title } : {}),
        description: typeof description === "string" ? description : "",
        inputSchema: isObject(inputSchema) ? inputSchema : { type: "object" },
        ...(isObject(outputSchema) ? { outputSchema } : {}),
        ...(isObject(annotations) ? { annotations } : {}),
        ...(Array.isArray(icons) ? { icons } : {}),
        ...(isObject(_meta) ? { _meta } : {}),
        ...(Object.keys(more).length > 0 ? { more } : {}),
      },
    ];
  });
}

/** The objects in an array. Other elements are left out. */
export function objectsOf(list: unknown): JsonObject[] {
  const whole = wholeOf(list);
  return Array.isArray(whole) ? whole.filter(isObject) : [];
}

/**
 * A value for the sandbox: JSON text that is parsed there, plain text, or long text that may be either. With `exact`, numbers that JavaScript
 * cannot hold have become texts with their digits.
 */
export type ToolValue = ({ json: string } | { blocks: string } | { text: string } | { jsonOrText: string }) & {
  exact?: true;
};

/** The beginning of a text, and how much was left out. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars).toWellFormed()}… (${text.length - maxChars} more characters)`;
}

/**
 * The value of a tool result. Throws TOOL_FAILED with the tool's text if `isError` is set. Otherwise `structuredContent`;
 * or the text, parsed if it is JSON; or the content blocks. `toolResult` of the oldest protocol version counts as
 * structured.
 */
export function toolValue(result: ToolResult, tool: string): ToolValue {
  if (result["isError"] === true) {
    const words = textOf(result["content"]) || dataOf(result) || `${tool} failed without a message`;
    throw new ClaudikinsError("TOOL_FAILED", shortened(words, maxFailureTextChars), { data: failureData(result) });
  }
  const content = resultContent(result);
  if ("structured" in content) return jsonValue(jsonOf(content.structured));
  if ("blocks" in content) {
    const { json, ...exact } = jsonValue(jsonOf(content.blocks));
    return { blocks: json, ...exact };
  }
  const { text } = content;
  if (text.length > maxCheckedTextChars && /^\s*[[{]/.test(text) && !mayHaveExact(text)) return { jsonOrText: text };
  return isJson(text) ? jsonValue(text) : { text };
}

/** The structured content of a failed call. Undefined if there is none, or if it is too long to be an error's detail. */
function failureData({ structuredContent }: ToolResult): string | undefined {
  if (structuredContent === undefined || structuredContent === null) return undefined;
  const { json } = jsonValue(jsonOf(structuredContent));
  return json.length > maxFailureDataChars ? undefined : json;
}

/** The value of a JSON text. */
export function jsonValue(text: string): { json: string; exact?: true } {
  const json = withExactTexts(text);
  return json === text ? { json } : { json, exact: true };
}

/** A whole result as a value. */
export function rawValue(result: ToolResult): ToolValue {
  return jsonValue(objectJson(result));
}

/** The content of a successful result. A large part is `LargeJson`. */
export function resultContent(result: ToolResult): { structured: unknown } | { blocks: unknown } | { text: string } {
  const structured = result["structuredContent"] ?? result["toolResult"];
  if (structured !== undefined && structured !== null) return { structured };
  const content = blocksOf(result["content"]);
  const text = content instanceof LargeJson ? content.text : onlyText(content);
  if (text !== undefined) return { text };
  if (result["content"] !== undefined) return { blocks: content };
  // Some servers put their answer in fields of their own.
  const { content: _, structuredContent, toolResult, isError, _meta, resultType, ...own } = result;
  return Object.keys(own).length > 0 ? { structured: own } : { blocks: content };
}

/** The content blocks. Some servers send a text, or one block without a list. */
function blocksOf(content: unknown): LargeJson | unknown[] {
  if (content instanceof LargeJson || Array.isArray(content)) return content;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content === undefined || content === null ? [] : [content];
}

/** The text of content blocks, if all of them are text. */
export function onlyText(content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0 || !content.every(isText)) return undefined;
  return content.map(({ text }) => text).join("\n");
}

/** The content of a failure that has no text, as JSON. */
function dataOf(result: ToolResult): string {
  const { isError: _, ...rest } = result;
  const content = resultContent(rest);
  if ("structured" in content) return jsonOf(content.structured);
  if ("text" in content || !Array.isArray(wholeOf(content.blocks))) return "";
  const blocks = wholeOf(content.blocks) as unknown[];
  return blocks.length === 0 ? "" : withoutBase64(JSON.stringify(blocks));
}

function textOf(content: unknown): string {
  const blocks = blocksOf(content);
  if (blocks instanceof LargeJson) return blocks.text ?? textOf(wholeOf(blocks));
  return objectsOf(blocks)
    .filter(isText)
    .map((block) => block.text)
    .join("\n");
}

function isText(block: unknown): block is { type: "text"; text: string } {
  return isObject(block) && block["type"] === "text" && typeof block["text"] === "string";
}

/** Whether programs get the value of a short text instead of the text. */
export function isJson(text: string): boolean {
  return valueInText(text) !== text;
}

/** What programs get of a short text: the value of its JSON, or the text. */
export function valueInText(text: string): unknown {
  // Parsing prose that begins with "t", "f" or "n" would take 2 µs, for an exception.
  if (!/^\s*(?:[[{"\-\d]|(?:true|false|null)\s*$)/.test(text)) return text;
  // A version such as 3.10 and a long id stay text.
  const value = /^\s*[-\d]/.test(text) ? numberInText(text.trim()) : parsedExact(text);
  return value === undefined ? text : value;
}
