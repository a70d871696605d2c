/** Git, in one repository of this machine. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "git",
  category: "code",
  title: "Git",
  description: "Reads and changes a local git repository: status, diff, log, add, commit, branches",
  server: { command: "uvx", args: ["mcp-server-git", "--repository", "${GIT_REPOSITORY:-.}"] },
  variables: [
    { name: "GIT_REPOSITORY", required: false, what: "the repository folder; defaults to the folder it starts in" },
  ],
  confined: {
    server: {
      command: "mcp-server-git",
      args: ["--repository", "${GIT_REPOSITORY:-.}"],
      sandbox: { read: ["~/.gitconfig"], write: ["${GIT_REPOSITORY:-.}", "${GIT_REPOSITORY:-.}/.git"] },
    },
  },
  session: "shared",
  folders: { "mcp-server-git": "named" },
  signIn: "none",
  labels: {
    "*": [],
    git_status: ["private"],
    git_branch: ["private"],
    "git_diff*": ["untrusted", "private"],
    git_log: ["untrusted", "private"],
    git_show: ["untrusted", "private"],
  },
  goodFor: ["what changed", "commit changes", "history of a file", "create a branch"],
  notes: ["About 12 tools; it neither pushes nor pulls. Install uv first: `uvx` is part of it."],
  aliases: ["git-mcp", "server-git"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/git",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
