/** Claude Code: `~/.claude.json` for the user and the user's projects, `.mcp.json` for a shared project. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { isObject, type JsonObject, objectAt, stringsIn, valueAt } from "../../json-object.ts";
import { parseJson } from "../../settings/edit/json.ts";
import { textOf } from "../../settings/file-text.ts";
import { readEntry } from "./entry.ts";
import type { Host, Section, Surroundings } from "./model.ts";
import { projectFiles, userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;

export const claudeCode: Host = {
  name: "claude-code",
  title: "Claude Code",
  files(surroundings) {
    return [userFile(userPath(surroundings)), ...projectFiles([".mcp.json"], surroundings)];
  },
  sections(document, file, surroundings) {
    if (file.folder !== undefined) {
      return [{ path: servers, disabled: rejected(file.folder, surroundings) }];
    }
    const projects = Object.entries(objectAt(document, ["projects"]));
    return [
      { path: servers },
      ...projects.flatMap(([folder, project]): Section[] => {
        if (!isObject(project) || !isObject(project["mcpServers"])) return [];
        const path = ["projects", folder, "mcpServers"];
        return [{ path, folder, disabled: stringsIn(project["disabledMcpServers"]) }];
      }),
    ];
  },
  ownSection: () => servers,
  read(raw, scene) {
    return readEntry(
      typeof raw["timeout"] === "number" ? { ...raw, callTimeoutMs: raw["timeout"] } : raw,
      "shell",
      scene,
    );
  },
  ownEntry: ([command, ...args]) => ({ type: "stdio", command, args, env: {} }),
};

function userPath({ env }: Surroundings): string {
  return join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), ".claude.json");
}

/** The servers of `.mcp.json` that the user has rejected, in any of the files that record it. */
function rejected(folder: string, surroundings: Surroundings): string[] {
  const { env } = surroundings;
  const settings = [
    join(env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude"), "settings.json"),
    join(folder, ".claude", "settings.json"),
    join(folder, ".claude", "settings.local.json"),
  ];
  const lists = settings.map((path) => documentOf(path)?.["disabledMcpjsonServers"]);
  const state = documentOf(userPath(surroundings));
  for (let project = folder; ; project = dirname(project)) {
    lists.push(valueAt(state, ["projects", project, "disabledMcpjsonServers"]));
    if (project === dirname(project)) break;
  }
  return lists.flatMap(stringsIn);
}

/** Undefined if the file is missing or is not JSON. */
function documentOf(path: string): JsonObject | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return parseJson(textOf(path).text, path);
  } catch {
    return undefined;
  }
}
