/** Tools that fit the words of a name or a piece of code, as the lines of a hint. */
import { isVerb, wordsOf } from "../ast/tool-names.ts";
import type { Surroundings } from "./surroundings.ts";

/** The signatures of tools that may do what a piece of code wanted, by the words in its strings and addresses. */
export function toolsFor(text: string, around: Surroundings): string[] {
  const words = wordsOf(text);
  // A plural asks for a list.
  const wanted = /[a-z]s\b/i.test(words) ? `${words} list` : words;
  return nearest(suggestFor(wanted, around));
}

/**
 * The signatures of at most three tools that fit the words. A tool that only shares a verb (`list`, `get`) does not
 * fit.
 */
export function suggestFor(words: string, { suggest }: Surroundings): string[] {
  const things = words.split(" ").filter((word) => !isVerb(word));
  const about = new Set(suggest(things.join(" "), 50).map((each) => each.signature));
  const found = suggest(words, 20).map((each) => each.signature);
  return (things.length > 0 ? found.filter((each) => about.has(each)) : found).slice(0, 3);
}

export function nearest(signatures: string[]): string[] {
  return signatures.length > 0 ? ["Nearest tools:", ...signatures.map((each) => `  ${each}`)] : [];
}

export function lines(...all: (string | undefined)[]): string {
  return all.filter(Boolean).join("\n");
}
