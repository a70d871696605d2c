/** Windsurf: one file of the user. */
import { join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { readEntry } from "./entry.ts";
import type { Host } from "./model.ts";
import { userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;

export const windsurf: Host = {
  name: "windsurf",
  title: "Windsurf",
  files({ env }) {
    const folder = join(homeOf(env), ".codeium");
    // Windsurf's plugins for other editors use the second file.
    return [
      userFile(join(folder, "windsurf", "mcp_config.json")),
      userFile(join(folder, "mcp_config.json"), "json", "plugins"),
    ];
  },
  sections: () => [{ path: servers }],
  ownSection: () => servers,
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ command, args }),
};
