/** The Godot game engine, driven through its own command line. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "godot",
  category: "game-dev",
  title: "Godot MCP",
  description: "Runs Godot projects, reads their errors, and builds scenes, nodes and sprites",
  server: { command: "npx", args: ["-y", "@coding-solo/godot-mcp"], env: { GODOT_PATH: "${GODOT_PATH:-}" } },
  variables: [
    {
      name: "GODOT_PATH",
      required: false,
      what: "the path of the Godot program, if it is not found automatically",
      from: "https://godotengine.org/download/",
    },
  ],
  confined: "it starts the Godot editor",
  session: "private",
  signIn: "none",
  labels: {
    "*": [],
    list_projects: ["private"],
    get_project_info: ["private"],
    get_debug_output: ["private"],
  },
  goodFor: [
    "run a Godot game",
    "read the debug output of a game",
    "create a scene",
    "add nodes and sprites",
    "UIDs of resources",
  ],
  notes: [
    "About 14 tools. It requires Godot.",
    "It writes into the project's scenes: keep the project under version control.",
  ],
  aliases: ["godot-mcp", "godot engine"],
  homepage: "https://github.com/Coding-Solo/godot-mcp",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
