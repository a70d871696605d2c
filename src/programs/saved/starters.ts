/** How a saved program starts while nobody looks. */
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { Triggers } from "../events/stored-triggers.ts";
import { Schedules } from "./schedules.ts";

/** The end of a sentence about the program. Undefined if only people and agents start it. */
export function unattendedStart(program: string, place: SavedProgramsPlace): string | undefined {
  if (new Schedules(place).of(program).length > 0) return "is scheduled";
  return new Triggers(place).of(program).length > 0 ? "is started by events" : undefined;
}
