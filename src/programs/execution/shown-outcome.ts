/** What the outcome of a program shows to whoever ran it: the model of a session, or the program that called it. */

import { lettersOf } from "../../policy/flow/letters.ts";
import type { ProgramReads, ReadText, SessionReads } from "../../policy/flow/session-reads.ts";
import { maxComparedChars, maxReadChars, minWordLetters } from "../../policy/limits.ts";
import type { Outcome } from "../../sandbox/contract.ts";

/** Numbers that an outcome may show without showing data, such as counts and sums. */
const maxPlainNumbers = 60;

/** Adds what the outcome shows of what the program has read. A count is not the data. */
export async function noteShown(outcome: Outcome, program: ProgramReads, to: SessionReads): Promise<void> {
  const { own } = program;
  if (own.length === 0) return;
  to.unseen.addAll(program.texts);
  const texts = shownTexts(outcome, (key) => program.isNamed(key));
  const { found, isSpelled } = sourcesOf(texts, program);
  // Nobody knows what letters together say.
  if (isSpelled) await to.add(own);
  for (const [source, leaves] of found) {
    const reads = source === undefined ? own : own.filter((each) => each.source === source);
    const json = JSON.stringify(leaves);
    await to.add(reads, { size: json.length, text: json, shownBy: program.shownBy });
  }
}

/** Everything that the outcome shows. Undefined if that is too much to be kept. */
export function shownText(outcome: Outcome): ReadText | undefined {
  const { leaves, isWhole } = shownTexts(outcome);
  if (!isWhole) return undefined;
  const json = JSON.stringify([...leaves]);
  return { size: json.length, text: json };
}

/** The texts by the source that has them; undefined: by any. */
function sourcesOf(
  { leaves, numbers, isWhole }: ShownTexts,
  program: ProgramReads,
): { found: Map<string | undefined, string[]>; isSpelled: boolean } {
  let isSpelled = false;
  const found = new Map<string | undefined, string[]>();
  const add = (source: string | undefined, leaf: string) => found.set(source, [...(found.get(source) ?? []), leaf]);
  const known = program.texts.all;
  const chars = known.reduce((sum, { size }) => sum + size, 0);
  if (chars * leaves.size > maxComparedChars) return { found: new Map([[undefined, [...leaves]]]), isSpelled };
  const lacksTexts = program.texts.lacks("private") || program.texts.lacks("untrusted");
  for (const leaf of leaves) {
    const letters = lettersOf(leaf);
    if (letters === "") continue;
    if (letters.length < minWordLetters) {
      // The code of a country says little. The letters of a word, one by one, say all of it.
      isSpelled ||= letters.length === 1 && !program.isQuoted(leaf) && !known.some((text) => text.hasAlone(leaf));
      continue;
    }
    if (program.isWritten(letters)) continue;
    const sources = known.filter((text) => text.hasValue(leaf)).map(({ origin }) => origin.source);
    for (const source of new Set(sources)) add(source, leaf);
    if (sources.length === 0 || lacksTexts) add(undefined, leaf);
  }
  if (!isWhole || numbers > maxPlainNumbers) add(undefined, "");
  return { found, isSpelled };
}

interface ShownTexts {
  leaves: Set<string>;
  numbers: number;
  /** Whether everything that is shown is in `leaves`. */
  isWhole: boolean;
}

function shownTexts(outcome: Outcome, isName: (key: string) => boolean = () => false): ShownTexts {
  const shown: ShownTexts = { leaves: new Set(), numbers: 0, isWhole: true };
  let left = maxReadChars;
  const visit = (value: unknown): void => {
    if (left <= 0) shown.isWhole = false;
    else if (typeof value === "string") {
      left -= value.length;
      shown.leaves.add(value);
    } else if (typeof value === "number") {
      shown.numbers += 1;
      if (String(Math.abs(value)).length > minWordLetters) shown.leaves.add(String(value));
    } else if (typeof value === "object" && value !== null)
      for (const [key, each] of Object.entries(value)) {
        if (!Array.isArray(value) && !isName(key)) visit(key);
        visit(each);
      }
  };
  if (!outcome.ok) visit([outcome.error.name, outcome.error.message, outcome.error.hint]);
  // A large value is parsed when it is first read.
  else if (outcome.json === undefined) visit(outcome.value);
  else if (outcome.json.length > maxReadChars) shown.isWhole = false;
  else visit(JSON.parse(outcome.json));
  for (const { text } of outcome.logs) visit(text);
  visit([outcome.display, outcome.dryRun]);
  return shown;
}
