/** A browser, driven by Playwright. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "playwright",
  category: "web",
  title: "Playwright",
  description: "Drives a browser: opens pages, clicks, types, reads what is on them, takes screenshots",
  server: { command: "npx", args: ["-y", "@playwright/mcp@latest"] },
  alternatives: [
    {
      what: "a different project with 33 tools, which also calls web APIs and writes tests",
      server: { command: "npx", args: ["-y", "@executeautomation/playwright-mcp-server"] },
    },
  ],
  variables: [],
  session: "private",
  signIn: "none",
  labels: {
    "*": ["untrusted"],
    browser_navigate: ["untrusted", "public"],
    browser_evaluate: ["untrusted", "public"],
    "browser_run_code*": ["untrusted", "public"],
    browser_type: ["untrusted", "public"],
    browser_fill_form: ["untrusted", "public"],
    browser_file_upload: ["untrusted", "public"],
  },
  results,
  goodFor: [
    "open a website and click",
    "fill in a form",
    "test a web app",
    "take a screenshot",
    "read a page that needs JavaScript",
  ],
  notes: [
    "About 25 tools; `--caps vision,pdf,devtools` adds about twenty.",
    "It requires a browser: Chrome, or the one that `npx playwright install chromium` installs. On a machine without a display, add `--headless`.",
    "Its browser keeps cookies between sessions unless it is started with `--isolated`.",
  ],
  aliases: ["playwright-mcp", "browser", "microsoft/playwright-mcp"],
  homepage: "https://github.com/microsoft/playwright-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
