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
      what: "postgresql://user:password@host:5432/database; best of a user who may only read",
    },
  ],
  signIn: "token",
  goodFor: ["SQL query", "tables and columns", "count rows", "report from a database"],
  notes: [
    "One tool; the tables are resources.",
    "The old reference server: it works and is no longer maintained. Its read-only transaction could be left by cunning SQL: the user's rights must hold it.",
    "The password stands in an argument, where other programs of this machine can see it.",
  ],
  aliases: ["postgresql", "server-postgres", "pg"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/postgres",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
