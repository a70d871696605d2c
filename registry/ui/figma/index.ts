/** Figma designs, made plain for those who write code of them. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "figma",
  category: "ui",
  title: "Figma (Framelink)",
  description: "Reads layout, styles and pictures of a Figma design, to build it in code",
  server: {
    command: "npx",
    args: ["-y", "figma-developer-mcp", "--stdio"],
    env: { FIGMA_API_KEY: "${FIGMA_API_KEY}" },
  },
  alternatives: [
    {
      what: "Figma's own server, with different tools; it requires signing in with a browser, and Figma chooses which hosts may connect",
      server: { type: "http", url: "https://mcp.figma.com/mcp" },
    },
  ],
  variables: [
    {
      name: "FIGMA_API_KEY",
      required: true,
      what: "a personal access token with read access to files",
      from: "https://help.figma.com/hc/en-us/articles/8085703771159-Manage-personal-access-tokens",
    },
  ],
  confined: { network: ["api.figma.com"] },
  session: "shared",
  signIn: "token",
  labels: {
    "*": ["untrusted", "private"],
  },
  goodFor: ["build a Figma design in code", "colours and fonts of a design", "download icons and pictures of a design"],
  notes: ["2 tools. Without `--stdio` it serves HTTP. Give it the link of a frame; a whole file is too large."],
  aliases: ["framelink", "figma-context-mcp", "figma-mcp"],
  homepage: "https://www.framelink.ai",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
