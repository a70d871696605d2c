/** One web page at a time, as text. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "fetch",
  category: "web",
  title: "Fetch",
  description: "Reads a web page and gives it as Markdown",
  server: { command: "uvx", args: ["mcp-server-fetch"] },
  alternatives: [
    {
      what: "a different project, on npm: 6 tools for HTML, Markdown, text, JSON, articles and YouTube transcripts",
      server: { command: "npx", args: ["-y", "mcp-fetch-server"] },
    },
    {
      what: "a third project, on npm, that also shows the pictures of a page",
      server: { command: "npx", args: ["-y", "@kazuph/mcp-fetch"] },
    },
  ],
  variables: [],
  confined: { server: { command: "mcp-server-fetch", sandbox: { network: true } } },
  session: "shared",
  folders: { "mcp-server-fetch": "none" },
  signIn: "none",
  labels: {
    "*": ["untrusted", "public"],
  },
  goodFor: [
    "read a web page",
    "download an article as Markdown",
    "call a web API that answers JSON",
    "read a long page in parts",
  ],
  notes: [
    "One tool. Install uv first: `uvx` is part of it.",
    "It obeys robots.txt and runs no JavaScript. It cuts long pages and continues on request.",
    "It can also reach addresses in your own network.",
  ],
  aliases: ["mcp-fetch", "web-fetch", "server-fetch"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/fetch",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
