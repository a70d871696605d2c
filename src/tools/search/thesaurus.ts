/** Looks up the synonyms, topics and kind of act of a stem. */
import { stemOf, stemsOfEntry } from "./tokenize.ts";
import { chineseGroups, everydayMeanings, synonymGroups, topicGroups } from "./vocabulary.ts";

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
  acts ??= actsFrom(actTable);
  return acts.get(stem);
}

/** Whether a verb ends or undoes something, such as `terminate`. Such tools may still be harmless. */
export function endsSomething(stem: string): boolean {
  endings ??= stemsIn(endTable);
  return endings.has(stem);
}

/** Whether a verb at the beginning of a name changes something, such as `push`. Elsewhere it may be a noun. */
export function changesSomething(stem: string): boolean {
  changes ??= stemsIn(changeTable);
  return changes.has(stem);
}

/** Whether any of the words asks for something to be destroyed, ended or undone. */
export function asksToDestroy(stems: readonly string[]): boolean {
  asking ??= stemsIn(`${actTable["delete"]} ${endTable} ${askTable}`);
  return stems.some((stem) => asking!.has(stem));
}

const none: ReadonlySet<string> = new Set();
const noTopics: readonly string[] = [];
let synonyms: Map<string, Set<string>> | undefined;
let topics: Map<string, string[]> | undefined;
let acts: Map<string, string> | undefined;
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

/** Verbs by kind of act. Looking up and showing are one kind, because people use either verb for both. */
const actTable: Record<string, string> = {
  read: "get fetch read show view retrieve display describe list enumerate see inspect check examine browse obtain tell count analyze calculate compute search find lookup query discover locate seek",
  create: "create add new make generate insert write save build append draft compose store record register init",
  update: "update edit modify change set rename move replace adjust patch assign configure resize format sort",
  delete: "delete remove erase trash clear drop uninstall destroy",
  send: "send post publish submit share reply forward notify",
  run: "run execute start launch invoke kill stop restart deploy",
};

/** Verbs that end something. A verb may also have a kind of act: `kill` is of the kind `run`. */
const endTable = "purge wipe flush prune truncate discard terminate kill revoke cancel reset stop abort close archive";

/** More verbs that change something, and have no kind of act: their tools are looked up by other words too. */
const changeTable =
  "push commit merge fork star upload put upsert transfer mark reopen approve dismiss enable disable grant invite import attach pay buy charge refund cancel stage revert restore";

/** More words by which a request asks for destruction. They are not verbs of tool names. */
const askTable =
  "rid undo forget eliminate cleanup clean deletion removal detach disconnect unlink end quit empty tear nuke obsolete unwanted unused stale";

function stemsIn(words: string): Set<string> {
  return new Set(words.split(" ").map(stemOf));
}

function actsFrom(table: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(table).flatMap(([act, verbs]) => verbs.split(" ").map((verb) => [stemOf(verb), act])));
}
