/** A notebook for thinking in steps. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "sequential-thinking",
  category: "reasoning",
  title: "Sequential Thinking",
  description: "Keeps a chain of thoughts in numbered steps that can be revised and branched",
  server: { command: "npx", args: ["-y", "@modelcontextprotocol/server-sequential-thinking"] },
  variables: [],
  confined: {},
  session: "private",
  signIn: "none",
  labels: {
    "*": [],
  },
  goodFor: ["think step by step", "plan a difficult task", "revise a plan", "compare several ways"],
  notes: ["One tool. It records the thoughts it is given and adds nothing; it keeps nothing after it ends."],
  aliases: ["sequentialthinking", "sequential thinking", "server-sequential-thinking"],
  homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/sequentialthinking",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
