/** A tool's definition. The user's "yes, for this session" is bound to it. */
import { digestOf } from "../config/trust/marks.ts";

/** The parts of a definition that describe the tool. Icons and `_meta` may change although the tool does not. */
const parts = {
  title: "its title",
  description: "its description",
  inputSchema: "its arguments",
  outputSchema: "its results",
  annotations: "its stated effects",
} as const;

/** A tool's definition at one moment. */
export interface ToolDefinition {
  /** Undefined if the server does not list the tool. */
  annotations: Record<string, unknown> | undefined;
  /** A digest of each part, by a name that the user understands. */
  digests: ReadonlyMap<string, string>;
  /** The connection that listed the tool. Undefined if its pages came over several connections. */
  connection: object | undefined;
}

type Digests = ToolDefinition["digests"];

/** `server` identifies the process or URL that listed the tool: its config entry and its `serverInfo`. */
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

/** The names of the parts that differ. */
export function changedParts(before: Digests, now: Digests): string[] {
  return [...now].filter(([name, digest]) => before.get(name) !== digest).map(([name]) => name);
}
