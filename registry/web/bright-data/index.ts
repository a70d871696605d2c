/** Bright Data: search results and pages that block others. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "bright-data",
  category: "web",
  title: "Bright Data",
  description: "Searches the web and reads pages that block robots, through Bright Data's network",
  server: {
    command: "npx",
    args: ["-y", "@brightdata/mcp"],
    env: { API_TOKEN: "${BRIGHTDATA_API_TOKEN}", PRO_MODE: "${BRIGHTDATA_PRO_MODE:-false}" },
  },
  variables: [
    {
      name: "BRIGHTDATA_API_TOKEN",
      required: true,
      what: "an API token; the server calls it API_TOKEN",
      from: "https://brightdata.com/cp/setting/users",
    },
    { name: "BRIGHTDATA_PRO_MODE", required: false, what: "`true` for all tools, which cost more" },
  ],
  confined: { network: ["api.brightdata.com"] },
  session: "private",
  signIn: "token",
  labels: {
    "*": ["untrusted", "public"],
    "search_engine*": ["untrusted"],
    discover: ["untrusted"],
    search_dataset: ["untrusted"],
    web_data_npm_package: ["untrusted"],
    web_data_pypi_package: ["untrusted"],
    "scraping_browser_*": ["untrusted"],
    scraping_browser_navigate: ["untrusted", "public"],
    "scraping_browser_type*": ["untrusted", "public"],
    "scraping_browser_fill*": ["untrusted", "public"],
    list_dataset_fields: [],
    session_stats: [],
  },
  goodFor: [
    "search Google",
    "scrape a page that blocks bots",
    "product data of shops",
    "social media profiles",
    "many pages at once",
  ],
  notes: ["5 tools; over 70 with BRIGHTDATA_PRO_MODE=true.", "Requests cost money beyond a free allowance."],
  aliases: ["brightdata", "brightdata-mcp", "bright data"],
  homepage: "https://github.com/brightdata/brightdata-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
