/** Schedules saved programs, and removes them with their schedules and triggers. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { RecordingFiles } from "../recordings/recording-files.ts";
import { type ProgramAudit, recordProgram } from "./audited.ts";
import { ProgramLibrary } from "./library.ts";
import { problemOfName, type SavedProgram } from "./model.ts";
import { requestFor } from "./run.ts";
import { acceptToStart } from "./save.ts";
import { cronOf, type Schedule, Schedules } from "./schedules.ts";

export interface WantedSchedule {
  input: JsonObject;
  cron: string;
  /** Default: the time zone of this machine. */
  zone?: string | undefined;
  /** Default: the name of the program. */
  id?: string | undefined;
}

export interface ManageOptions {
  place: SavedProgramsPlace;
  audit: ProgramAudit;
}

/**
 * Adds the schedule, and accepts the program and the programs that it calls as they are: it runs while nobody looks. Throws USAGE, INVALID_ARGUMENTS,
 * DEFINITION_CHANGED and FILE_NOT_WRITABLE.
 */
export async function addSchedule(
  program: SavedProgram,
  { input, cron, zone = Intl.DateTimeFormat().resolvedOptions().timeZone, id = program.name }: WantedSchedule,
  { place, audit }: ManageOptions,
): Promise<Schedule> {
  const problem = problemOfName(id);
  if (problem !== undefined) {
    throw new ClaudikinsError("USAGE", `"${id}" cannot be the name of a schedule: ${problem}`);
  }
  await requestFor(program, input);
  const made: Schedule = { version: 1, id, program: program.name, input, cron, zone, createdAt: Date.now() };
  cronOf(made);
  const library = new ProgramLibrary(place);
  await acceptToStart(program, { library, audit });
  await new Schedules(place).add(made, () => recordProgram("scheduled", program, scheduleLine(made), audit));
  return made;
}

function scheduleLine({ id, cron, zone }: Schedule): string {
  return `${id}: "${cron}" (${zone})`;
}

/** Ends a schedule. Throws PROGRAM_NOT_FOUND and FILE_NOT_WRITABLE. */
export async function removeSchedule(id: string, { place, audit }: ManageOptions): Promise<void> {
  const schedules = new Schedules(place);
  const found = schedules.find(id);
  const line = found ? scheduleLine(found) : id;
  if (schedules.ids().includes(id)) await recordProgram("unscheduled", { name: found?.program ?? id }, line, audit);
  await schedules.remove(id);
}

/**
 * Removes the schedules, triggers and recordings of the programs, and then the programs. Throws PROGRAM_NOT_FOUND before anything is removed,
 * and FILE_NOT_WRITABLE.
 */
export async function removePrograms(
  names: readonly string[],
  options: ManageOptions,
): Promise<{ name: string; removed: boolean }[]> {
  const { place, audit } = options;
  const library = new ProgramLibrary(place);
  const known = library.names();
  for (const name of names) if (!known.includes(name)) library.get(name);
  const schedules = new Schedules(place);
  const scheduled = schedules.all().filter(({ program }) => names.includes(program));
  for (const { id } of scheduled) await removeSchedule(id, options);
  const { Triggers } = await import("../events/stored-triggers.ts");
  const triggers = new Triggers(place).all().filter(({ program }) => names.includes(program));
  if (triggers.length > 0) {
    const { removeTrigger } = await import("../events/manage.ts");
    for (const { id } of triggers) await removeTrigger(id, options);
  }
  const removed = [];
  for (const name of new Set(names)) {
    await recordProgram("removed", { name }, "with its versions, schedules, triggers and recordings", audit);
    await new RecordingFiles(place).remove(name);
    removed.push({ name, removed: await library.remove(name) });
  }
  return removed;
}
