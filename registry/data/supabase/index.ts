/** Supabase: Postgres and what stands around it. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "supabase",
  category: "data",
  title: "Supabase",
  description: "Manages Supabase projects: SQL, migrations, logs, edge functions, branches",
  server: {
    command: "npx",
    args: ["-y", "@supabase/mcp-server-supabase"],
    env: { SUPABASE_ACCESS_TOKEN: "${SUPABASE_ACCESS_TOKEN}" },
  },
  alternatives: [
    {
      what: "the server hosted by Supabase; it requires signing in with a browser",
      server: { type: "http", url: "https://mcp.supabase.com/mcp" },
    },
  ],
  variables: [
    {
      name: "SUPABASE_ACCESS_TOKEN",
      required: true,
      what: "a personal access token",
      from: "https://supabase.com/dashboard/account/tokens",
    },
  ],
  confined: { network: ["api.supabase.com"] },
  session: "shared",
  folders: { "@supabase/mcp-server-supabase": "none" },
  signIn: "token",
  labels: {
    "*": [],
    "list_*": ["private"],
    "get_*": ["private"],
    generate_typescript_types: ["private"],
    execute_sql: ["untrusted", "private"],
    query_logs: ["untrusted", "private"],
    get_logs: ["untrusted", "private"],
    get_cost: [],
    search_docs: [],
    deploy_edge_function: ["public"],
  },
  goodFor: ["run SQL", "apply a migration", "database schema", "TypeScript types of a database", "logs of a project"],
  notes: [
    "About 31 tools. Add `--read-only` and `--project-ref=<id>` to args to limit it to reading one project.",
    "Its documentation search contacts Supabase while tools are listed: without network access, it lists no tools.",
    "Meant for development: keep customer data out of its reach.",
  ],
  aliases: ["supabase-mcp"],
  homepage: "https://supabase.com/docs/guides/getting-started/mcp",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
