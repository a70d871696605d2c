/** The places of agents' settings files on each operating system. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { homeOf, xdgFolder } from "../../config/locations.ts";
import type { HostFile, Surroundings } from "./model.ts";

/** The folder in which desktop programs keep their settings. */
export function applicationData({ env, platform }: Surroundings): string {
  if (platform === "darwin") return join(homeOf(env), "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] || join(homeOf(env), "AppData", "Roaming");
  return configFolder(env);
}

export function configFolder(env: Surroundings["env"]): string {
  return xdgFolder(env, "XDG_CONFIG_HOME", ".config");
}

export function userFile(path: string, format: HostFile["format"] = "json", group = "user"): HostFile {
  return { path, scope: "user", group, format };
}

/** The file with this name in the nearest folder upwards. The search ends at the repository's root and below the home directory. */
export function projectFile(
  name: string,
  { cwd, env }: Surroundings,
  format: HostFile["format"] = "json",
): HostFile | undefined {
  const home = homeOf(env);
  for (let folder = resolve(cwd); folder !== home; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) return { path, scope: "project", folder, group: `project ${folder}`, format };
    if (existsSync(join(folder, ".git")) || folder === dirname(folder)) break;
  }
  return undefined;
}

export function projectFiles(names: string[], surroundings: Surroundings, format?: HostFile["format"]): HostFile[] {
  return names.flatMap((name) => projectFile(name, surroundings, format) ?? []);
}
