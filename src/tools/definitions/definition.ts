/** The locked part of a tool's definition: the parts that a model reads, without details that differ between machines and days. */
import { withTexts } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Label } from "../../config/policy.ts";
import { statedLabels } from "../../policy/flow/label-rules.ts";
import type { ListedTool } from "../../servers/result.ts";

/** The name is kept beside it. Icons and `_meta` may change although the tool does not. */
export type Definition = Pick<ListedTool, "title" | "description" | "inputSchema" | "outputSchema" | "annotations">;

/** A tool's own name, its definition, and the fingerprint of the definition. */
export interface NamedDefinition {
  name: string;
  fingerprint: string;
  definition: Definition;
  /** All labels of the definitions with this name, if there are several. If missing, the labels of this definition. */
  labels?: readonly Label[];
}

/** A definition that was accepted. */
export interface AcceptedDefinition extends Omit<NamedDefinition, "definition" | "labels"> {
  /** Undefined if it was forgotten, because the server has listed too many other tools. */
  definition?: Definition | undefined;
  /** All labels that the rules gave the tool since it was accepted. */
  labels: readonly Label[];
  /** The fingerprint that a person has replaced with this one. A server that still runs may list it. */
  replaced?: string | undefined;
}

/** The definition as a person or a first list accepts it. */
export function acceptedNow({ name, fingerprint, definition, labels }: NamedDefinition): AcceptedDefinition {
  return { name, fingerprint, definition, labels: labels ?? statedLabels(name, definition) };
}

/** Folders of this machine that a definition may mention. */
export interface MaskedFolders {
  home: string | undefined;
  /** The working directory of the server. */
  cwd: string;
}

/**
 * The definition of a listed tool. `folders`, dates and local ports are replaced, because they may change while the tool stays the same.
 */
export function namedDefinition(tool: ListedTool, folders: MaskedFolders): NamedDefinition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const whole: Definition = {
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema ? { outputSchema } : {}),
    ...(annotations ? { annotations } : {}),
  };
  const definition = masked(whole, folders);
  return { name, fingerprint: fingerprintOf(definition), definition };
}

/** `sha256-` and 64 hexadecimal digits. The order of keys does not count, nor does the order in `required`, `enum` and `type`. */
export function fingerprintOf(definition: Definition | readonly string[]): string {
  return `sha256-${sha256(JSON.stringify(canonical(definition)))}`;
}

export const isFingerprint = (text: unknown): text is string =>
  typeof text === "string" && /^sha256-[\da-f]{64}$/.test(text);

const unordered: readonly string[] = ["required", "enum", "type"];

function canonical(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => canonical(each));
    const areTexts = items.every((each) => typeof each === "string");
    return areTexts && unordered.includes(key) ? items.sort() : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // An array of pairs: a key such as __proto__ is a key like any other.
  return entries.map(([name, each]) => [name, canonical(each, name)]);
}

const date = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b/g;
const localAddress = /\b(?:localhost|127\.0\.0\.1):\d+/g;

function masked(definition: Definition, { home, cwd }: MaskedFolders): Definition {
  const folders = [cwd, home].filter((each) => each !== undefined && each.length > 1) as string[];
  const replaced = (text: string) =>
    folders
      .reduce((whole, folder) => whole.replaceAll(folder, "<folder>"), text)
      .replace(date, "<date>")
      .replace(localAddress, "<address>");
  const json = JSON.stringify(definition);
  const mayDiffer =
    folders.some((each) => json.includes(JSON.stringify(each).slice(1, -1))) ||
    [date, localAddress].some((each) => json.search(each) >= 0);
  return mayDiffer ? withTexts(definition, replaced) : definition;
}
