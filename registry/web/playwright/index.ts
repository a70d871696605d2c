/** A browser, driven by Playwright. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "playwright",
  category: "web",
  title: "Playwright",
  description: "Drives a browser: opens pages, clicks, types, reads what is on them, takes screenshots",
  server: { command: "npx", args: ["-y", "@playwright/mcp@latest"] },
  alternatives: [
    {
      what: "another project of 33 tools, which calls web APIs and writes tests as well",
      server: { command: "npx", args: ["-y", "@executeautomation/playwright-mcp-server"] },
    },
  ],
  variables: [],
  signIn: "none",
  goodFor: [
    "open a website and click",
    "fill in a form",
    "test a web app",
    "take a screenshot",
    "read a page that needs JavaScript",
  ],
  notes: [
    "About 25 tools; `--caps vision,pdf,devtools` adds some twenty.",
    "It needs a browser: Chrome, or what `npx playwright install chromium` provides. On a server without a screen add `--headless`.",
    "Its browser keeps cookies between sessions unless it is started with `--isolated`.",
  ],
  aliases: ["playwright-mcp", "browser", "microsoft/playwright-mcp"],
  homepage: "https://github.com/microsoft/playwright-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
