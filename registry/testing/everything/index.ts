/** The protocol's own test server. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "everything",
  category: "testing",
  title: "Everything",
  description: "Shows every feature of the protocol once: for testing clients, not for work",
  server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything", "stdio"] },
  variables: [],
  confined: {},
  session: "shared",
  signIn: "none",
  labels: {
    "*": [],
    "get-env": ["private"],
    "gzip-file-as-resource": ["untrusted", "public"],
    "trigger-url-elicitation": ["public"],
  },
  results,
  goodFor: ["test an MCP client", "try resources and prompts", "images and audio in results", "progress notifications"],
  notes: [
    "About 13 tools; clients that support sampling or elicitation see more. One of them prints the server's environment.",
  ],
  aliases: ["server-everything", "test server"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/everything",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
