/**
 * Folders that claudikins, or code in its sandbox, writes to. Nothing below one of them is ever a config: code could write a
 * claudikins.json there and wait for somebody to run claudikins in that folder.
 */
import { appendFileSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ClaudikinsError } from "../../errors.ts";
import { readIfThere } from "../../files.ts";
import type { Environment } from "../environment.ts";
import { type Folders, userConfigFile, userDataFolder, writtenFoldersFile } from "../locations.ts";

/** The folder of that kind that the file is in, or undefined. */
export function writtenFolderAround(file: string, env: Environment): string | undefined {
  const folders = [realOf(userDataFolder(env)), ...rememberedFolders(env)];
  for (const path of new Set([file, join(realOf(dirname(file)), basename(file))])) {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if (basename(folder).toLowerCase() === ".claudikins") return folder;
    }
    const found = folders.find((folder) => isWithin(path, folder));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Writes down the folders of a config that do not stand in a usual place, which is known anyway. One line a folder, so that
 * processes can add theirs at the same time. Where it cannot be written, configs there still have to be trusted.
 */
export function rememberFolders({ registry, workspace }: Folders, file: string, env: Environment): void {
  const usual = [`${sep}.claudikins${sep}`, `${realOf(userDataFolder(env))}${sep}`];
  const chosen = [registry, workspace]
    .map(realOf)
    // A registry may be the project's own folder, whose config goes on to count.
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
    // See above.
  }
}

function rememberedFolders(env: Environment): string[] {
  let text: string | undefined;
  try {
    text = readIfThere(writtenFoldersFile(env));
  } catch {
    // As good as none.
  }
  return (text ?? "").split("\n").flatMap((line) => {
    try {
      const folder: unknown = JSON.parse(line);
      return typeof folder === "string" && folder !== "" ? [folder] : [];
    } catch {
      return [];
    }
  });
}

/** Whether the path is the folder or something in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** Without links, also where the end of the path does not exist yet. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === dirname(path) ? path : join(realOf(dirname(path)), basename(path));
  }
}

/**
 * Throws CONFIG_INVALID where code that may write to the workspace could change what claudikins obeys or what the user runs:
 * the config itself, the user's own, what is trusted, or the generated programs of the registry.
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
