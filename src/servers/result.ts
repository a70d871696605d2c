/** Reads tool lists, and turns tool results into values. */
import { ClaudikinsError } from "../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../base/json-object.ts";
import { jsonOf, LargeJson, wholeOf } from "./decoding/large-json.ts";
import { maxCheckedTextChars, maxFailureTextChars } from "./limits.ts";

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

/** A value for the sandbox: JSON text that is parsed there, plain text, or long text that may be either. */
export type ToolValue = { json: string } | { blocks: string } | { text: string } | { jsonOrText: string };

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
    const words = shortened(textOf(result["content"]), maxFailureTextChars);
    throw new ClaudikinsError("TOOL_FAILED", words || `${tool} failed without a message`);
  }
  const content = resultContent(result);
  if ("structured" in content) return { json: jsonOf(content.structured) };
  if ("blocks" in content) return { blocks: jsonOf(content.blocks) };
  const { text } = content;
  if (text.length > maxCheckedTextChars && /^\s*[[{]/.test(text)) return { jsonOrText: text };
  return isJson(text) ? { json: text } : { text };
}

/** The content of a successful result. A large part is `LargeJson`. */
export function resultContent(result: ToolResult): { structured: unknown } | { blocks: unknown } | { text: string } {
  const structured = result["structuredContent"] ?? result["toolResult"];
  if (structured !== undefined && structured !== null) return { structured };
  const { content = [] } = result;
  const text = content instanceof LargeJson ? content.text : onlyText(content);
  if (text !== undefined) return { text };
  return { blocks: content instanceof LargeJson || Array.isArray(content) ? content : [] };
}

/** The text of content blocks, if all of them are text. */
export function onlyText(content: unknown): string | undefined {
  if (!Array.isArray(content) || content.length === 0 || !content.every(isText)) return undefined;
  return content.map(({ text }) => text).join("\n");
}

function textOf(content: unknown): string {
  if (content instanceof LargeJson) return content.text ?? "";
  return objectsOf(content)
    .filter(isText)
    .map((block) => block.text)
    .join("\n");
}

function isText(block: unknown): block is { type: "text"; text: string } {
  return isObject(block) && block["type"] === "text" && typeof block["text"] === "string";
}

function isJson(text: string): boolean {
  // Parsing prose that begins with "t", "f" or "n" would take 2 µs, for an exception.
  if (!/^\s*(?:[[{"\-\d]|(?:true|false|null)\s*$)/.test(text)) return false;
  const value = parsedJson(text);
  // A long id is kept as text, because a number would lose digits.
  return Number.isInteger(value) ? Number.isSafeInteger(value) : value !== undefined;
}
