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
      what: "the server that Supabase runs; one signs in with a browser",
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
  signIn: "token",
  goodFor: ["run SQL", "apply a migration", "database schema", "TypeScript types of a database", "logs of a project"],
  notes: [
    "About 31 tools. Add `--read-only` and `--project-ref=<id>` to args to keep it to reading one project.",
    "Its search of the documentation asks Supabase while tools are listed: without the network there are none.",
    "Meant for development: it should not have the data of customers in reach.",
  ],
  aliases: ["supabase-mcp"],
  homepage: "https://supabase.com/docs/guides/getting-started/mcp",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
