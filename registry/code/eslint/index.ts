/** ESLint, by ESLint. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "eslint",
  category: "code",
  title: "ESLint",
  description: "Lints JavaScript and TypeScript files with the project's own ESLint config",
  server: { command: "npx", args: ["-y", "@eslint/mcp@latest"] },
  variables: [],
  confined: { read: ["."] },
  session: "shared",
  signIn: "none",
  labels: {
    "*": ["private"],
  },
  results,
  goodFor: ["lint files", "errors in JavaScript", "code style", "before a commit"],
  notes: ["One tool. It requires absolute paths, and an ESLint 9 or later config in the project."],
  aliases: ["eslint-mcp"],
  homepage: "https://eslint.org/docs/latest/use/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
