/** Finds words for an unknown word: words that start with it, or else words that it misspells. */
import { distance } from "fastest-levenshtein";
import type { NumberedTool } from "./prepared-index.ts";
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

/** Only this much of a query is read for names of tools that are written as in a program. */
const maxNameQueryChars = 2_000;

/** The form in which names are compared: `getSum`, `get-sum` and `get_sum` are the same. */
export function nameKey(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/**
 * The keys of each name that a query has: the name with its server's, and the name alone. A plain word such as `search` is a
 * name only behind a server's.
 */
export function writtenNames(query: string): string[][] {
  const written = query.slice(0, maxNameQueryChars).match(/[\p{L}\d$]+(?:(?:[-./:]|_+)[\p{L}\d$]+)*/gu) ?? [];
  return written.filter(isJoined).map((name) => {
    const parts = name.split(/[./:]|__+/);
    const ends = parts.map((_, at) => parts.slice(at).join("_")).filter(isJoined);
    return ends.map(nameKey);
  });
}

/** Whether a name has several words. */
function isJoined(name: string): boolean {
  return /[-_./:]|[\p{Ll}\d]\p{Lu}/u.test(name);
}

/** The places of the tools by the keys of their names, alone and with the server's name. */
export function keysOf(tools: readonly NumberedTool[]): Map<string, number[]> {
  const keys = new Map<string, number[]>();
  for (const [index, { of, tool }] of tools.entries()) {
    for (const name of new Set(
      [tool.name, `${of.name} ${tool.name}`, `${of.jsName ?? of.name} ${tool.name}`].map(nameKey),
    )) {
      const known = keys.get(name);
      if (known) known.push(index);
      else keys.set(name, [index]);
    }
  }
  return keys;
}
