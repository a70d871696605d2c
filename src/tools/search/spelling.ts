/** Finds words for an unknown word: words that start with it, or else words that it misspells. */
import { distance } from "fastest-levenshtein";
import { stemOf } from "./tokenize.ts";

/** Shorter words are neither completed nor corrected. */
const minSpellingLetters = 4;

/** Words that are found for one unknown word. */
const maxSpellings = 8;

export class Spelling {
  readonly #words: readonly string[];
  /** The words by their first letter, which is rarely wrong. */
  #byLetter: Map<string, string[]> | undefined;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  /** The stems of the words that are probably meant. */
  near(word: string): string[] {
    if (word.length < minSpellingLetters || !/^\p{L}+$/u.test(word)) return [];
    this.#byLetter ??= Map.groupBy(this.#words, (known) => known.slice(0, 1));
    const begun = new Set<string>();
    const near = new Set<string>();
    let edits = word.length >= 7 ? 2 : 1;
    for (const known of this.#byLetter.get(word.slice(0, 1)) ?? []) {
      if (known.startsWith(word)) begun.add(stemOf(known));
      if (Math.abs(known.length - word.length) > edits || known.length < minSpellingLetters) continue;
      const found = distance(word, known);
      if (found > edits) continue;
      if (found < edits) near.clear();
      edits = found;
      near.add(stemOf(known));
    }
    return [...(begun.size > 0 ? begun : near)].slice(0, maxSpellings);
  }
}
