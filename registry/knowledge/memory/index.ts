/** A memory in a file: things, what is known of them, and how they relate. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "memory",
  category: "knowledge",
  title: "Memory",
  description: "Remembers facts between conversations in a graph of entities and relations",
  server: {
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-memory"],
    env: { MEMORY_FILE_PATH: "${MEMORY_FILE_PATH:-}" },
  },
  variables: [
    { name: "MEMORY_FILE_PATH", required: false, what: "the absolute path of the file that stores everything" },
  ],
  // It replaces the file by a new one, for which it needs the folder.
  confined: { write: ["${MEMORY_FILE_PATH}/.."] },
  session: "shared",
  folders: { "@modelcontextprotocol/server-memory": "none" },
  signIn: "none",
  labels: {
    "*": [],
    read_graph: ["untrusted", "private"],
    search_nodes: ["untrusted", "private"],
    open_nodes: ["untrusted", "private"],
  },
  results,
  goodFor: ["remember something for later", "what do you know about me", "knowledge graph", "notes between sessions"],
  notes: [
    "9 tools; three of them delete.",
    "Without MEMORY_FILE_PATH the file is inside the installed package and may be lost when npx fetches another version.",
  ],
  aliases: ["server-memory", "knowledge-graph", "memory-mcp"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/memory",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
