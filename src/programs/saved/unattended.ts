/** The programs that schedules and events start while nobody looks. */
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { ProgramLibrary } from "./library.ts";
import type { SavedProgram } from "./model.ts";
import { requirePinned } from "./pins.ts";

/** The version of the user's program that was accepted. Throws PROGRAM_NOT_FOUND, and DEFINITION_CHANGED if the program must not start. */
export async function unattendedProgram(name: string, place: SavedProgramsPlace): Promise<SavedProgram> {
  const library = new ProgramLibrary(place);
  const program = library.accepted(name);
  requirePinned(program, library);
  return program;
}
