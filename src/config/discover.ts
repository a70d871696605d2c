/**
 * Finds the config file: `--config`, then CLAUDIKINS_CONFIG, then the nearest one upwards, then the user's. One that is found
 * upwards may be somebody else's: it counts only where its owner is the user, and where no program of ours writes.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import type { Environment } from "./environment.ts";
import { configFileName, homeOf, userConfigFile } from "./locations.ts";
import { NotTrusted } from "./trust/not-trusted.ts";
import { ownershipProblem } from "./trust/ownership.ts";
import { writtenFolderAround } from "./trust/written-folders.ts";

export type ConfigOrigin = FileOrigin | { kind: "demo"; skipped?: Skipped[] };

export interface FileOrigin {
  kind: "project" | "user";
  file: string;
  skipped?: Skipped[];
}

/** A file of the right name that is never a config, because claudikins or sandboxed code writes in that folder. */
export interface Skipped {
  file: string;
  folder: string;
}

export interface ConfigChoice {
  flag?: string | undefined;
  cwd: string;
  env: Environment;
}

/** The file that the user names, by flag or variable. */
export function namedConfig({ flag, env }: Pick<ConfigChoice, "flag" | "env">): string | undefined {
  return (flag ?? env["CLAUDIKINS_CONFIG"]) || undefined;
}

/**
 * Where the config of this call comes from; `demo` when there is no file at all. A named file must exist. Throws
 * CONFIG_NOT_FOUND, and CONFIG_NOT_TRUSTED where the nearest file is another user's.
 */
export function discoverConfig(options: ConfigChoice): ConfigOrigin {
  const { flag, cwd, env } = options;
  const user = userConfigFile(env);
  const named = namedConfig(options);
  if (named !== undefined) {
    const file = resolve(cwd, named);
    if (!existsSync(file)) {
      throw new ClaudikinsError("CONFIG_NOT_FOUND", `No config file at ${file}`, {
        hint: `Create the file, or remove ${flag === undefined ? "CLAUDIKINS_CONFIG" : "--config"}.`,
      });
    }
    return { kind: file === user ? "user" : "project", file };
  }
  const skipped: Skipped[] = [];
  const withSkipped = <T extends ConfigOrigin>(origin: T): T => (skipped.length > 0 ? { ...origin, skipped } : origin);
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, configFileName);
    if (file !== user && isFile(file) && !isSame(file, user)) {
      const written = writtenFolderAround(file, env);
      if (written === undefined) {
        refuseForeign(file, env);
        return withSkipped({ kind: "project", file });
      }
      skipped.push({ file, folder: written });
    }
    if (folder === dirname(folder)) break;
  }
  return withSkipped(isFile(user) ? { kind: "user", file: user } : { kind: "demo" });
}

/** Throws CONFIG_NOT_TRUSTED where other users own the file or can change it. */
export function refuseForeign(file: string, env: Environment): void {
  const problem = ownershipProblem(file);
  if (problem === undefined) return;
  const user = userConfigFile(env);
  throw NotTrusted.foreign(file, problem, isFile(user) ? user : undefined);
}

/** Whether both paths lead to one file, by whatever links. */
export function isSame(file: string, other: string): boolean {
  try {
    return realpathSync(file) === realpathSync(other);
  } catch {
    return false;
  }
}

/**
 * Servers of a project run in its folder, wherever in it somebody is; others where we are. That is never a folder that code
 * writes to: `npx`, `bun` and their like run what they find where they are started.
 */
export function serverFolder(origin: ConfigOrigin, cwd: string, env: Environment): string {
  if (origin.kind === "project") {
    const folder = dirname(origin.file);
    if (relative(folder, cwd).split(/[\\/]/, 1)[0] !== "..") return folder;
  }
  return writtenFolderAround(join(cwd, configFileName), env) === undefined ? cwd : homeOf(env);
}

/** A folder above that we may not look into is no reason to stop. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Its text. Throws FILE_NOT_FOUND. */
export function readConfigFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = systemCodeOf(cause) === "EISDIR" ? "it is a folder" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read the config file ${file}: ${why}`, { cause });
  }
}
