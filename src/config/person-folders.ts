/** The folders that people who sign in have of their own: where they are, and which of them exist. */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Person } from "./oidc.ts";

/** The folder of one person, beside the folder of everybody. */
export function personFolder(shared: string, { id }: Pick<Person, "id">): string {
  return join(`${shared}${suffix}`, id);
}

const suffix = "-people";

/** The existing folders of a person, beside these folders and beside others in the same place, such as the folders of other doors. */
export function foldersOfPerson(shared: readonly string[], { id }: Pick<Person, "id">): string[] {
  const places = new Set(shared.map(dirname));
  const found = [...places].flatMap((place) => foldersIn(place).map((name) => join(place, name)));
  return found
    .filter((folder) => folder.endsWith(suffix) && foldersIn(folder).includes(id))
    .map((folder) => join(folder, id))
    .sort();
}

/** The names of the folders in a folder. A folder that cannot be read has none. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
