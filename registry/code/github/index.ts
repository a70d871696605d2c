/** GitHub, through the server that GitHub runs itself. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "github",
  category: "code",
  title: "GitHub",
  description: "Works with repositories, issues, pull requests, actions and code search on GitHub",
  server: {
    type: "http",
    url: "https://api.githubcopilot.com/mcp/",
    headers: { Authorization: "Bearer ${GITHUB_PERSONAL_ACCESS_TOKEN}" },
  },
  alternatives: [
    {
      what: "the same server in a container, also for GitHub Enterprise Server",
      server: {
        command: "docker",
        args: ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${GITHUB_PERSONAL_ACCESS_TOKEN}" },
      },
    },
    {
      what: "the old reference server with 26 tools; no longer maintained",
      server: {
        command: "npx",
        args: ["-y", "@modelcontextprotocol/server-github"],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: "${GITHUB_PERSONAL_ACCESS_TOKEN}" },
      },
    },
  ],
  variables: [
    {
      name: "GITHUB_PERSONAL_ACCESS_TOKEN",
      required: true,
      what: "a personal access token; grant it only the permissions it needs",
      from: "https://github.com/settings/personal-access-tokens/new",
    },
  ],
  session: "shared",
  signIn: "token",
  goodFor: [
    "issues and pull requests",
    "review code",
    "search code on GitHub",
    "failed workflow runs",
    "create a branch or a release",
  ],
  notes: [
    "Toolsets decide which tools exist: the header `X-MCP-Toolsets` selects them, `X-MCP-Readonly: true` leaves out every tool that writes.",
    "npm's `@modelcontextprotocol/server-github` was retired in 2025; its successor is not on npm.",
    "It can push, merge and delete, as far as the token allows.",
  ],
  aliases: ["github-mcp-server", "github mcp", "gh"],
  homepage: "https://github.com/github/github-mcp-server",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
