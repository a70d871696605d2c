/** What the tools of sqlite return. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "mcp-server-sqlite-npx",
  version: "0.8.0",
  tools: {
    create_table: {
      type: "unknown[]",
    },
    describe_table: {
      type: "{ cid: number; name: string; type: string; notnull: number; dflt_value: unknown; pk: number }[]",
    },
    list_tables: {
      type: "{ name: string }[]",
    },
    read_query: {
      type: "Record<string, unknown>[]",
    },
    write_query: {
      type: "unknown[]",
    },
  },
} satisfies CatalogResults;
