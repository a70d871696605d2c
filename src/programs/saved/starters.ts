/** Whether a schedule or a trigger starts a saved program. */
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { Triggers } from "../events/triggers.ts";
import { Schedules } from "./schedules.ts";

export function startsUnattended(program: string, place: SavedProgramsPlace): boolean {
  return new Schedules(place).of(program).length > 0 || new Triggers(place).of(program).length > 0;
}
