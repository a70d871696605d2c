/** The text of a dry run of init. */

import { isEmpty, nothingFound, type Survey } from "../../setup/agents/switch-over.ts";
import type { Needed } from "../../setup/upgrade/lasting.ts";
import { colouredDiff } from "../terminal/diff.ts";
import { conflictLines, decisionText } from "./questions.ts";

export function dryTexts(survey: Survey, diffs: string[], needed: Needed | undefined): { text: string; note: string } {
  const install = needed ? `\nWould install claudikins to ${needed.path}: ${needed.why}\n` : "";
  const text = install + diffs.map((diff) => `\n${colouredDiff(diff)}`).join("");
  const conflicts = survey.inventories.flatMap((each) => each.conflicts);
  const next =
    diffs.length > 0
      ? "Nothing was written. To make these changes, run the command again without --dry-run."
      : "Nothing would change.";
  const note = `\n${next}\n${isEmpty(survey) ? `${nothingFound(survey).hint}\n` : ""}`;
  if (conflicts.length === 0) return { text, note };
  const first = "Decide first: these names refer to different servers, which stay where they are:";
  return {
    text: `${text}\n${first}\n${conflictLines(conflicts)}\n`,
    note: `\n${decisionText(survey.inventories)}\n${note}`,
  };
}
