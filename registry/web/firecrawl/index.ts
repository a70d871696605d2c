/** Firecrawl: pages and whole sites as clean text. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "firecrawl",
  category: "web",
  title: "Firecrawl",
  description: "Scrapes, crawls, maps and searches websites, and extracts data from them by a schema",
  server: { command: "npx", args: ["-y", "firecrawl-mcp"], env: { FIRECRAWL_API_KEY: "${FIRECRAWL_API_KEY}" } },
  alternatives: [
    {
      what: "the server hosted by Firecrawl; without a key it offers only scrape, search and interact, at a low rate",
      server: { type: "http", url: "https://mcp.firecrawl.dev/v2/mcp" },
    },
  ],
  variables: [
    { name: "FIRECRAWL_API_KEY", required: true, what: "an API key", from: "https://www.firecrawl.dev/app/api-keys" },
  ],
  confined: { network: ["api.firecrawl.dev"] },
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted", "public"],
    firecrawl_search: ["untrusted"],
    firecrawl_check_crawl_status: ["untrusted"],
    firecrawl_agent_status: ["untrusted"],
    "firecrawl_research_*": ["untrusted"],
    "firecrawl_monitor_check*": ["untrusted"],
    firecrawl_parse: ["untrusted", "private"],
    firecrawl_monitor_list: ["untrusted", "private"],
    firecrawl_monitor_get: ["untrusted", "private"],
    "*feedback": ["public"],
    firecrawl_interact_stop: [],
    firecrawl_monitor_delete: [],
    firecrawl_monitor_run: [],
  },
  goodFor: [
    "web page to Markdown",
    "crawl a whole site",
    "list all pages of a site",
    "structured data from pages",
    "watch a page for changes",
  ],
  notes: [
    "26 tools. Crawls continue after the call: one tool starts them, another reports their progress.",
    "Each page uses credits. For a self-hosted Firecrawl, set FIRECRAWL_API_URL in env.",
  ],
  aliases: ["firecrawl-mcp-server", "fire crawl"],
  homepage: "https://docs.firecrawl.dev/mcp-server",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
