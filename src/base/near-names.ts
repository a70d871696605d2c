/**
 * Finds the names that a person probably meant, for misspelt keys, commands, servers and tools. They are suggested and never used
 * automatically.
 */
import { distance } from "fastest-levenshtein";

/** Longer names are not compared with similar ones, because comparing takes time in proportion to the product of both lengths. */
const maxComparedNameChars = 200;

/**
 * Returns at most `limit` names similar to `wanted`, closest first, ties in order of name. Case, dashes, underscores and dots are
 * ignored, so `listOrders` finds `list_orders`. A name that contains the wanted one, or is contained in it, counts as similar.
 */
export function nearNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  if (wanted.length > maxComparedNameChars) return [];
  const plainWanted = plain(wanted);
  return ranked(names, limit, (name) => {
    const candidate = plain(name);
    const [short, long] = plainWanted.length < candidate.length ? [plainWanted, candidate] : [candidate, plainWanted];
    return editsOf(plainWanted, candidate) ?? (short.length >= 3 && long.includes(short) ? long.length : undefined);
  });
}

/** Returns the name that `wanted` misspells by a few letters. Names that merely contain it do not count. */
export function misspelling(wanted: string, names: Iterable<string>): string | undefined {
  if (wanted.length > maxComparedNameChars) return undefined;
  return ranked(names, 1, (name) => editsOf(plain(wanted), plain(name)))[0];
}

/** Returns `Did you mean a, b or c?`, or undefined if no name is similar. */
export function didYouMean(wanted: string, names: Iterable<string>): string | undefined {
  const near = nearNames(wanted, names);
  if (near.length === 0) return undefined;
  const last = near.at(-1);
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(", ")} or ${last}` : last}?`;
}

/** Returns the names with the lowest scores first. Names without a score are omitted. */
function ranked(names: Iterable<string>, limit: number, scoreOf: (name: string) => number | undefined): string[] {
  return [...names]
    .flatMap((name) => {
      const score = name.length > maxComparedNameChars ? undefined : scoreOf(name);
      return score === undefined ? [] : [{ name, score }];
    })
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/**
 * Returns the number of letters that differ, or undefined if it is more than a third of the letters. Names of one or two letters
 * must be equal. Two names with the same letters in another order (`exce`) differ by one.
 */
function editsOf(a: string, b: string): number | undefined {
  const longest = Math.max(a.length, b.length);
  if (longest === 0) return undefined;
  const edits = a !== b && sortedLetters(a) === sortedLetters(b) ? 1 : distance(a, b);
  return edits <= (longest < 3 ? 0 : Math.floor(longest / 3)) ? edits : undefined;
}

function sortedLetters(name: string): string {
  return [...name].sort().join("");
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
