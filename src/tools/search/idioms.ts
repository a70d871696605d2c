/**
 * Replaces the idioms of a request by plain words. The words of an idiom mislead: `drop a line` does not ask for a tool that drops
 * anything.
 */
import { stemOf } from "./tokenize.ts";
import { idiomMeanings } from "./vocabulary.ts";

/** Words in the gap of an idiom: `let the whole support team know`. */
const maxIdiomGap = 4;

interface Idiom {
  /** The stems in order. With a gap, other words may be before the stem. */
  parts: { stem: string; gap: boolean }[];
  /** The plain words; `*` stands for the words in the gaps. */
  plain: string[];
}

/** An idiom in a request. */
interface Found {
  parts: number;
  plain: string[];
  /** The place of the word behind it. */
  end: number;
}

/** Words that may be before any word of an idiom: `leave a note` and `leave me some note`. */
const determiners = new Set(
  "a an the my your his her our their its this that these those some any me him us them it".split(" "),
);

/** The words with plain words in place of idioms. Two words that are consecutive in the name of a tool do not count as an idiom. */
export function plainWords(words: readonly string[], isInName: (pair: string) => boolean): string[] {
  byStem ??= allIdioms();
  const plain: string[] = [];
  for (let at = 0; at < words.length; ) {
    const found = (byStem.get(stemOf(words[at]!)) ?? []).flatMap((idiom) => matchOf(idiom, words, at, isInName) ?? []);
    // The longest idiom counts. Of two, it is the one with the smaller gap: `log two hours on the ticket` logs no ticket.
    const [best] = found.sort((a, b) => b.parts - a.parts || a.end - b.end);
    plain.push(...(best?.plain ?? [words[at]!]));
    at = best?.end ?? at + 1;
  }
  return plain;
}

/** The idioms by their first stem. */
let byStem: Map<string, Idiom[]> | undefined;

function allIdioms(): Map<string, Idiom[]> {
  const idioms = idiomMeanings().flatMap(({ asked, meant }) =>
    asked.map((entry) => ({ parts: partsOf(entry), plain: meant })),
  );
  return Map.groupBy(idioms, ({ parts }) => parts[0]!.stem);
}

function partsOf(entry: string): Idiom["parts"] {
  const words = entry.split("_");
  return words.flatMap((word, at) => (word === "*" ? [] : [{ stem: stemOf(word), gap: words[at - 1] === "*" }]));
}

function matchOf(
  { parts, plain }: Idiom,
  words: readonly string[],
  at: number,
  isInName: (pair: string) => boolean,
): Found | undefined {
  const inGaps: string[] = [];
  let end = at;
  for (const { stem, gap } of parts) {
    const isIt = (index: number) => index < words.length && stemOf(words[index]!) === stem;
    let next = gap ? end + 1 : end;
    while (!isIt(next) && (gap ? next - end < maxIdiomGap : end > at && determiners.has(words[next] ?? ""))) next++;
    if (!isIt(next)) return undefined;
    if (gap) inGaps.push(...words.slice(end, next));
    end = next + 1;
  }
  if (parts.length === 2 && isInName(parts.map(({ stem }) => stem).join(" "))) return undefined;
  return { parts: parts.length, plain: plain.flatMap((word) => (word === "*" ? inGaps : [word])), end };
}
