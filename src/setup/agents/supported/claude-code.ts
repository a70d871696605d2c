/** Claude Code: `~/.claude.json` for the user and the user's projects, `.mcp.json` for a shared project. */
import { dirname, join } from "node:path";
import { isObject, objectAt, stringsIn, valueAt } from "../../../base/json-object.ts";
import { homeOf } from "../../../config/locations.ts";
import { readEntry } from "./entry.ts";
import type { Agent, AgentSurroundings, Section } from "./model.ts";
import { claudePlugin } from "./plugins.ts";
import { projectFiles, settingsDocument, userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;

export const claudeCode: Agent = {
  name: "claude-code",
  title: "Claude Code",
  folder: ({ env }) => env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude"),
  memory: { project: "CLAUDE.md", user: "CLAUDE.md" },
  files: (around) => [userFile(userPath(around)), ...projectFiles([".mcp.json"], around)],
  sections(document, { folder }, around) {
    if (folder !== undefined) return [{ path: servers, disabled: rejected(folder, around) }];
    const projects = Object.entries(objectAt(document, ["projects"]));
    return [
      { path: servers },
      ...projects.flatMap(([name, project]): Section[] => {
        if (!isObject(project) || !isObject(project["mcpServers"])) return [];
        const path = ["projects", name, "mcpServers"];
        return [{ path, folder: name, disabled: stringsIn(project["disabledMcpServers"]) }];
      }),
    ];
  },
  ownSection: () => servers,
  read: (raw, scene) => readEntry({ ...raw, callTimeoutMs: raw["timeout"] ?? raw["callTimeoutMs"] }, "shell", scene),
  plugin: (around) => claudePlugin(claudeCode.folder(around)),
  ownEntry: ([command, ...args]) => ({ type: "stdio", command, args, env: {} }),
};

function userPath({ env }: AgentSurroundings): string {
  return join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), ".claude.json");
}

/** The servers of `.mcp.json` that the user has rejected, in any of the files that record it. */
function rejected(folder: string, around: AgentSurroundings): string[] {
  const settings = [
    join(claudeCode.folder(around), "settings.json"),
    join(folder, ".claude", "settings.json"),
    join(folder, ".claude", "settings.local.json"),
  ];
  const lists = settings.map((path) => settingsDocument(path)?.["disabledMcpjsonServers"]);
  const state = settingsDocument(userPath(around));
  for (let project = folder; ; project = dirname(project)) {
    lists.push(valueAt(state, ["projects", project, "disabledMcpjsonServers"]));
    if (project === dirname(project)) break;
  }
  return lists.flatMap(stringsIn);
}
