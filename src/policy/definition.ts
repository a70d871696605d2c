/** What a server says of a tool, as a person's "yes, for this session" is bound to it. */
import { createHash } from "node:crypto";

/** The parts of a tool's definition that say what it does. Icons and `_meta` are left out: they change without the tool. */
const parts = {
  title: "its title",
  description: "its description",
  inputSchema: "its arguments",
  outputSchema: "its results",
  annotations: "its stated effects",
} as const;

/** Of a tool at one moment. */
export interface ToolDefinition {
  /** Undefined where the server lists no such tool. */
  annotations: Record<string, unknown> | undefined;
  /** A digest of each part of the definition, with a name that a person understands. */
  digests: ReadonlyMap<string, string>;
  /** The connection over which the server said so; undefined where it was more than one. */
  connection: object | undefined;
}

/** `server` stands for the process or address that was asked: its config entry and what it calls itself. */
export function definitionOf(
  tool: object | undefined,
  server: unknown,
  connection: object | undefined,
): ToolDefinition {
  const values = new Map(Object.entries(tool ?? {}));
  const digests = new Map([["its server", digestOf(server)]]);
  for (const [key, name] of Object.entries(parts)) digests.set(name, digestOf(values.get(key)));
  digests.set("whether its server lists it", digestOf(tool !== undefined));
  const annotations = values.get("annotations") as ToolDefinition["annotations"];
  return { annotations, digests, connection };
}

/** Names of the parts that differ. */
export function changedParts(before: ToolDefinition["digests"], now: ToolDefinition["digests"]): string[] {
  return [...now].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name);
}

function digestOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)) ?? "")
    .digest("hex");
}

/** The same JSON in whatever order the keys came. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  // As a list of pairs: a key such as "__proto__" stays a key.
  return {
    keys: Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  };
}
