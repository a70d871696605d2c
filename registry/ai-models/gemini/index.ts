/** Google's Gemini as a second opinion. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "gemini",
  category: "ai-models",
  title: "Gemini",
  description: "Asks Google's Gemini, also about large files and whole folders of code",
  server: { command: "npx", args: ["-y", "gemini-mcp-tool"] },
  alternatives: [
    {
      what: "another project; it needs a key instead of the Gemini CLI, and network access at startup",
      server: { command: "npx", args: ["-y", "@rlabs-inc/gemini-mcp"], env: { GEMINI_API_KEY: "${GEMINI_API_KEY}" } },
    },
  ],
  variables: [
    {
      name: "GEMINI_API_KEY",
      required: false,
      what: "a Gemini API key, for the alternative",
      from: "https://aistudio.google.com/apikey",
    },
  ],
  confined: "it starts the program gemini, which signs in with your files",
  session: "shared",
  signIn: "program",
  labels: {
    "*": [],
    "ask-gemini": ["private"],
    "fetch-chunk": ["private"],
  },
  goodFor: ["second opinion of another model", "analyse a large codebase", "brainstorm ideas", "summarise long files"],
  notes: [
    "It calls the Gemini CLI. Install it and sign in first: `npm install -g @google/gemini-cli`, then `gemini`.",
    "5 tools, one of them called `Help`. Answers can take minutes.",
    "Without the CLI it starts and lists its tools, but every call fails.",
  ],
  aliases: ["gemini-cli", "gemini-mcp", "google gemini"],
  homepage: "https://github.com/jamubc/gemini-mcp-tool",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
