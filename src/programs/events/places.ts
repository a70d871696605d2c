/** Where triggers are, and whether there are any: without them, their code is not loaded. */
import { dirname, join, relative } from "node:path";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";

export function triggersFolder({ folder }: Pick<SavedProgramsPlace, "folder">): string {
  return join(folder, "triggers");
}

export function hasTriggers(place: SavedProgramsPlace): boolean {
  const { documents } = place;
  return documents.areKnown && documents.namesIn(triggersFolder(place)).some((name) => name.endsWith(".json"));
}

/** The programs of a config or of a door, as the queue names them. It is the same on every machine. */
export function placeName({ mark, folder }: Pick<SavedProgramsPlace, "mark" | "folder">): string {
  return relative(dirname(mark), folder);
}
