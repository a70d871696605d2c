/** Google's image model that is known as Nano Banana. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "nano-banana",
  category: "ai-models",
  title: "Nano Banana",
  description: "Makes pictures from words with Gemini, and changes them step by step",
  server: { command: "npx", args: ["-y", "nano-banana-mcp"], env: { GEMINI_API_KEY: "${GEMINI_API_KEY}" } },
  variables: [
    {
      name: "GEMINI_API_KEY",
      required: true,
      what: "a Gemini API key",
      from: "https://aistudio.google.com/apikey",
    },
  ],
  confined: { network: ["generativelanguage.googleapis.com"] },
  session: "private",
  signIn: "token",
  labels: {
    "*": [],
  },
  goodFor: ["generate an image", "edit a picture", "combine several pictures", "illustrations and mock-ups"],
  notes: [
    "6 tools. One of them writes the key it receives to a file in the working directory: pass the key as a variable instead.",
    "Images come back as image blocks and as files. Google charges for each.",
  ],
  aliases: ["nanobanana", "nano banana", "gemini image", "gemini-2.5-flash-image"],
  homepage: "https://github.com/ConechoAI/Nano-Banana-MCP",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
