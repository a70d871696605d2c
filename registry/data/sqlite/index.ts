/** SQLite: one database in one file. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "sqlite",
  category: "data",
  title: "SQLite",
  description: "Reads and writes a SQLite file with SQL",
  server: { command: "npx", args: ["-y", "mcp-server-sqlite-npx", "${SQLITE_PATH}"] },
  alternatives: [
    {
      what: "the old reference server, in Python; no longer maintained",
      server: { command: "uvx", args: ["mcp-server-sqlite", "--db-path", "${SQLITE_PATH}"] },
    },
  ],
  variables: [{ name: "SQLITE_PATH", required: true, what: "the database file" }],
  confined: "its package has native parts, which npx does not build for a sandbox",
  session: "private",
  signIn: "none",
  labels: {
    "*": [],
    read_query: ["untrusted", "private"],
    list_tables: ["private"],
    describe_table: ["private"],
  },
  results,
  goodFor: ["SQL query", "local database", "create a table", "insert rows"],
  notes: [
    "5 tools; one of them runs any writing SQL it is given.",
    "It needs the native part of npm's sqlite3: it does not start if npm is configured not to run install scripts.",
  ],
  aliases: ["sqlite3", "mcp-sqlite", "server-sqlite"],
  homepage: "https://github.com/johnnyoshika/mcp-server-sqlite-npx",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
