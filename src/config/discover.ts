/**
 * Finds the config file. The order is: `--config`, CLAUDIKINS_CONFIG, the nearest file in this folder or above, the user's config.
 * A file that was found by its location may come from another user. It is used only if the user owns it, and if claudikins and
 * sandboxed code do not write to its folder.
 */
import { existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { Environment } from "./environment.ts";
import { configFileName, homeOf, userConfigFile } from "./locations.ts";
import { NotTrusted } from "./trust/not-trusted.ts";
import { writtenFolderAround } from "./trust/written-folders.ts";

export type ConfigOrigin = FileOrigin | { kind: "demo"; skipped?: Skipped[] };

export interface FileOrigin {
  kind: "project" | "user";
  file: string;
  skipped?: Skipped[];
}

/** A file with the right name that is never used, because claudikins or sandboxed code writes to its folder. */
interface Skipped {
  file: string;
  folder: string;
}

export interface ConfigChoice {
  flag?: string | undefined;
  cwd: string;
  env: Environment;
}

/** Returns the path that the user gave with the flag or the variable, if any. */
export function namedConfig({ flag, env }: Pick<ConfigChoice, "flag" | "env">): string | undefined {
  return (flag ?? env["CLAUDIKINS_CONFIG"]) || undefined;
}

/**
 * Returns where the config of this call comes from, or `demo` if there is no file. Throws CONFIG_NOT_FOUND if a named file does not
 * exist, and CONFIG_NOT_TRUSTED if other users own or can change the nearest file.
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
        refuseForeignConfig(file, env);
        return withSkipped({ kind: "project", file });
      }
      skipped.push({ file, folder: written });
    }
    if (folder === dirname(folder)) break;
  }
  return withSkipped(isFile(user) ? { kind: "user", file: user } : { kind: "demo" });
}

/** Throws CONFIG_NOT_TRUSTED if other users own the file or can change it. */
export function refuseForeignConfig(file: string, env: Environment): void {
  const problem = ownershipProblem(file);
  if (problem === undefined) return;
  const user = userConfigFile(env);
  throw NotTrusted.foreign(file, problem, isFile(user) ? user : undefined);
}

/**
 * Returns why a config that was found must not be used, as the predicate of a sentence. Returns undefined if it may be used. The
 * owner must be this user or root. Only the user's own group may write: a umask of 002, which is common, allows that. On Windows
 * nothing is checked, because Node has no owners there.
 */
function ownershipProblem(file: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const real = realpathSync(file);
  const files = [lstatSync(file), statSync(real)];
  const foreign = files.find((found) => !isOurs(found));
  if (foreign) return `belongs to another user (uid ${foreign.uid})`;
  // The mode of a link has no meaning, so only the file that it leads to is checked.
  if (othersCanWrite(files[1]!)) return "can be changed by other users";
  for (const folder of new Set([dirname(file), dirname(real)])) {
    const found = statSync(folder);
    // In a sticky folder such as /tmp, other users cannot replace our files.
    const isSticky = (found.mode & 0o1000) !== 0;
    if (!isSticky && othersCanWrite(found)) return "is in a folder that other users can change";
    if (!isOurs(found) && !isSticky) return `is in a folder of another user (uid ${found.uid})`;
  }
  return undefined;
}

const isOurs = ({ uid }: Stats) => uid === process.getuid?.() || uid === 0;

function othersCanWrite({ mode, gid }: Stats): boolean {
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== process.getgid?.());
}

/** Returns whether both paths lead to the same file, through links or not. */
export function isSame(file: string, other: string): boolean {
  try {
    return realpathSync(file) === realpathSync(other);
  } catch {
    return false;
  }
}

/**
 * Returns the working directory of servers. It is the project's folder if `cwd` is in it, and otherwise `cwd`. If sandboxed code
 * may write to `cwd`, it is the home folder, because programs such as `npx` and `bun` run files that they find in their working
 * directory.
 */
export function serverFolder(origin: ConfigOrigin, cwd: string, env: Environment): string {
  if (origin.kind === "project") {
    const folder = dirname(origin.file);
    if (relative(folder, cwd).split(/[\\/]/, 1)[0] !== "..") return folder;
  }
  return writtenFolderAround(join(cwd, configFileName), env) === undefined ? cwd : homeOf(env);
}

/** Returns false for a path that cannot be read, so that the search goes on. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the text of the file. Throws FILE_NOT_FOUND. */
export function readConfigFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const why = systemCodeOf(cause) === "EISDIR" ? "it is a folder" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read the config file ${file}: ${why}`, { cause });
  }
}
