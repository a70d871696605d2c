/** Servers for the tests of search, written as short as they can be. */
import type { RegistryServer } from "../../src/registry/model.ts";

export interface ToolDraft {
  description?: string;
  title?: string;
  /** Names, each with its schema. */
  parameters?: Record<string, object>;
}

/** Of each tool its description, or more. */
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
