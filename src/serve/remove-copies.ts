/** Removes the folders of people whose data was deleted from another replica. */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { foldersOfPerson } from "../config/person-folders.ts";
import type { FileRows } from "../store/files.ts";

/** A folder in which something has changed since belongs to a person who has come back. `shared` is as for `deletePerson`. */
export async function removeCopies(
  files: FileRows,
  config: string,
  shared: () => Promise<readonly string[]>,
): Promise<void> {
  const cleared = await files.cleared(config);
  if (cleared.length === 0) return;
  const places = await shared();
  for (const { person, clearedAt } of cleared) {
    for (const folder of foldersOfPerson(places, { id: person })) {
      if (lastChangeIn(folder) <= clearedAt) rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** In milliseconds since 1970. */
function lastChangeIn(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return ["", ...names].reduce((last, name) => Math.max(last, lstatSync(join(folder, name)).mtimeMs), 0);
}
