/** The registry of shadcn/ui components, and any other registry of that kind. */
import type { CatalogServer } from "../../types.ts";
import { results } from "./results.ts";

export const server = {
  name: "shadcn",
  category: "ui",
  title: "shadcn/ui",
  description: "Finds shadcn/ui components and blocks, shows their code and examples, and how to add them",
  server: { command: "npx", args: ["-y", "shadcn@latest", "mcp"] },
  variables: [],
  confined: { read: ["."], network: ["ui.shadcn.com"] },
  session: "shared",
  signIn: "none",
  labels: {
    "*": ["untrusted"],
    get_project_registries: [],
    get_add_command_for_items: [],
    get_audit_checklist: [],
  },
  results,
  goodFor: [
    "React components",
    "Tailwind UI blocks",
    "examples of a component",
    "add a component to a project",
    "a private registry of components",
  ],
  notes: [
    "7 read-only tools: they return the command that adds a component.",
    "It uses the registries in components.json of the folder it starts in.",
  ],
  aliases: ["shadcn-ui", "shadcn/ui", "shadcn mcp"],
  homepage: "https://ui.shadcn.com/docs/mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
