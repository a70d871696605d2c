/** Serena: code by its symbols, with the help of language servers. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "serena",
  category: "code",
  title: "Serena",
  description: "Finds, reads, renames and edits code by its symbols, in some forty languages",
  server: {
    command: "uvx",
    args: [
      "--from",
      "git+https://github.com/oraios/serena",
      "serena",
      "start-mcp-server",
      "--context",
      "claude-code",
      "--project-from-cwd",
    ],
  },
  alternatives: [
    {
      what: "installed once with `uv tool install -p 3.13 serena-agent@latest --prerelease=allow`; it starts faster",
      server: { command: "serena", args: ["start-mcp-server", "--context", "claude-code", "--project-from-cwd"] },
    },
  ],
  variables: [],
  confined: "it starts the language servers of your project",
  session: "private",
  signIn: "none",
  labels: {
    "*": [],
    "read_*": ["untrusted", "private"],
    "find_*": ["untrusted", "private"],
    search_for_pattern: ["untrusted", "private"],
    get_symbols_overview: ["untrusted", "private"],
    list_dir: ["untrusted", "private"],
    execute_shell_command: ["untrusted", "private", "public"],
  },
  goodFor: [
    "find where a symbol is used",
    "outline of a source file",
    "rename a symbol everywhere",
    "replace the body of a function",
    "notes about a project",
  ],
  notes: [
    "Install uv first: `uvx` is part of it. The first start builds Serena and fetches a language server: set a long startTimeoutMs.",
    "It treats the folder it starts in as the project; the context `claude-code` leaves out tools that such a host has itself.",
    "It changes files.",
  ],
  aliases: ["serena-agent", "oraios/serena"],
  homepage: "https://github.com/oraios/serena",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
