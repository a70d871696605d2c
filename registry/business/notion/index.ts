/** Notion: pages, databases and comments. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "notion",
  category: "business",
  title: "Notion",
  description: "Searches, reads and writes pages, databases and comments in Notion",
  server: { command: "npx", args: ["-y", "@notionhq/notion-mcp-server"], env: { NOTION_TOKEN: "${NOTION_TOKEN}" } },
  alternatives: [
    {
      what: "the server hosted by Notion, with different tools that take Markdown; it requires signing in with a browser",
      server: { type: "http", url: "https://mcp.notion.com/mcp" },
    },
  ],
  variables: [
    {
      name: "NOTION_TOKEN",
      required: true,
      what: "the secret of an internal integration; it sees only pages shared with it",
      from: "https://www.notion.so/profile/integrations",
    },
  ],
  confined: { network: ["api.notion.com"] },
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
    "*user*": ["private"],
    "*self": ["private"],
    "*database": ["private"],
    "*retrieve-a-data-source": ["private"],
    "*templates": ["private"],
    "*create*": [],
    "*delete*": [],
    "*create-a-comment": ["public"],
    "*create-comment": ["public"],
  },
  goodFor: ["search the team's notes", "create a page", "query a database", "add a comment", "meeting notes"],
  notes: [
    "24 tools with names like `API-post-page`: they expose Notion's raw API, including blocks.",
    "It can delete blocks. Notion recommends its hosted server.",
  ],
  aliases: ["notion-mcp", "notion-mcp-server"],
  homepage: "https://developers.notion.com/docs/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
