/** Schedules saved programs, and removes them with their schedules. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { ProgramLibrary } from "./library.ts";
import { problemOfName, type SavedProgram } from "./model.ts";
import { requestFor } from "./run.ts";
import { cronOf, type Schedule, Schedules } from "./schedules.ts";

export interface WantedSchedule {
  input: JsonObject;
  cron: string;
  /** Default: the time zone of this machine. */
  zone?: string | undefined;
  /** Default: the name of the program. */
  id?: string | undefined;
}

/** Adds the schedule. Throws USAGE, INVALID_ARGUMENTS and FILE_NOT_WRITABLE. */
export async function addSchedule(
  program: SavedProgram,
  { input, cron, zone = Intl.DateTimeFormat().resolvedOptions().timeZone, id = program.name }: WantedSchedule,
  place: SavedProgramsPlace,
): Promise<Schedule> {
  const problem = problemOfName(id);
  if (problem !== undefined) {
    throw new ClaudikinsError("USAGE", `"${id}" cannot be the name of a schedule: ${problem}`);
  }
  await requestFor(program, input);
  const made: Schedule = { version: 1, id, program: program.name, input, cron, zone, createdAt: Date.now() };
  cronOf(made);
  await new Schedules(place).add(made);
  return made;
}

/** Removes the schedules of the programs, and then the programs. Throws PROGRAM_NOT_FOUND before anything is removed, and FILE_NOT_WRITABLE. */
export async function removePrograms(
  names: readonly string[],
  place: SavedProgramsPlace,
): Promise<{ name: string; removed: boolean }[]> {
  const library = new ProgramLibrary(place);
  const known = library.names();
  for (const name of names) if (!known.includes(name)) library.get(name);
  const schedules = new Schedules(place);
  const scheduled = schedules.all().filter(({ program }) => names.includes(program));
  for (const { id } of scheduled) await schedules.remove(id);
  const removed = [];
  for (const name of new Set(names)) removed.push({ name, removed: await library.remove(name) });
  return removed;
}
