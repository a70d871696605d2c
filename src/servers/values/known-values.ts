/** The values of references that this process has read, so that they can be removed from texts. */
import {
  type EntryReferences,
  type Reference,
  referencesOf,
  referringParts,
  withValues,
} from "../../config/secrets/references.ts";

/** The latest value is the last one. */
const known = new Map<string, Set<string>>();

/** Values of one reference that are remembered, for the same reason. A command may print one for each person of a team. */
const maxKnownValues = 200;

let changes = 0;

/** `reference` is its text, such as `${secret:NAME}`. */
export function knowValue(reference: string, value: string): void {
  const values = known.get(reference) ?? new Set();
  known.set(reference, values);
  // An old value may still be in texts.
  values.delete(value);
  values.add(value);
  for (const old of values) if (values.size > maxKnownValues) values.delete(old);
  changes += 1;
}

/** Grows with each value that is read. */
export function knownChanges(): number {
  return changes;
}

interface KnownValue {
  value: string;
  /** How texts show it. */
  shown: string;
}

/** The values of references in an entry that were read until now, also earlier ones. */
export function knownValuesOf(references: ReadonlyMap<string, Reference>): KnownValue[] {
  return [...references].flatMap(([text, reference]) =>
    [...(known.get(text) ?? [])].map((value) => ({ value, shown: "secret" in reference ? text : "***" })),
  );
}

/** The entry with the values that were read last. References that were not read stay. */
export function withKnownValues<Entry extends { references?: EntryReferences }>(entry: Entry): Entry {
  const parts = referringParts(entry);
  const latest = [...referencesOf(entry).keys()].flatMap((text) => {
    const value = [...(known.get(text) ?? [])].at(-1);
    return value === undefined ? [] : [[text, value] as const];
  });
  return latest.length === 0 ? entry : { ...entry, ...withValues(parts, new Map(latest)) };
}
