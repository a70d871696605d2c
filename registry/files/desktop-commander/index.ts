/** Desktop Commander: files and a terminal on this machine. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "desktop-commander",
  category: "files",
  title: "Desktop Commander",
  description: "Runs programs in a terminal, and reads, edits and searches files anywhere on this machine",
  server: { command: "npx", args: ["-y", "@wonderwhy-er/desktop-commander@latest"] },
  variables: [],
  confined: "it runs any command of yours",
  session: "private",
  signIn: "none",
  labels: {
    "*": [],
    read_file: ["untrusted", "private", "public"],
    start_process: ["untrusted", "private", "public"],
    interact_with_process: ["untrusted", "private", "public"],
    "read_*": ["untrusted", "private"],
    list_directory: ["untrusted", "private"],
    start_search: ["untrusted", "private"],
    get_more_search_results: ["untrusted", "private"],
    edit_block: ["untrusted", "private"],
    get_recent_tool_calls: ["untrusted", "private"],
    list_processes: ["private"],
    get_config: ["private"],
  },
  results,
  goodFor: [
    "run a command",
    "long-running programs",
    "edit files in place",
    "search in files",
    "read PDF and Excel files",
  ],
  notes: [
    "About 26 tools, with all permissions of the user who starts it: treat it like a shell.",
    "It reports usage to its makers unless you turn that off with its tool `set_config_value`.",
  ],
  aliases: ["desktopcommander", "desktop commander", "desktopcommandermcp"],
  homepage: "https://desktopcommander.app",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
