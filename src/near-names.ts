/** Names that someone probably meant: for misspelt keys, commands, servers and tools. Suggested, never used by themselves. */
import { distance } from "fastest-levenshtein";

/** Nobody misspells a longer name, and comparing two texts takes the product of their lengths. */
const maxLength = 200;

/**
 * The names close to `wanted`, closest first (ties by name), at most `limit`. Case, dashes, underscores and dots do not
 * count, so `listOrders` finds `list_orders`; a name that contains the wanted one, or is contained in it, counts as near.
 */
export function nearNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  if (wanted.length > maxLength) return [];
  const plainWanted = plain(wanted);
  return ranked(names, limit, (name) => {
    const candidate = plain(name);
    const [short, long] = plainWanted.length < candidate.length ? [plainWanted, candidate] : [candidate, plainWanted];
    return editsOf(plainWanted, candidate) ?? (short.length >= 3 && long.includes(short) ? long.length : undefined);
  });
}

/** The name that `wanted` is a misspelling of: a few letters off. One that merely contains it is another name. */
export function misspelling(wanted: string, names: Iterable<string>): string | undefined {
  if (wanted.length > maxLength) return undefined;
  return ranked(names, 1, (name) => editsOf(plain(wanted), plain(name)))[0];
}

/** `Did you mean a, b or c?`, or undefined when nothing is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string | undefined {
  const near = nearNames(wanted, names);
  if (near.length === 0) return undefined;
  const last = near.at(-1);
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(", ")} or ${last}` : last}?`;
}

/** Names by score, lowest first; those without one are left out. */
function ranked(names: Iterable<string>, limit: number, scoreOf: (name: string) => number | undefined): string[] {
  return [...names]
    .flatMap((name) => {
      const score = name.length > maxLength ? undefined : scoreOf(name);
      return score === undefined ? [] : [{ name, score }];
    })
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/**
 * How many letters differ, or undefined when it is more than a third of them; a letter or two alone say too little.
 * The same letters in another order (`exce`) count as one slip.
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
