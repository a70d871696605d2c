/** Stack Overflow, through its own server. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "stackoverflow",
  category: "knowledge",
  title: "Stack Overflow",
  description: "Searches questions and answers of Stack Overflow",
  server: { type: "http", url: "https://mcp.stackoverflow.com" },
  variables: [],
  session: "shared",
  signIn: "oauth",
  labels: {
    "*": ["untrusted"],
  },
  goodFor: ["solve an error message", "programming questions and answers", "accepted answers", "how others do it"],
  notes: [
    "Sign in with a Stack Overflow account in a browser.",
    "A beta, limited to 100 calls per day and account.",
    "Stack Overflow Enterprise sites have their own servers (`https://<site>.stackenterprise.co/mcp`).",
  ],
  aliases: ["stack-overflow", "stack overflow", "stackexchange"],
  homepage: "https://api.stackexchange.com/docs/mcp-server",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
