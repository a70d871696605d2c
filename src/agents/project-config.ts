/** The claudikins.json that takes the servers of a project's own files: one of the project, for everybody who works in it. */
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { refuseForeign } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { configFileName, homeOf, projectFolder } from "../config/locations.ts";
import { ClaudikinsError } from "../errors.ts";

interface Where {
  /** The folder of the file that the servers are in. */
  folder: string;
  /** A config that the user names for them. */
  named: string | undefined;
  env: Environment;
}

/** Undefined where the project has none. Throws USAGE for one outside of the project, and CONFIG_NOT_TRUSTED. */
export function projectConfigFile({ folder, named, env }: Where): string | undefined {
  if (named === undefined) return nearest(folder, env);
  const root = projectFolder({ cwd: folder, env });
  if (isWithin(root, named)) return named;
  throw new ClaudikinsError("USAGE", `${named} is not in the project ${root}`, {
    hint: `Others who work on the project cannot read it. Choose a file in the project: --config ${join(root, configFileName)}`,
  });
}

/** The words that tell `claudikins serve` of the config; none where it finds the file by itself. */
export function configWords(file: string, folder: string, env: Environment): string[] {
  const isFound = basename(file) === configFileName && (dirname(file) === folder || nearest(folder, env) === file);
  return isFound ? [] : ["--config", relative(folder, file).split("\\").join("/")];
}

/** Upwards from the folder until the repository ends, as far as `serve` would look in a project. */
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

/** A project's servers without a config of the project. `files` are those that have them. */
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
