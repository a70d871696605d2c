/** Stack Overflow, through its own server. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "stackoverflow",
  category: "knowledge",
  title: "Stack Overflow",
  description: "Searches questions and answers of Stack Overflow",
  server: { type: "http", url: "https://mcp.stackoverflow.com" },
  variables: [],
  signIn: "oauth",
  goodFor: ["solve an error message", "programming questions and answers", "accepted answers", "how others do it"],
  notes: [
    "One signs in with a Stack Overflow account, in a browser.",
    "A beta, with a limit of 100 calls a day for each account.",
    "The servers of companies' own Stack Overflow (`https://<site>.stackenterprise.co/mcp`) are others.",
  ],
  aliases: ["stack-overflow", "stack overflow", "stackexchange"],
  homepage: "https://api.stackexchange.com/docs/mcp-server",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
