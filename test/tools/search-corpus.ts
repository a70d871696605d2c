/** Servers for the tests of search, in a short notation. */
import type { RegistryServer } from "../../src/tools/model.ts";

export interface ToolDraft {
  description?: string;
  title?: string;
  /** Schemas by the names of the parameters. */
  parameters?: Record<string, object>;
}

/** A server with a description or a draft for each tool. */
export function serverOf(
  name: string,
  tools: Record<string, string | ToolDraft>,
  more: Partial<RegistryServer> = {},
): RegistryServer {
  return {
    name,
    category: "other",
    description: "",
    folder: `other/${name}`,
    fingerprint: "x",
    tools: Object.entries(tools).map(([tool, draft]) => {
      const { description = "", title, parameters = {} } = typeof draft === "string" ? { description: draft } : draft;
      return {
        name: tool,
        description,
        ...(title === undefined ? {} : { title }),
        inputSchema: { type: "object", properties: parameters },
      };
    }),
    ...more,
  };
}
