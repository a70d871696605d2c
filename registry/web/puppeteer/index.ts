/** A browser, driven by Puppeteer. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "puppeteer",
  category: "web",
  title: "Puppeteer",
  description: "Drives a browser with a few plain tools: navigate, click, fill, select, screenshot, run script",
  server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-puppeteer"] },
  variables: [],
  confined: "the sandbox of its browser does not work inside another one",
  session: "private",
  signIn: "none",
  labels: {
    "*": ["untrusted"],
    puppeteer_navigate: ["untrusted", "public"],
    puppeteer_evaluate: ["untrusted", "public"],
    puppeteer_fill: ["untrusted", "public"],
    puppeteer_select: ["untrusted", "public"],
  },
  results,
  goodFor: ["take a screenshot", "click through a website", "run JavaScript in a page"],
  notes: [
    "7 tools. The old reference server: it works but is no longer maintained. playwright and chrome-devtools are maintained.",
    "Installing it downloads a browser.",
  ],
  aliases: ["server-puppeteer"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/puppeteer",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
