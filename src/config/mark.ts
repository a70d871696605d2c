/** Notices that another config file counts, or that one was written. */
import { dirname, join, resolve } from "node:path";
import { toClaudikinsError } from "../base/errors.ts";
import { stampOf, statsOf } from "../base/files.ts";
import { type ConfigChoice, discoverConfig, namedConfig } from "./discover.ts";
import { documentsOf } from "./documents.ts";
import type { Environment } from "./environment.ts";
import { configFileName, savedProgramsMark, userConfigFile, writtenFoldersFile } from "./locations.ts";

/**
 * A text that changes when another config file is found, or when one is written. The user's own config counts as well, because its
 * policy applies to projects.
 */
export function configMark(choice: ConfigChoice): string {
  let file: string | undefined;
  try {
    const origin = discoverConfig(choice);
    if (origin.kind !== "demo") file = origin.file;
  } catch (error) {
    return `none: ${toClaudikinsError(error).message}`;
  }
  const files = [file, userConfigFile(choice.env)].filter((each) => each !== undefined);
  return [...files.map((each) => `${each} ${stampOf(each)}`), programsMark(choice.env)].join("\n");
}

/** A text that changes with every change of a saved program. */
export function programsMark(env: Environment): string {
  return documentsOf(env).stampOf(savedProgramsMark(env));
}

/** Every file that could be the config, or says which one counts. */
export function possibleConfigs(choice: ConfigChoice): string[] {
  const { cwd, env } = choice;
  const files = [userConfigFile(env), writtenFoldersFile(env)];
  const named = namedConfig(choice);
  if (named !== undefined) return [...files, resolve(cwd, named)];
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    files.push(join(folder, configFileName));
    if (folder === dirname(folder)) return files;
  }
}

/**
 * A text that changes whenever `configMark` may change: what the system says of the files. It takes a fifth of the time, and each execution
 * needs it.
 */
export function looksOf(files: readonly string[], env: Environment): string {
  return [...files.map(lookOf), programsMark(env)].join("\n");
}

/** The owner and the mode of a file's folder count too: others must not be able to replace it. */
function lookOf(file: string): string {
  const found = statsOf(file);
  if (!found) return "";
  const { mode, uid } = statsOf(dirname(file)) ?? {};
  return [found.mtimeMs, found.ctimeMs, found.size, found.ino, found.dev, mode, uid].join(" ");
}
