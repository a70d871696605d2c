/** Apify: thousands of ready-made scrapers, called Actors. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "apify",
  category: "web",
  title: "Apify",
  description: "Finds and runs Apify Actors: ready-made scrapers for shops, maps, search and social networks",
  server: {
    command: "npx",
    args: ["-y", "@apify/actors-mcp-server", "--tools", "actors,docs,runs,storage,experimental"],
    env: { APIFY_TOKEN: "${APIFY_TOKEN}" },
  },
  alternatives: [
    {
      what: "the server hosted by Apify; without the header it asks you to sign in with a browser",
      server: { type: "http", url: "https://mcp.apify.com", headers: { Authorization: "Bearer ${APIFY_TOKEN}" } },
    },
  ],
  variables: [
    {
      name: "APIFY_TOKEN",
      required: true,
      what: "an API token",
      from: "https://console.apify.com/settings/integrations",
    },
  ],
  confined: { network: ["*.apify.com"] },
  session: "private",
  signIn: "token",
  labels: {
    "*": ["untrusted", "public"],
    "search-actors": ["untrusted"],
    "fetch-actor-details": ["untrusted"],
    "get-*": ["private"],
    "get-dataset-items": ["untrusted", "private"],
    "get-key-value-store-record": ["untrusted", "private"],
    "get-actor-log": ["untrusted", "private"],
    "get-actor-output": ["untrusted", "private"],
    "*-docs": [],
    "abort-*": [],
    "add-actor": [],
  },
  goodFor: [
    "scrape a website",
    "Google Maps places and reviews",
    "Instagram, TikTok and LinkedIn data",
    "search for a scraper",
    "download a dataset of a run",
  ],
  notes: [
    "19 tools with `--tools` as above; list names of Actors there to make each of them a tool.",
    "Runs cost money and may take minutes.",
    "It reports usage to Apify unless started with `--telemetry-enabled=false`.",
  ],
  aliases: ["apify-mcp-server", "actors-mcp-server", "apify actors"],
  homepage: "https://docs.apify.com/platform/integrations/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
