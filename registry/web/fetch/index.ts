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
      what: "another project, on npm: 6 tools for HTML, Markdown, text, JSON, articles and YouTube transcripts",
      server: { command: "npx", args: ["-y", "mcp-fetch-server"] },
    },
    {
      what: "a third one, on npm, that shows the pictures of a page as well",
      server: { command: "npx", args: ["-y", "@kazuph/mcp-fetch"] },
    },
  ],
  variables: [],
  signIn: "none",
  goodFor: [
    "read a web page",
    "download an article as Markdown",
    "call a web API that answers JSON",
    "read a long page in parts",
  ],
  notes: [
    "One tool. `uvx` belongs to uv, which has to be installed.",
    "It obeys robots.txt, runs no JavaScript, and cuts long pages; it goes on from where it stopped when asked to.",
    "It reaches addresses of your own network as well.",
  ],
  aliases: ["mcp-fetch", "web-fetch", "server-fetch"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/fetch",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
