/** Claude Desktop: one file of the user, with local programs only. */
import { join } from "node:path";
import { readEntry } from "./entry.ts";
import type { Host } from "./model.ts";
import { applicationData, userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;

export const claudeDesktop: Host = {
  name: "claude-desktop",
  title: "Claude Desktop",
  files: (surroundings) => [userFile(join(applicationData(surroundings), "Claude", "claude_desktop_config.json"))],
  sections: () => [{ path: servers }],
  ownSection: () => servers,
  read: (raw, scene) => readEntry(raw, "none", scene),
  ownEntry: ([command, ...args]) => ({ command, args }),
};
