/** Names that someone probably meant: for misspelt keys, commands, servers and tools. Suggested, never used by themselves. */
import { distance } from "fastest-levenshtein";

/**
 * The names close to `wanted`, closest first (ties by name), at most `limit`. Case, dashes, underscores and dots do not
 * count, so `listOrders` finds `list_orders`; a name that contains the wanted one, or is contained in it, counts as near.
 */
export function nearNames(wanted: string, names: Iterable<string>, limit = 3): string[] {
  const plainWanted = plain(wanted);
  const scored: { name: string; score: number }[] = [];
  for (const name of names) {
    const candidate = plain(name);
    const edits = distance(plainWanted, candidate);
    const longest = Math.max(plainWanted.length, candidate.length);
    const contained =
      Math.min(plainWanted.length, candidate.length) >= 3 &&
      (candidate.includes(plainWanted) || plainWanted.includes(candidate));
    if (edits <= Math.max(1, Math.floor(longest / 3))) scored.push({ name, score: edits });
    else if (contained) scored.push({ name, score: longest });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, limit).map((entry) => entry.name);
}

/** `Did you mean a, b or c?`, or undefined when nothing is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string | undefined {
  const near = nearNames(wanted, names);
  if (near.length === 0) return undefined;
  const last = near.at(-1);
  return `Did you mean ${near.length > 1 ? `${near.slice(0, -1).join(", ")} or ${last}` : last}?`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
