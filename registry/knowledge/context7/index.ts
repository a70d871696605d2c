/** Context7: documentation of libraries, by version. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "context7",
  category: "knowledge",
  title: "Context7",
  description: "Looks up current documentation and code samples of a library or framework",
  server: { command: "npx", args: ["-y", "@upstash/context7-mcp"], env: { CONTEXT7_API_KEY: "${CONTEXT7_API_KEY:-}" } },
  alternatives: [
    {
      what: "the same server over the network, without a key",
      server: { type: "http", url: "https://mcp.context7.com/mcp" },
    },
  ],
  variables: [
    {
      name: "CONTEXT7_API_KEY",
      required: false,
      what: "a key for more requests and for private repositories",
      from: "https://context7.com/dashboard",
    },
  ],
  confined: { network: ["context7.com"] },
  session: "shared",
  folders: { "@upstash/context7-mcp": "none" },
  signIn: "none",
  labels: {
    "*": ["untrusted"],
  },
  goodFor: ["documentation of a library", "API reference of a framework", "code samples", "docs of a certain version"],
  notes: ["2 tools: one finds a library's ID, the other its pages.", "Queries are sent to Upstash."],
  aliases: ["context7-mcp", "upstash context7"],
  homepage: "https://context7.com",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
