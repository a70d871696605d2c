/** Flags of commands that make or name a version of a saved program, and what they say about it. */
import { visibleText } from "../../base/visible-text.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { unattendedStart } from "../../programs/saved/starters.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { option } from "../command.ts";
import { countUpTo } from "../flags/flags.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";

/** The highest number of a version that a command takes. */
const maxVersion = 1_000_000;

/** A version of a program. */
export const versionOption = countUpTo(maxVersion);

/** Why a version is saved. */
export const whyArg = option("Why it is changed, for its history", { valueHint: "text" });

/** The difference of the code. */
export function versionDiff({ name, code }: SavedProgram, before: Pick<SavedProgram, "code"> | undefined): string {
  return colouredDiff(visibleText(unifiedDiff(`${name}.ts`, before?.code ?? "", code)));
}

/** A note about a new version of a program that schedules or triggers start. Empty if they run it. */
export function startedNote(
  { name, number, accepted = number }: SavedProgram,
  savedPrograms: Parameters<typeof unattendedStart>[1],
): string {
  if (accepted === number || unattendedStart(name, savedPrograms) === undefined) return "";
  return `Its schedules and triggers run version ${accepted} until you accept version ${number}: claudikins programs accept ${name}\n`;
}
