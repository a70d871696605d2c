/** Replaces the idioms of a request by plain words. Their own words mislead: no tool that drops anything is wanted for `drop a line`. */
import { maxIdiomGap } from "../limits.ts";
import { stemOf } from "./tokenize.ts";
import { idiomMeanings } from "./vocabulary.ts";

interface Idiom {
  /** The stems in order. With a gap, other words may be before the stem. */
  parts: { stem: string; gap: boolean }[];
  /** The plain words; `*` stands for the words in the gaps. */
  plain: string[];
}

/** Words that may be before any word of an idiom: `leave a note` and `leave me this note`. */
const determiners = new Set(
  "a an the my your his her our their its this that these those some any me him us them it".split(" "),
);

/** The words with plain words in place of idioms. Two words that are consecutive in the name of a tool are no idiom. */
export function plainWords(words: readonly string[], isInName: (pair: string) => boolean): string[] {
  byStem ??= allIdioms();
  const plain: string[] = [];
  for (let at = 0; at < words.length; ) {
    const found = firstMatch(byStem.get(stemOf(words[at]!)) ?? [], words, at, isInName);
    plain.push(...(found?.plain ?? [words[at]!]));
    at = found?.end ?? at + 1;
  }
  return plain;
}

/** The idioms by their first stem, the longest first. */
let byStem: Map<string, Idiom[]> | undefined;

function allIdioms(): Map<string, Idiom[]> {
  const idioms = idiomMeanings().flatMap(({ asked, meant }) =>
    asked.map((entry) => ({ parts: partsOf(entry), plain: meant })),
  );
  return Map.groupBy(
    idioms.sort((a, b) => b.parts.length - a.parts.length),
    ({ parts }) => parts[0]!.stem,
  );
}

function partsOf(entry: string): Idiom["parts"] {
  const words = entry.split("_");
  return words.flatMap((word, at) => (word === "*" ? [] : [{ stem: stemOf(word), gap: words[at - 1] === "*" }]));
}

function firstMatch(
  idioms: readonly Idiom[],
  words: readonly string[],
  at: number,
  isInName: (pair: string) => boolean,
): { plain: string[]; end: number } | undefined {
  for (const { parts, plain } of idioms) {
    const found = matchOf(parts, words, at);
    if (!found || (parts.length === 2 && isInName(parts.map(({ stem }) => stem).join(" ")))) continue;
    return { plain: plain.flatMap((word) => (word === "*" ? found.inGaps : [word])), end: found.end };
  }
  return undefined;
}

function matchOf(
  parts: Idiom["parts"],
  words: readonly string[],
  at: number,
): { inGaps: string[]; end: number } | undefined {
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
  return { inGaps, end };
}
