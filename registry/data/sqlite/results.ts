/** The results of the tools of sqlite. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "mcp-server-sqlite-npx",
  version: "0.8.0",
  tools: {
    create_table: {
      type: "unknown[]",
      text: "always empty",
    },
    describe_table: {
      type: "{ cid: number; name: string; type: string; notnull: number; dflt_value: string | null; pk: number }[]",
    },
    list_tables: {
      type: "{ name: string }[]",
    },
    read_query: {
      type: "Record<string, unknown>[]",
      text: "one object per row, with the columns of the query as keys",
    },
    write_query: {
      type: "unknown[]",
      text: "always empty",
    },
  },
  usual: {
    describe_table: "({ table_name })",
    list_tables: "()",
    read_query: "({ query })",
  },
} satisfies CatalogResults;
