/** Files of this machine, within the folders it is given. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "filesystem",
  category: "files",
  title: "Filesystem",
  description: "Reads, writes, moves and searches files within folders that are allowed",
  server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "${FILESYSTEM_ROOT:-.}"] },
  variables: [
    { name: "FILESYSTEM_ROOT", required: false, what: "the folder it may access; defaults to the folder it starts in" },
  ],
  confined: { write: ["${FILESYSTEM_ROOT:-.}"] },
  session: "shared",
  folders: { "@modelcontextprotocol/server-filesystem": "named" },
  signIn: "none",
  labels: {
    "*": [],
    "read_*": ["untrusted", "private"],
    "list_directory*": ["untrusted", "private"],
    directory_tree: ["untrusted", "private"],
    search_files: ["untrusted", "private"],
    edit_file: ["untrusted", "private"],
  },
  results,
  goodFor: ["read files", "write a file", "list a folder", "find files by name", "move or rename files"],
  notes: ["14 tools; it overwrites without asking.", "Add one argument for each further folder."],
  aliases: ["fs", "files", "server-filesystem"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/filesystem",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
