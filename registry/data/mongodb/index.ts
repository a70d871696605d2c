/** MongoDB, by MongoDB. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "mongodb",
  category: "data",
  title: "MongoDB",
  description: "Queries and changes MongoDB databases: find, aggregate, indexes, schemas",
  server: {
    command: "npx",
    args: ["-y", "mongodb-mcp-server", "--readOnly"],
    env: { MDB_MCP_CONNECTION_STRING: "${MONGODB_URI}" },
  },
  variables: [
    {
      name: "MONGODB_URI",
      required: true,
      what: "a connection string: mongodb:// or mongodb+srv://, with user and password",
      from: "https://www.mongodb.com/docs/manual/reference/connection-string/",
    },
  ],
  confined: { network: true },
  session: "private",
  signIn: "token",
  labels: {
    "*": ["private"],
    "aggregate*": ["untrusted", "private"],
    find: ["untrusted", "private"],
    export: ["untrusted", "private"],
    "mongodb-logs": ["untrusted", "private"],
    connect: ["public"],
    "create-*": [],
    "drop-*": [],
    "insert-many": [],
    "update-many": [],
    "delete-many": [],
    "rename-collection": [],
    disconnect: [],
    "search-knowledge": [],
    "list-knowledge-sources": [],
  },
  goodFor: [
    "query a collection",
    "aggregation pipeline",
    "schema of a collection",
    "slow queries and indexes",
    "how many documents",
  ],
  notes: [
    "With `--readOnly` it has about 18 tools and changes nothing; without it 27, some of which drop databases.",
    "MDB_MCP_API_CLIENT_ID and MDB_MCP_API_CLIENT_SECRET in env add tools for Atlas.",
    "It reports usage to MongoDB unless MDB_MCP_TELEMETRY is `disabled`.",
  ],
  aliases: ["mongo", "mongodb-mcp"],
  homepage: "https://www.mongodb.com/docs/mcp-server/",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
