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
      what: "the server that Notion runs, with other tools that take Markdown; one signs in with a browser",
      server: { type: "http", url: "https://mcp.notion.com/mcp" },
    },
  ],
  variables: [
    {
      name: "NOTION_TOKEN",
      required: true,
      what: "the secret of an internal integration; only pages that were shared with it are seen",
      from: "https://www.notion.so/profile/integrations",
    },
  ],
  signIn: "token",
  goodFor: ["search the team's notes", "create a page", "query a database", "add a comment", "meeting notes"],
  notes: [
    "24 tools with names like `API-post-page`: they are Notion's API as it is, blocks and all.",
    "It can delete blocks. Notion favours the server that it runs itself.",
  ],
  aliases: ["notion-mcp", "notion-mcp-server"],
  homepage: "https://developers.notion.com/docs/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
