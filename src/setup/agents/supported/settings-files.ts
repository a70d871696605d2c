/** The places of agents' settings files on each operating system. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { JsonObject } from "../../../base/json-object.ts";
import { parseJson } from "../../../config/edit/json.ts";
import { textOf } from "../../../config/file-text.ts";
import { homeOf, xdgFolder } from "../../../config/locations.ts";
import type { AgentSurroundings, SettingsFile } from "./model.ts";

/** The folder in which desktop programs keep their settings. */
export function applicationData({ env, platform }: AgentSurroundings): string {
  if (platform === "darwin") return join(homeOf(env), "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || join(homeOf(env), "AppData", "Roaming");
  return configFolder(env);
}

export function configFolder(env: AgentSurroundings["env"]): string {
  return xdgFolder(env, "XDG_CONFIG_HOME", ".config");
}

export function userFile(path: string, format: SettingsFile["format"] = "json", group = "user"): SettingsFile {
  return { path, group, format };
}

/** For each name, the nearest file upwards. */
export function projectFiles(
  names: string[],
  around: AgentSurroundings,
  format: SettingsFile["format"] = "json",
): SettingsFile[] {
  return names.flatMap((name): SettingsFile[] => {
    const folder = folderWith(name, around);
    if (folder === undefined) return [];
    return [{ path: join(folder, name), folder, group: `project ${folder}`, format }];
  });
}

/** The nearest folder upwards that has the file. The search ends at the repository's root and below the home directory. */
export function folderWith(name: string, { cwd, env }: Pick<AgentSurroundings, "cwd" | "env">): string | undefined {
  const home = homeOf(env);
  for (let folder = resolve(cwd); folder !== home; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (existsSync(join(folder, ".git")) || folder === dirname(folder)) break;
  }
  return undefined;
}

/** The content of a JSON file; undefined if the file is missing or is not JSON. */
export function settingsDocument(path: string): JsonObject | undefined {
  try {
    return parseJson(textOf(path).text, path);
  } catch {
    return undefined;
  }
}
