/** Limits the lists of a server. Its tools, resources, prompts and skills are shown, indexed and generated, so they must stay small. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { type ListedTool, readTools, shortened } from "../result.ts";

/** Entries of a list other than tools. */
const maxListEntries = 10_000;

/** Characters of one entry of a list. */
const maxEntryChars = 65_536;

/** The same for a skill, which names each of its files, and may have 512. */
const maxSkillEntryChars = 262_144;

const listKeys = ["tools", "resources", "resourceTemplates", "prompts", "skills"];

export const isListKey = (key: string) => listKeys.includes(key);

export const toolLimits = {
  /** Maximum number of tools of one server. */
  tools: 5_000,
  /** Maximum characters of all definitions together, as JSON. */
  listChars: 1_000_000,
  nameChars: 1_000,
  titleChars: 500,
  /** Agents show 2,048 characters. */
  descriptionChars: 16_384,
  /** Maximum number of values in one schema: objects, arrays, strings, numbers. */
  schemaValues: 10_000,
  schemaChars: 500_000,
  schemaDepth: 100,
} as const;

/** For a source: its tools are made here, each within the limits of one tool, and it may have many more of them than a server. */
export const sourceLimits = { tools: 30_000, listChars: 60_000_000 } as const;

/** The same result with its lists shortened. Only whole entries are left out. */
export function boundedPage(result: JsonObject): JsonObject {
  const bounded = listKeys.flatMap((key) => {
    const list = result[key];
    if (!Array.isArray(list)) return [];
    return [[key, key === "tools" ? boundedTools(result) : boundedEntries(list, key)]];
  });
  return bounded.length === 0 ? result : { ...result, ...Object.fromEntries(bounded) };
}

function boundedTools(page: JsonObject): ListedTool[] {
  return new ToolBudget().take(readTools(page, ""));
}

function boundedEntries(list: unknown[], key: string): unknown[] {
  let chars = 0;
  return list.slice(0, maxListEntries).filter((entry) => {
    if (!isShort(entry, key === "skills" ? maxSkillEntryChars : maxEntryChars)) return false;
    chars += JSON.stringify(entry).length;
    return chars <= toolLimits.listChars;
  });
}

/** Undefined if the name is too long. */
export function boundedTool(tool: ListedTool): ListedTool | undefined {
  if (tool.name.length > toolLimits.nameChars) return undefined;
  const { title, description, inputSchema, outputSchema, annotations, icons, _meta, more, ...rest } = tool;
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
    ...(isShort(more) ? { more } : {}),
  };
}

const schemaNote = "\n(claudikins omitted the input schema: it is too large. The server checks the arguments.)";

/** Collects tools until a limit is reached. */
export class ToolBudget {
  readonly #limits: { tools: number; listChars: number };
  #tools = 0;
  #chars = 0;
  /** The number of tools that were left out. */
  left = 0;

  constructor(limits: { tools: number; listChars: number } = toolLimits) {
    this.#limits = limits;
  }

  /** Says what was left out. */
  get problem(): string {
    const { tools, listChars } = this.#limits;
    const limits = `${tools} tools, ${listChars / 1_000_000} million characters of definitions`;
    return `${this.left > 0 ? `${this.left} of its tools were` : "its other tools were"} omitted (limits: ${limits})`;
  }

  get isFull(): boolean {
    return this.#tools >= this.#limits.tools || this.#chars >= this.#limits.listChars;
  }

  take(tools: readonly ListedTool[]): ListedTool[] {
    return tools.flatMap((tool) => {
      const bounded = this.isFull ? undefined : boundedTool(tool);
      if (!bounded) this.left += 1;
      else {
        this.#tools += 1;
        this.#chars += measure(bounded).chars;
      }
      return bounded ?? [];
    });
  }
}

interface SizeLimits {
  values: number;
  chars: number;
  depth: number;
}

const schemaLimits: SizeLimits = {
  values: toolLimits.schemaValues,
  chars: toolLimits.schemaChars,
  depth: toolLimits.schemaDepth,
};

/** Values beyond the limits are not read. */
export function isWithin(value: unknown, limits = schemaLimits): boolean {
  return measure(value, limits).isWithin;
}

/** Approximate characters of the value as JSON. Values beyond the limits are not read. */
function measure(value: unknown, limits?: SizeLimits): { isWithin: boolean; chars: number } {
  let values = 0;
  let chars = 0;
  const visit = (node: unknown, depth: number): boolean => {
    values += 1;
    if (typeof node === "string") chars += node.length;
    if (limits && (values > limits.values || chars > limits.chars || depth > limits.depth)) return false;
    if (Array.isArray(node)) return node.every((each) => visit(each, depth + 1));
    if (!isObject(node)) return true;
    for (const key in node) {
      chars += key.length + quotesOfKey;
      if (!visit(node[key], depth + 1)) return false;
    }
    return true;
  };
  return { isWithin: visit(value, 0), chars: chars + values * charsAroundValue };
}

/** `"":` */
const quotesOfKey = 3;
/** Quotes of a string or brackets of an array, and a comma. A number, `true` or `null` has about as many characters. */
const charsAroundValue = 3;

function isShort(value: unknown, maxChars = maxEntryChars): boolean {
  return value !== undefined && isWithin({ value }) && JSON.stringify(value).length <= maxChars;
}
