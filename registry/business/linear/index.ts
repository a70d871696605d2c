/** Linear, through the server that Linear runs itself. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "linear",
  category: "business",
  title: "Linear",
  description: "Finds, creates and updates issues, projects and comments in Linear",
  server: { type: "http", url: "https://mcp.linear.app/mcp" },
  variables: [],
  session: "shared",
  signIn: "oauth",
  labels: {
    "*": ["untrusted", "private"],
    list_teams: ["private"],
    list_users: ["private"],
    get_team: ["private"],
    get_user: ["private"],
    list_projects: ["private"],
    search_documentation: [],
    create_comment: ["public"],
    save_comment: ["public"],
  },
  goodFor: ["issues assigned to me", "create an issue", "projects and cycles", "comment on an issue"],
  notes: ["Sign in with a browser. A Linear API key as a bearer token in `headers` works, too."],
  aliases: ["linear-mcp", "linear.app"],
  homepage: "https://linear.app/docs/mcp",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
