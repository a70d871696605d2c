/** Notices that another config file counts, or that one was written. */
import { dirname, join, resolve } from "node:path";
import { statsOf } from "../base/files.ts";
import { Watched } from "../base/watched.ts";
import { type ConfigChoice, namedConfig } from "./discover.ts";
import { documentsOf } from "./documents.ts";
import type { Environment } from "./environment.ts";
import { configFileName, savedProgramsMark, userConfigFile, writtenFoldersFile } from "./locations.ts";

/** Everything that a config is loaded from. Make it before the config is loaded, so that no change is missed. */
export function watchedConfig(choice: ConfigChoice): Watched {
  const files = possibleConfigs(choice);
  return new Watched(() => looksOf(files, choice.env));
}

/**
 * The files of a config that is in use, and the executable if it is one: a daemon is replaced when one changes. The policy of the user's own
 * config applies to projects.
 */
export function watchedFiles(config: string | undefined, program: string | undefined, env: Environment): Watched {
  const files = config === undefined ? [] : [config, userConfigFile(env)];
  return new Watched(() => `${looksOf(files, env)}\n${program === undefined ? "" : lookOfProgram(program)}`);
}

/** Every file that could be the config, or says which one counts. */
function possibleConfigs(choice: ConfigChoice): string[] {
  const { cwd, env } = choice;
  const files = [userConfigFile(env), writtenFoldersFile(env)];
  const named = namedConfig(choice);
  if (named !== undefined) return [...files, resolve(cwd, named)];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    files.push(join(folder, configFileName));
    if (folder === dirname(folder)) return files;
  }
}

/** A text that changes with the files and with the saved programs. */
function looksOf(files: readonly string[], env: Environment): string {
  return [...files.map(lookOf), documentsOf(env).stampOf(savedProgramsMark(env))].join("\n");
}

/** The owner and the mode of a file's folder count too: others must not be able to replace it. */
function lookOf(file: string): string {
  const found = statsOf(file);
  if (!found) return "";
  const { mode, uid } = statsOf(dirname(file)) ?? {};
  return [found.mtimeMs, found.ctimeMs, found.size, found.ino, found.dev, mode, uid].join(" ");
}

/** A hard link to an executable changes nothing, although it counts as a write of the file's metadata. */
function lookOfProgram(file: string): string {
  const { mtimeMs, size, ino } = statsOf(file) ?? {};
  return [mtimeMs, size, ino].join(" ");
}
