/** Where triggers are, and whether there are any: without them, their code is not loaded. */
import { dirname, join, relative } from "node:path";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";

export function triggersFolder({ folder }: Pick<SavedProgramsPlace, "folder">): string {
  return join(folder, "triggers");
}

/** The file of a removed trigger ends with this as long as one of its deliveries may run. */
export const removedEnding = ".removed";

/** Whether there are triggers, or removed ones whose deliveries may still run. */
export function hasTriggers(place: SavedProgramsPlace): boolean {
  const { documents } = place;
  const isTrigger = (name: string) => name.endsWith(".json") || name.endsWith(removedEnding);
  return documents.areKnown && documents.namesIn(triggersFolder(place)).some(isTrigger);
}

/** The programs of a config or of a door, as the queue names them. It is the same on every machine. */
export function placeName({ mark, folder }: Pick<SavedProgramsPlace, "mark" | "folder">): string {
  return relative(dirname(mark), folder);
}

/** Whether something was ever scheduled. */
export function hasSchedules({ documents, folder }: SavedProgramsPlace): boolean {
  return documents.areKnown && documents.namesIn(join(folder, "schedules")).length > 0;
}
