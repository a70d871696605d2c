/** Cursor: `~/.cursor/mcp.json`, and `.cursor/mcp.json` of a project. */
import { join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { readEntry } from "./entry.ts";
import type { Host } from "./model.ts";
import { projectFiles, userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;
const fileName = join(".cursor", "mcp.json");

export const cursor: Host = {
  name: "cursor",
  title: "Cursor",
  files: (surroundings) => [
    userFile(join(homeOf(surroundings.env), fileName)),
    ...projectFiles([fileName], surroundings),
  ],
  sections: () => [{ path: servers }],
  ownSection: () => servers,
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ command, args }),
};
