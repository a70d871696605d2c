/** Brave's own index of the web. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "brave-search",
  category: "search",
  title: "Brave Search",
  description: "Searches the web, news, images, videos and places with Brave Search",
  server: {
    command: "npx",
    args: ["-y", "@brave/brave-search-mcp-server"],
    env: { BRAVE_API_KEY: "${BRAVE_API_KEY}" },
  },
  alternatives: [
    {
      what: "the old reference server with 2 tools; no longer maintained",
      server: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-brave-search"],
        env: { BRAVE_API_KEY: "${BRAVE_API_KEY}" },
      },
    },
  ],
  variables: [
    {
      name: "BRAVE_API_KEY",
      required: true,
      what: "a Brave Search API key",
      from: "https://api-dashboard.search.brave.com/app/keys",
    },
  ],
  confined: { network: ["api.search.brave.com"] },
  session: "shared",
  folders: { "@brave/brave-search-mcp-server": "none", "@modelcontextprotocol/server-brave-search": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted"],
  },
  goodFor: ["web search", "news of today", "find images", "shops and restaurants nearby"],
  notes: [
    "Some of its tools answer only for paid plans.",
    "The free plan allows one query per second: run searches one after another.",
  ],
  aliases: ["brave", "brave-search-mcp"],
  homepage: "https://github.com/brave/brave-search-mcp-server",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
