/** What a dry run of init shows: the difference of each file, without secrets. */

import type { PortableEntry } from "../../config/config-file.ts";
import { entriesIn } from "../../setup/agents/find-servers.ts";
import { maskOf } from "../../setup/agents/secrets.ts";
import type { AgentSurroundings } from "../../setup/agents/supported/model.ts";
import { isEmpty, nothingFound, type Survey, type SwitchPlan } from "../../setup/agents/switch-over.ts";
import type { Needed } from "../../setup/upgrade/lasting.ts";
import { colouredDiff, unifiedDiff } from "../terminal/diff.ts";
import { conflictLines, decisionText } from "./questions.ts";

/** The change of each file. Secrets are shown as ***. */
export function diffsOf(plans: readonly SwitchPlan[], survey: Survey, surroundings: AgentSurroundings): string[] {
  const mask = maskOf(entriesOf(survey, surroundings));
  return plans.flatMap(({ inventory: { configFile }, configText, plans: files }) => [
    unifiedDiff(configFile.file, mask(configFile.text), mask(configText)),
    ...files.map(({ found: { content }, after }) => unifiedDiff(content.path, mask(content.text), mask(after))),
  ]);
}

/** All entries that the shown files have, so that their secrets can be masked. */
function entriesOf({ found, inventories }: Survey, surroundings: AgentSurroundings): PortableEntry[] {
  return [
    ...inventories.flatMap(({ servers, configFile }) => [
      ...servers.map(({ entry }) => entry),
      ...configFile.entries.values(),
    ]),
    ...found.files.flatMap((each) => entriesIn(each.content.text, each, surroundings)),
  ];
}

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
