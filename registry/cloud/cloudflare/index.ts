/** Cloudflare, through the server that Cloudflare runs itself. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "cloudflare",
  category: "cloud",
  title: "Cloudflare",
  description: "Searches and calls the whole Cloudflare API: DNS, Workers, R2, D1, Zero Trust",
  server: { type: "http", url: "https://mcp.cloudflare.com/mcp" },
  alternatives: [
    {
      what: "Cloudflare's documentation only, without an account",
      server: { type: "http", url: "https://docs.mcp.cloudflare.com/mcp" },
    },
    {
      what: "Workers and their storage only",
      server: { type: "http", url: "https://bindings.mcp.cloudflare.com/mcp" },
    },
    {
      what: "logs and analytics of Workers only",
      server: { type: "http", url: "https://observability.mcp.cloudflare.com/mcp" },
    },
  ],
  variables: [],
  session: "shared",
  signIn: "oauth",
  labels: {
    "*": ["private"],
    kv_get: ["untrusted", "private"],
    r2_get_object: ["untrusted", "private"],
    d1_query: ["untrusted", "private"],
    queue_get_message: ["untrusted", "private"],
    worker_put: ["public"],
    worker_deploy: ["public"],
    "queue_send_*": ["public"],
    template_create_worker: ["public"],
    "*delete*": [],
    "*create*": [],
    "ai_*": [],
    "template_*": [],
    kv_put: [],
    r2_put_object: [],
    secret_put: [],
    "env_var_*set": [],
  },
  goodFor: ["DNS records", "deploy a Worker", "KV, R2 and D1", "logs of a Worker", "Cloudflare documentation"],
  notes: [
    "2 tools: one searches the API's description, the other runs code against the API. It can change everything that the account can.",
    "npm's `@cloudflare/mcp-server-cloudflare` is its predecessor and no longer maintained.",
  ],
  aliases: ["cloudflare-mcp", "@cloudflare/mcp-server-cloudflare", "workers"],
  homepage: "https://developers.cloudflare.com/agents/model-context-protocol/mcp-servers-for-cloudflare/",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
