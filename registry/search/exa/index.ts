/** Exa: search by meaning. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "exa",
  category: "search",
  title: "Exa",
  description: "Searches the web by meaning and reads the pages it finds",
  server: { command: "npx", args: ["-y", "exa-mcp-server"], env: { EXA_API_KEY: "${EXA_API_KEY}" } },
  alternatives: [
    {
      what: "the server hosted by Exa; it works without a key within narrow limits",
      server: { type: "http", url: "https://mcp.exa.ai/mcp" },
    },
  ],
  variables: [{ name: "EXA_API_KEY", required: true, what: "an API key", from: "https://dashboard.exa.ai/api-keys" }],
  confined: { network: ["api.exa.ai"] },
  session: "shared",
  folders: { "exa-mcp-server": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted"],
    "*crawl*": ["untrusted", "public"],
    "*fetch*": ["untrusted", "public"],
  },
  goodFor: ["web search", "semantic search", "code examples on the web", "read a page that was found"],
  notes: ["2 tools; add more with `?tools=` in the address of Exa's hosted server."],
  aliases: ["exa-mcp", "exa-search", "exa-ai"],
  homepage: "https://docs.exa.ai/reference/exa-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
