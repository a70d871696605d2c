/** Where the saved programs of a config are: in the user's data folder, or in the database of the team. */
import { dirname, join } from "node:path";
import type { Documents } from "../base/documents.ts";
import { sha256 } from "../base/sha256.ts";
import { documentsOf } from "./documents.ts";
import type { Environment } from "./environment.ts";
import { configName, type Origin, savedProgramsMark } from "./locations.ts";

export interface SavedProgramsPlace {
  documents: Documents;
  folder: string;
  /** A file that is written with every change of a saved program, of whatever config. It is missing if none was ever saved. */
  mark: string;
}

/** The folder with the programs of tokens and people, beside the user's programs. */
export function ownersFolder({ folder }: Pick<SavedProgramsPlace, "folder">): string {
  return join(folder, "owners");
}

/**
 * The saved programs of a config, or of one of its doors. They are in the user's data folder, so that no cloned project brings its own, or in
 * the database of the team.
 */
export function savedProgramsOf(origin: Origin, env: Environment, door?: string): SavedProgramsPlace {
  const documents = documentsOf(env);
  const ofDoor = door === undefined ? [] : ["doors", door];
  const mark = savedProgramsMark(env);
  // A team has a config named "user" for each of its users.
  const isOfUser = origin.kind === "user" && !documents.areFiles;
  const owner = isOfUser ? `user-${sha256(origin.file).slice(0, 8)}` : configName(origin);
  return { documents, folder: join(dirname(mark), owner, ...ofDoor), mark };
}

/** The saved programs of a config and of its doors. */
export function savedProgramsOfAll(
  { origin, doors }: { origin: Origin; doors: readonly string[] },
  env: Environment,
): SavedProgramsPlace[] {
  return [undefined, ...doors].map((door) => savedProgramsOf(origin, env, door));
}
