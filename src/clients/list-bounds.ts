/** Limits for the lists of a server: its tools, resources and prompts are shown, indexed and generated, and must stay small. */
import { isObject, type JsonObject, type ListedTool, readTools, shortened } from "./result.ts";

const listKeys = ["tools", "resources", "resourceTemplates", "prompts"];

export const isListKey = (key: string) => listKeys.includes(key);

/** Entries of other lists than that of tools. */
const maxEntries = 10_000;

export const toolLimits = {
  /** Tools of one server. */
  tools: 5_000,
  /** Characters of all their definitions as JSON. */
  listChars: 4_000_000,
  nameChars: 1_000,
  titleChars: 500,
  /** Hosts show 2,048. */
  descriptionChars: 16_384,
  /** Values in one schema: objects, lists, texts, numbers. */
  schemaValues: 10_000,
  schemaChars: 1_000_000,
  schemaDepth: 100,
} as const;

const maxOtherChars = 65_536;

/** The same result with its lists bounded. Only whole entries are left out. */
export function boundedPage(result: JsonObject): JsonObject {
  const bounded = listKeys.flatMap((key) => {
    const list = result[key];
    if (!Array.isArray(list)) return [];
    return [[key, key === "tools" ? boundedTools(result) : boundedEntries(list)]];
  });
  return bounded.length === 0 ? result : { ...result, ...Object.fromEntries(bounded) };
}

function boundedTools(page: JsonObject): ListedTool[] {
  return new ToolBudget().take(readTools(page, ""));
}

function boundedEntries(list: unknown[]): unknown[] {
  let chars = 0;
  return list.slice(0, maxEntries).filter((entry) => {
    if (!isShort(entry)) return false;
    chars += JSON.stringify(entry).length;
    return chars <= toolLimits.listChars;
  });
}

/** Undefined for a tool whose name is too long to be one. */
export function boundedTool(tool: ListedTool): ListedTool | undefined {
  if (tool.name.length > toolLimits.nameChars) return undefined;
  const { title, description, inputSchema, outputSchema, annotations, icons, _meta, ...rest } = tool;
  const input = isWithin(inputSchema);
  return {
    ...rest,
    ...(title === undefined ? {} : { title: shortened(title, toolLimits.titleChars) }),
    description: shortened(description, toolLimits.descriptionChars) + (input ? "" : schemaNote),
    inputSchema: input ? inputSchema : { type: "object" },
    ...(outputSchema && isWithin(outputSchema) ? { outputSchema } : {}),
    ...(isShort(annotations) ? { annotations } : {}),
    ...(isShort(icons) ? { icons } : {}),
    ...(isShort(_meta) ? { _meta } : {}),
  };
}

const schemaNote = "\n(claudikins left out its input schema, which is too large. The server checks the arguments.)";

/** Takes tools until a limit is reached. */
export class ToolBudget {
  #tools = 0;
  #chars = 0;
  /** Tools that were left out. */
  left = 0;

  /** What was left out, in words. */
  get problem(): string {
    const { tools, listChars } = toolLimits;
    const limits = `at most ${tools} tools, and ${listChars / 1_000_000} million characters of definitions`;
    return `${this.left > 0 ? `${this.left} of its tools are` : "its other tools are"} left out (limits: ${limits})`;
  }

  get isFull(): boolean {
    return this.#tools >= toolLimits.tools || this.#chars >= toolLimits.listChars;
  }

  take(tools: readonly ListedTool[]): ListedTool[] {
    return tools.flatMap((tool) => {
      const bounded = this.isFull ? undefined : boundedTool(tool);
      if (!bounded) this.left += 1;
      else {
        this.#tools += 1;
        this.#chars += JSON.stringify(bounded).length;
      }
      return bounded ?? [];
    });
  }
}

function isWithin(schema: JsonObject): boolean {
  let values = 0;
  let chars = 0;
  const visit = (value: unknown, depth: number): boolean => {
    values += 1;
    if (typeof value === "string") chars += value.length;
    if (values > toolLimits.schemaValues || chars > toolLimits.schemaChars || depth > toolLimits.schemaDepth)
      return false;
    if (Array.isArray(value)) return value.every((each) => visit(each, depth + 1));
    if (!isObject(value)) return true;
    for (const key in value) {
      chars += key.length;
      if (!visit(value[key], depth + 1)) return false;
    }
    return true;
  };
  return visit(schema, 0);
}

function isShort(value: unknown): boolean {
  return value !== undefined && isWithin({ value }) && JSON.stringify(value).length <= maxOtherChars;
}
