/** Finds the config file: `--config`, then CLAUDIKINS_CONFIG, then the nearest one upwards, then the user's. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import type { Environment } from "./environment.ts";
import { configFileName, userConfigFile } from "./locations.ts";

export type ConfigOrigin = { kind: "project" | "user"; file: string } | { kind: "demo" };

/** Where the config of this call comes from; `demo` when there is no file at all. A named file must exist. */
export function discoverConfig(options: { flag?: string | undefined; cwd: string; env: Environment }): ConfigOrigin {
  const { flag, cwd, env } = options;
  const user = userConfigFile(env);
  const named = flag ?? env["CLAUDIKINS_CONFIG"];
  if (named) {
    const file = resolve(cwd, named);
    if (!existsSync(file)) {
      throw new ClaudikinsError("CONFIG_NOT_FOUND", `No config file at ${file}`, {
        hint: `${flag === undefined ? "CLAUDIKINS_CONFIG" : "--config"} names it: create the file or leave the setting out.`,
      });
    }
    return { kind: file === user ? "user" : "project", file };
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, configFileName);
    if (file !== user && isFile(file)) return { kind: "project", file };
    if (folder === dirname(folder)) break;
  }
  return isFile(user) ? { kind: "user", file: user } : { kind: "demo" };
}

/** Servers of a project run in its folder, wherever in it somebody is; others where we are. */
export function serverFolder(origin: ConfigOrigin, cwd: string): string {
  if (origin.kind !== "project") return cwd;
  const folder = dirname(origin.file);
  return relative(folder, cwd).split(/[\\/]/, 1)[0] === ".." ? cwd : folder;
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
