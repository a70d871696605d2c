/** Sentry: errors and slow requests of running programs. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "sentry",
  category: "monitoring",
  title: "Sentry",
  description: "Finds errors, traces and releases in Sentry, and explains and updates issues",
  server: {
    command: "npx",
    args: ["-y", "@sentry/mcp-server"],
    env: { SENTRY_ACCESS_TOKEN: "${SENTRY_ACCESS_TOKEN}" },
  },
  alternatives: [
    {
      what: "the server hosted by Sentry; it requires signing in with a browser",
      server: { type: "http", url: "https://mcp.sentry.dev/mcp" },
    },
  ],
  variables: [
    {
      name: "SENTRY_ACCESS_TOKEN",
      required: true,
      what: "a user auth token; reading needs org:read, project:read, team:read, event:read",
      from: "https://sentry.io/settings/account/api/auth-tokens/",
    },
  ],
  confined: { network: ["sentry.io", "*.sentry.io"] },
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
    "find_*": ["private"],
    "create_*": ["private"],
    update_project: ["private"],
    whoami: ["private"],
    search_docs: [],
    get_doc: [],
  },
  goodFor: [
    "errors in production",
    "stack trace of an issue",
    "which release broke it",
    "performance traces",
    "create a project or a DSN",
  ],
  notes: [
    "About 22 tools; some create projects and keys.",
    "For a self-hosted Sentry, add `--host=sentry.example.com` to args.",
    "Searching in natural language also needs a language model key (OPENAI_API_KEY or ANTHROPIC_API_KEY in env).",
  ],
  aliases: ["sentry-mcp"],
  homepage: "https://docs.sentry.io/product/sentry-mcp/",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
