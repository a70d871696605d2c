/** For a word that no tool has: those that begin with it, or else those that it is a misspelling of. */
import { distance } from "fastest-levenshtein";
import { stemOf } from "./tokenize.ts";

const minLetters = 4;
/** More would be guessing. */
const maxFound = 8;

export class Spelling {
  readonly #words: readonly string[];
  /** By their first letter, which is hardly ever the wrong one. */
  #byLetter: Map<string, string[]> | undefined;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  /** The stems of the words that were probably meant. */
  near(word: string): string[] {
    if (word.length < minLetters || !/^\p{L}+$/u.test(word)) return [];
    this.#byLetter ??= Map.groupBy(this.#words, (known) => known.slice(0, 1));
    const begun = new Set<string>();
    const near = new Set<string>();
    let edits = word.length >= 7 ? 2 : 1;
    for (const known of this.#byLetter.get(word.slice(0, 1)) ?? []) {
      if (known.startsWith(word)) begun.add(stemOf(known));
      if (Math.abs(known.length - word.length) > edits || known.length < minLetters) continue;
      const found = distance(word, known);
      if (found > edits) continue;
      if (found < edits) near.clear();
      edits = found;
      near.add(stemOf(known));
    }
    return [...(begun.size > 0 ? begun : near)].slice(0, maxFound);
  }
}
