/** Looks up the synonyms, topics and kind of act of a stem. */
import { stemOf, stemsOfEntry } from "./tokenize.ts";
import {
  acts,
  chineseGroups,
  everydayMeanings,
  synonymGroups,
  topicGroups,
  type VerbKind,
  verbsOf,
} from "./vocabulary.ts";

/** The synonyms of one stem, or of two with a space between them, and the more general words for what it means. */
export function synonymsOf(stem: string): ReadonlySet<string> {
  synonyms ??= allSynonyms();
  return synonyms.get(stem) ?? none;
}

/** The topic terms of a stem. They start with a sign that no word has. */
export function topicsOf(stem: string): readonly string[] {
  topics ??= allTopics();
  return topics.get(stem) ?? noTopics;
}

/** The kind of act of a verb, such as `read` or `delete`; undefined for other words. */
export function actOf(stem: string): string | undefined {
  actOfVerb ??= allActs();
  return actOfVerb.get(stem);
}

/** Whether a verb ends or undoes something, such as `terminate`. Such tools may still be harmless. */
export function endsSomething(stem: string): boolean {
  endings ??= stemsOfAll("end");
  return endings.has(stem);
}

/** Whether a verb at the beginning of a name changes something, such as `push`. Elsewhere it may be a noun. */
export function changesSomething(stem: string): boolean {
  changes ??= stemsOfAll("change");
  return changes.has(stem);
}

/** Whether any of the words asks for something to be destroyed, ended or undone. */
export function asksToDestroy(stems: readonly string[]): boolean {
  asking ??= stemsOfAll("delete", "end", "destroy");
  return stems.some((stem) => asking!.has(stem));
}

const none: ReadonlySet<string> = new Set();
const noTopics: readonly string[] = [];
let synonyms: Map<string, Set<string>> | undefined;
let topics: Map<string, string[]> | undefined;
let actOfVerb: Map<string, string> | undefined;
let endings: Set<string> | undefined;
let changes: Set<string> | undefined;
let asking: Set<string> | undefined;

function allSynonyms(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (stem: string, others: readonly string[]) => {
    const known = found.get(stem) ?? new Set();
    for (const other of others) if (other !== stem && !other.includes(" ")) known.add(other);
    found.set(stem, known);
  };
  for (const group of synonymGroups()) {
    const stems = group.map(stemsOfEntry);
    for (const stem of stems) add(stem, stems);
  }
  for (const { asked, meant } of everydayMeanings()) {
    const stems = meant.map(stemsOfEntry);
    for (const stem of asked.map(stemsOfEntry)) add(stem, stems);
  }
  for (const [english = "", ...chinese] of chineseGroups()) {
    add(stemOf(english), chinese);
    for (const word of chinese) add(word, [stemOf(english)]);
  }
  return found;
}

function allTopics(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [index, group] of topicGroups().entries()) {
    for (const stem of new Set(group.map(stemsOfEntry))) found.set(stem, [...(found.get(stem) ?? []), `§${index}`]);
  }
  return found;
}

function allActs(): Map<string, string> {
  return new Map(acts.flatMap((act) => verbsOf(act).map((verb) => [stemOf(verb), act])));
}

function stemsOfAll(...kinds: VerbKind[]): Set<string> {
  return new Set(kinds.flatMap(verbsOf).map(stemOf));
}
