/** Calls of SQLite in one file. */
import { join } from "node:path";
import type { Plan } from "../plan.ts";

const empty = { says: "always empty", pattern: /^\[\s*\]$/ };

export const sqlite: Plan = {
  server: "data/sqlite",
  package: "mcp-server-sqlite-npx@0.8.0",
  usual: ["read_query", "list_tables", "describe_table"],
  rebuild: ["sqlite3"],
  args: ({ folder }) => [join(folder, "shop.db")],
  calls: [
    {
      tool: "create_table",
      args: () => ({ query: "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'lamp')" }),
      text: empty,
    },
    {
      tool: "write_query",
      args: () => ({ query: "INSERT INTO orders (name) VALUES ('lamp'), ('desk')" }),
      text: empty,
    },
    {
      tool: "read_query",
      args: () => ({ query: "SELECT * FROM orders" }),
      fieldsAreData: true,
      text: { says: "one object per row, with the columns of the query as keys", pattern: /^\[\s*\{/ },
    },
    { tool: "list_tables" },
    { tool: "describe_table", args: () => ({ table_name: "orders" }) },
  ],
};
