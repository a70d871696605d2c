/** Finds the executions with which one is worth comparing: runs of the same code first. */
import type { Store } from "../../store/store.ts";
import type { Summary } from "../trace/record.ts";
import { readActivity, readRecord } from "../trace/store.ts";
import { type Relation, relations } from "./comparison.ts";

/** The newest records among which others are looked for. */
const maxLookedAt = 2_000;

/** Executions of each kind. */
const maxOfKind = 20;

export interface Choice {
  relation: Relation;
  summary: Summary;
}

/** Recorded executions of the same config and person: the closest relation first, and then the newest. */
export async function choicesFor(of: Summary, store: Store): Promise<Choice[]> {
  const { id, config, person, door, program, repeats } = of;
  const view = { config, person: person?.id };
  const newest = await readActivity(store, view, { limit: maxLookedAt });
  const ofProgram = program === undefined ? undefined : { ...view, door, programs: [program] };
  const runs = ofProgram ? await readActivity(store, ofProgram, { limit: maxOfKind + 1 }) : [];
  const before = repeats === undefined ? undefined : await readRecord(store, repeats);
  const all = new Map([...newest, ...runs, ...(before ? [before] : [])].map((each) => [each.id, each]));
  const others = [...all.values()]
    .filter((each) => each.id !== id && each.config === config && each.person?.id === person?.id)
    .sort((one, other) => (one.id < other.id ? 1 : -1));
  const byRelation = Map.groupBy(others, (each) => relationOf(each, of));
  return relations.flatMap((relation) =>
    (byRelation.get(relation) ?? []).slice(0, maxOfKind).map((summary) => ({ relation, summary })),
  );
}

function relationOf(other: Summary, of: Summary): Relation {
  if (other.id === of.repeats) return "run again from";
  if (other.repeats === of.id) return "run again as";
  if (of.program !== undefined && other.program === of.program && other.door === of.door) return "same program";
  const isSameCode = of.codeDigest !== undefined && other.codeDigest === of.codeDigest;
  return isSameCode || (of.repeats !== undefined && other.repeats === of.repeats) ? "same code" : "other";
}

/**
 * The execution that is compared if nobody chooses one: the execution it was run again from, else the latest earlier one of the same program or
 * code, else its newest second run. Dry runs call other tools, so they must be chosen.
 */
export function usualChoice(of: Summary, choices: readonly Choice[]): Choice | undefined {
  const first = (relation: Relation, isEarlier: boolean) =>
    choices.find(
      ({ relation: own, summary }) => own === relation && !summary.dryRun && (!isEarlier || summary.id < of.id),
    );
  return (
    choices.find(({ relation }) => relation === "run again from") ??
    first("same program", true) ??
    first("same code", true) ??
    first("run again as", false)
  );
}
