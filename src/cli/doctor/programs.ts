/** Doctor check of the saved programs: which would break with the tools as they are known now. */
import { shellWord } from "../../base/shell-word.ts";
import { driftOf, driftText, programText } from "../../programs/drift/drift.ts";
import { reasonText } from "../../programs/drift/reasons.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, warning } = findingsOf("registry");

export async function programFindings({ config, catalog }: CheckParts, scene: CheckContext): Promise<Finding[]> {
  const { env, serverFolder: cwd, signal } = scene;
  const drift = await driftOf({ config, catalog, env, cwd }, { signal });
  if (drift.total === 0) return [];
  if (drift.broken.length === 0) return [ok("drift", "No saved program would break with the tools as they are")];
  const [first] = drift.broken;
  const repair =
    drift.broken.length === 1 && first && first.door === undefined
      ? `claudikins programs check ${shellWord(first.name)}`
      : "claudikins programs check --all";
  const details = drift.broken.flatMap((each) => {
    return each.reasons.map((reason) => `${programText(each)}, ${reasonText(reason)}`);
  });
  return [warning("drift", driftText(drift), repair, { details })];
}
