/** Chrome and its developer tools. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "chrome-devtools",
  category: "web",
  title: "Chrome DevTools",
  description: "Debugs pages in Chrome: console, network, performance traces, styles, screenshots, input",
  server: { command: "npx", args: ["-y", "chrome-devtools-mcp@latest"] },
  variables: [],
  confined: "the sandbox of its browser does not work inside another one",
  session: "private",
  signIn: "none",
  labels: {
    "*": ["untrusted"],
    navigate_page: ["untrusted", "public"],
    new_page: ["untrusted", "public"],
    evaluate_script: ["untrusted", "public"],
    "fill*": ["untrusted", "public"],
    type_text: ["untrusted", "public"],
    press_key: ["untrusted", "public"],
    upload_file: ["untrusted", "public"],
    handle_dialog: ["untrusted", "public"],
    "*_pwa": ["untrusted", "public"],
    emulate: ["untrusted", "public"],
    "close_*": [],
    "*extension*": [],
    resize_page: [],
    uninstall_pwa: [],
  },
  results,
  goodFor: [
    "why is a page slow",
    "errors in the console",
    "network requests of a page",
    "Lighthouse audit",
    "emulate a phone",
  ],
  notes: [
    "About 32 tools. It requires Chrome and opens a window on the first call; `--headless` opens none.",
    "`--browserUrl http://127.0.0.1:9222` attaches to a running Chrome; `--isolated` uses a temporary profile.",
    "It reports usage to Google unless started with `--no-usage-statistics`.",
  ],
  aliases: ["chrome", "devtools", "chrome devtools", "chrome-devtools-mcp"],
  homepage: "https://github.com/ChromeDevTools/chrome-devtools-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
