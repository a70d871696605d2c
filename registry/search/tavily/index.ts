/** Tavily: a search engine made for agents. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "tavily",
  category: "search",
  title: "Tavily",
  description: "Searches the web, and extracts, crawls and maps the sites it finds",
  server: { command: "npx", args: ["-y", "tavily-mcp"], env: { TAVILY_API_KEY: "${TAVILY_API_KEY}" } },
  alternatives: [
    {
      what: "the server hosted by Tavily; without the header it asks you to sign in with a browser",
      server: {
        type: "http",
        url: "https://mcp.tavily.com/mcp",
        headers: { Authorization: "Bearer ${TAVILY_API_KEY}" },
      },
    },
  ],
  variables: [{ name: "TAVILY_API_KEY", required: true, what: "an API key", from: "https://app.tavily.com/home" }],
  confined: { network: ["api.tavily.com"] },
  session: "shared",
  folders: { "tavily-mcp": "none" },
  signIn: "token",
  labels: {
    "*": ["untrusted"],
    "*extract*": ["untrusted", "public"],
    "*crawl*": ["untrusted", "public"],
    "*map*": ["untrusted", "public"],
  },
  goodFor: ["web search", "research a topic", "text of several pages", "news", "map of a website"],
  notes: ["5 tools. Research takes minutes; each call uses credits."],
  aliases: ["tavily-search"],
  homepage: "https://docs.tavily.com/documentation/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
