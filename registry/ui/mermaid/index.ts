/** Mermaid diagrams as pictures. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "mermaid",
  category: "ui",
  title: "Mermaid",
  description: "Turns Mermaid source into a diagram: SVG, a picture or a link",
  server: { command: "npx", args: ["-y", "mcp-mermaid"] },
  variables: [],
  signIn: "none",
  goodFor: ["flowchart", "sequence diagram", "entity relationship diagram", "architecture diagram", "Gantt chart"],
  notes: [
    "One tool. It draws in a headless browser of Playwright's, which installing it downloads, with `playwright install --with-deps chromium`: slow at first, and as root it installs packages of the system too.",
    "It asks for the Mermaid source: the agent writes that itself.",
  ],
  aliases: ["mermaid-mcp", "mermaid diagrams"],
  homepage: "https://github.com/hustcc/mcp-mermaid",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
