/** Compares texts by locale. Plain ASCII is compared in the guest, because sorting compares often and asking the host is slower. */
import { askIntl, type IntlSpec } from "./intl-request.ts";

/** Printable ASCII in the order of the root collation (CLDR), which English and most other languages use. */
const ascii = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

const weights = new Uint8Array(128);
for (const [index, char] of [...ascii].entries()) weights[char.charCodeAt(0)] = index + 1;
for (let letter = 0; letter < 26; letter++) {
  weights[97 + letter] = ascii.length + 1 + letter;
  weights[65 + letter] = ascii.length + 1 + letter;
}

/**
 * Compares printable ASCII. Returns undefined if the host has to decide: there is another character before or at the first
 * difference in weight.
 */
function compareAscii(left: string, right: string): number | undefined {
  const shared = Math.min(left.length, right.length);
  let caseFirst = 0;
  for (let index = 0; index < shared; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    const weight = weights[a];
    if (!weight) return undefined;
    if (a === b) continue;
    const other = weights[b];
    if (!other) return undefined;
    if (weight !== other) return weight < other ? -1 : 1;
    // The same letter in another case. Lower case comes first if nothing else differs.
    if (caseFirst === 0) caseFirst = a > b ? -1 : 1;
  }
  if (left.length === right.length) return caseFirst;
  const longer = left.length > right.length ? left : right;
  if (!weights[longer.charCodeAt(shared)]) return undefined;
  return longer === left ? 1 : -1;
}

/** Returns whether texts are compared in the order of `ascii`, and upper case only matters if nothing else differs. */
export function isPlain(locales: unknown, options: unknown): boolean {
  return (
    options === undefined && (locales === undefined || locales === "en" || locales === "en-US" || locales === "en-GB")
  );
}

/** `spec` is only called if the host has to compare. */
export function compare(left: string, right: string, plain: boolean, spec: () => IntlSpec): number {
  return (plain ? compareAscii(left, right) : undefined) ?? askIntl(spec(), "compare", left, right);
}
