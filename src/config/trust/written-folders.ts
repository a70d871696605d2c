/**
 * The folders that claudikins or sandboxed code writes to. A file in one of them is never used as a config. Otherwise code could
 * write a claudikins.json there and wait until a person runs claudikins in that folder.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import { parsedJson } from "../../base/json-object.ts";
import { projectDataFolder } from "../../base/open-folder.ts";
import type { Environment } from "../environment.ts";
import { type Folders, realOf, userConfigFile, userDataFolder, writtenFoldersFile } from "../locations.ts";

/** Returns the written folder that contains the file, or undefined. */
export function writtenFolderAround(file: string, env: Environment): string | undefined {
  const folders = [realOf(userDataFolder(env)), ...rememberedFolders(env)];
  for (const path of new Set([file, join(realOf(dirname(file)), basename(file))])) {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if (basename(folder).toLowerCase() === projectDataFolder) return folder;
    }
    const found = folders.find((folder) => isWithin(path, folder));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Records the folders of a config that are outside of the usual places. The file has one line per folder, so that several processes
 * can append concurrently. If it cannot be written, nothing happens: configs in these folders must still be trusted.
 */
export function rememberFolders({ registry, workspace }: Folders, file: string, env: Environment): void {
  const usual = [`${sep}${projectDataFolder}${sep}`, `${realOf(userDataFolder(env))}${sep}`];
  const chosen = [registry, workspace]
    .map(realOf)
    // The registry may be the project's own folder. The config in it must stay valid.
    .filter((folder) => !usual.some((part) => folder.includes(part)) && !isWithin(realOf(file), folder));
  if (chosen.length === 0) return;
  const known = new Set(rememberedFolders(env));
  const lines = chosen.filter((folder) => !known.has(folder)).map((folder) => `${JSON.stringify(folder)}\n`);
  if (lines.length === 0) return;
  const list = writtenFoldersFile(env);
  try {
    mkdirSync(dirname(list), { recursive: true, mode: 0o700 });
    appendFileSync(list, lines.join(""), { mode: 0o600 });
  } catch {
    // Ignored, as described above.
  }
}

/** The recorded folders. */
export function rememberedFolders(env: Environment): string[] {
  let text: string | undefined;
  try {
    text = readIfThere(writtenFoldersFile(env));
  } catch {
    // A file that cannot be read counts as empty.
  }
  const folders = (text ?? "").split("\n").map(parsedJson);
  return folders.filter((folder) => typeof folder === "string").filter(Boolean);
}

/** Returns whether the path is the folder or is inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/**
 * Throws CONFIG_INVALID if the workspace contains a file or folder that sandboxed code must not change: this config, the user's
 * config, the user's data, or the registry with its generated programs.
 */
export function keepRulesOut({ workspace, registry }: Folders, file: string, env: Environment): void {
  const rules = {
    "this config": file,
    "the registry": registry,
    "your own config": userConfigFile(env),
    "claudikins' own data": userDataFolder(env),
  };
  const real = realOf(workspace);
  for (const [what, path] of Object.entries(rules)) {
    if (!isWithin(realOf(path), real)) continue;
    throw new ClaudikinsError(
      "CONFIG_INVALID",
      `The workspace of ${file} is ${workspace}: it contains ${what}, and sandboxed code may write there`,
      { hint: 'Use a separate folder, for example "workspace": "./workspace", or remove the key' },
    );
  }
}
