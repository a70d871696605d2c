/** Mermaid diagrams as pictures. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "mermaid",
  category: "ui",
  title: "Mermaid",
  description: "Turns Mermaid source into a diagram: SVG, a picture or a link",
  server: { command: "npx", args: ["-y", "mcp-mermaid"] },
  variables: [],
  confined: "it draws with a browser, whose own sandbox does not work inside another one",
  session: "shared",
  signIn: "none",
  labels: {
    "*": ["public"],
  },
  results,
  goodFor: ["flowchart", "sequence diagram", "entity relationship diagram", "architecture diagram", "Gantt chart"],
  notes: [
    "One tool. It draws in Playwright's headless browser. Its installation downloads that with `playwright install --with-deps chromium`: the first start is slow, and as root it also installs system packages.",
    "It takes Mermaid source, which the agent writes itself.",
  ],
  aliases: ["mermaid-mcp", "mermaid diagrams"],
  homepage: "https://github.com/hustcc/mcp-mermaid",
  checked: { date: "2026-11-21", how: "documented" },
} satisfies CatalogServer;
