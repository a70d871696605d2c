/** The planned changes of `init` as differences of files, without secrets. */
import type { PortableEntry } from "../../config/config-file.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { entriesIn } from "./find-servers.ts";
import { maskOf } from "./secrets.ts";
import type { AgentSurroundings } from "./supported/model.ts";
import type { Survey, SwitchPlan } from "./switch-over.ts";

/** The change of each file. Secrets are shown as ***. Empty for a file that does not change. */
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
