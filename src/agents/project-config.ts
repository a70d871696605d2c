/** Finds the claudikins.json for the servers of a project's files: one in the project, for everyone who works on it. */
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { refuseForeign } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { configFileName, homeOf, projectFolder } from "../config/locations.ts";
import { ClaudikinsError } from "../errors.ts";

interface Where {
  /** The folder of the file that has the servers. */
  folder: string;
  /** The config that the user named for them. */
  named: string | undefined;
  env: Environment;
}

/** Undefined if the project has none. Throws USAGE for a config outside the project, and CONFIG_NOT_TRUSTED. */
export function projectConfigFile({ folder, named, env }: Where): string | undefined {
  if (named === undefined) return nearest(folder, env);
  const root = projectFolder({ cwd: folder, env });
  if (isWithin(root, named)) return named;
  throw new ClaudikinsError("USAGE", `${named} is not in the project ${root}`, {
    hint: `Others who work on the project cannot read it. Choose a file in the project: --config ${join(root, configFileName)}`,
  });
}

/** The arguments with which `claudikins serve` uses the config; empty if it finds the file by itself. */
export function configWords(file: string, folder: string, env: Environment): string[] {
  const isFound = basename(file) === configFileName && (dirname(file) === folder || nearest(folder, env) === file);
  return isFound ? [] : ["--config", relative(folder, file).split("\\").join("/")];
}

/** The nearest config from the folder up to the repository's root, where `serve` looks too. */
function nearest(folder: string, env: Environment): string | undefined {
  const home = homeOf(env);
  for (let at = resolve(folder); at !== home; at = dirname(at)) {
    const file = join(at, configFileName);
    if (existsSync(file)) {
      refuseForeign(file, env);
      return file;
    }
    if (existsSync(join(at, ".git")) || at === dirname(at)) break;
  }
  return undefined;
}

function isWithin(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== "" && path.split(/[\\/]/, 1)[0] !== ".." && !isAbsolute(path);
}

/** The error for a project that has servers but no config. `files` are the files with the servers. */
export function noProjectConfig(
  files: readonly { path: string; servers: number }[],
  suggestion: string,
): ClaudikinsError {
  const texts = files.map(({ path, servers }) => `  ${path}: ${servers} ${servers === 1 ? "server" : "servers"}`);
  return new ClaudikinsError(
    "CONFIG_NOT_FOUND",
    `This project has servers of its own, but no claudikins.json to import them into:\n${texts.join("\n")}`,
    {
      hint: `If they moved to your own config, everyone else on the project would lose them. To import them into a claudikins.json that you commit with the project: claudikins init --project --config ${suggestion}. Nothing was changed.`,
    },
  );
}
