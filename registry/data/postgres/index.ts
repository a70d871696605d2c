/** PostgreSQL, read only. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "postgres",
  category: "data",
  title: "PostgreSQL",
  description: "Runs read-only SQL on a PostgreSQL database and shows its tables",
  server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-postgres", "${POSTGRES_URL}"] },
  variables: [
    {
      name: "POSTGRES_URL",
      required: true,
      what: "postgresql://user:password@host:5432/database; preferably of a read-only user",
    },
  ],
  confined: { network: true },
  session: "shared",
  folders: { "@modelcontextprotocol/server-postgres": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
  },
  goodFor: ["SQL query", "tables and columns", "count rows", "report from a database"],
  notes: [
    "One tool; the tables are resources.",
    "The old reference server: it works but is no longer maintained. Crafted SQL could escape its read-only transaction: rely on the database user's permissions.",
    "The password is in an argument, where other programs on this machine can see it.",
  ],
  aliases: ["postgresql", "server-postgres", "pg"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/postgres",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
