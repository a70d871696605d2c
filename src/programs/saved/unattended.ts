/** The programs that schedules and events start while nobody looks. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { CheckedProgram } from "../drift/check.ts";
import type { Parts } from "../parts.ts";
import { RecordingFiles } from "../recordings/recording-files.ts";
import { ProgramLibrary } from "./library.ts";
import type { SavedProgram } from "./model.ts";
import { requirePinned } from "./pins.ts";

/** How long the servers of a program may take to list their tools before it starts. One that takes longer is judged as it was. */
const listMs = 3_000;

/**
 * The version of the user's program that was accepted. Throws PROGRAM_NOT_FOUND, and DEFINITION_CHANGED if a program that it calls has changed or
 * its check fails.
 */
export async function unattendedProgram(
  name: string,
  place: SavedProgramsPlace,
  parts: Pick<Parts, "catalog">,
): Promise<SavedProgram> {
  const library = new ProgramLibrary(place);
  const program = library.accepted(name);
  requirePinned(program, library);
  // The text of a program is checked when it begins.
  if (new RecordingFiles(place).files(name).length > 0) await requireSound(program, place, parts);
  return program;
}

/** Checks the program with the tools that its calls would find at this moment. */
export async function checkNow(
  program: SavedProgram,
  place: SavedProgramsPlace,
  { catalog }: Pick<Parts, "catalog">,
): Promise<CheckedProgram> {
  const used = catalog.openServers().filter((server) => program.calls.some((id) => id.startsWith(`${server}.`)));
  // They are about to be called.
  const wait = { freshAs: "listed", waitMs: listMs } as const;
  await Promise.all(used.map((server) => catalog.tools(server, wait).catch(() => {})));
  const [{ checkProgram }, { CurrentTools }] = await Promise.all([
    import("../drift/check.ts"),
    import("../drift/current.ts"),
  ]);
  return checkProgram(program, { place, tools: CurrentTools.asCalled({ catalog }) });
}

async function requireSound(program: SavedProgram, place: SavedProgramsPlace, parts: Pick<Parts, "catalog">) {
  const { name } = program;
  const { reasons, isAcceptedAnyway } = await checkNow(program, place, parts);
  const [first, ...others] = reasons;
  if (!first || isAcceptedAnyway) return;
  const { reasonText } = await import("../drift/reasons.ts");
  const more = others.length === 0 ? "" : ` (and ${counted(others.length, "more reason")})`;
  throw new ClaudikinsError(
    "DEFINITION_CHANGED",
    `The saved program "${name}" was not started, because it would break: ${reasonText(first)}${more}`,
    {
      hint: `To see why: claudikins programs check ${name}. To let it run anyway: claudikins programs accept ${name} --anyway`,
    },
  );
}
