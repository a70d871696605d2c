/** Notion's API, from the document in Notion's own server. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "notion-api",
  category: "apis",
  title: "Notion API",
  description: "Calls the Notion API: pages, blocks, databases, comments and search",
  server: {
    openapi: "https://raw.githubusercontent.com/makenotion/notion-mcp-server/HEAD/scripts/notion-openapi.json",
    headers: { Authorization: "Bearer ${NOTION_TOKEN}" },
  },
  variables: [
    {
      name: "NOTION_TOKEN",
      required: true,
      what: "the secret of an integration that your pages are shared with",
      from: "https://www.notion.so/profile/integrations",
    },
  ],
  session: "shared",
  signIn: "token",
  labels: { "*": ["untrusted", "private"], create_a_comment: ["public"] },
  goodFor: ["rows of a database", "blocks of a page", "comments", "search pages"],
  notes: ["An integration sees only the pages that were shared with it."],
  aliases: ["notion rest"],
  homepage: "https://developers.notion.com/reference/intro",
  checked: { date: "2026-11-29", how: "documented" },
} satisfies CatalogServer;
