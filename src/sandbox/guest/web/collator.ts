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

/** Letters without a decomposition in Unicode that sort as these letters. */
const likeLetters: Record<string, string> = { Æ: "ae", Ð: "d", Ø: "o", ß: "ss", Đ: "d", Ħ: "h", Ł: "l", Œ: "oe" };

/**
 * The primary sort key of each character by its code: ASCII, and the letters of Latin-1 and Latin Extended-A that are ASCII letters with
 * accents. The codes of these characters are weights.
 */
const keyChars = Array.from({ length: 384 }, (_, code) => {
  const char = String.fromCharCode(code);
  const [base = "", ...accents] = char.normalize("NFD");
  const isAccented = accents.every((accent) => accent >= "\u0300" && accent <= "\u036f");
  const letters = likeLetters[char] ?? likeLetters[char.toUpperCase()] ?? (isAccented ? base : "");
  const found = [...letters].map((letter) => weights[letter.charCodeAt(0)]);
  return found.every((weight) => weight) ? String.fromCharCode(...(found as number[])) : "";
});

/** Longer texts have no key: most differ early, and a key needs every character. */
const maxKeyedChars = 100;

/** More texts than this have no key, so that the keys take at most 10 MB. */
const maxKeys = 50_000;

const { get, set, clear } = Map.prototype;

/**
 * The key of each text. Texts have the order of their keys. Sorting compares each text often: with keys, sorting 20,000 names by locale takes
 * half of the time, and names with accents a tenth of it. The keys are dropped once the program waits, since its memory may be saved. The
 * map has its own methods, because programs can replace the methods of all maps.
 */
const keys = Object.assign(new Map<string, string>(), { get, set, clear });

let keyCount = 0;

async function dropKeysLater(): Promise<void> {
  await undefined;
  keyCount = 0;
  keys.clear();
}

function keyOf(text: string): string {
  if (text.length > maxKeyedChars || keyCount >= maxKeys) return "";
  let key = "";
  for (let index = 0; index < text.length; index++) {
    const char = keyChars[text.charCodeAt(index)];
    if (!char) {
      key = "";
      break;
    }
    key += char;
  }
  if (keyCount === 0) void dropKeysLater();
  keyCount += 1;
  keys.set(text, key);
  return key;
}

/** Returns undefined if the host has to decide. */
export function comparePlain(left: string, right: string): number | undefined {
  if (left === right) return 0;
  const leftKey = keys.get(left) ?? keyOf(left);
  const rightKey = keys.get(right) ?? keyOf(right);
  if (leftKey === rightKey || leftKey === "" || rightKey === "") return compareAscii(left, right);
  return leftKey < rightKey ? -1 : 1;
}

/** Returns whether texts are compared in the order of `ascii`, and upper case only matters if nothing else differs. */
export function isPlain(locales: unknown, options: unknown): boolean {
  return (
    options === undefined && (locales === undefined || locales === "en" || locales === "en-US" || locales === "en-GB")
  );
}

/** `spec` is only called if the host has to compare. */
export function compare(left: string, right: string, plain: boolean, spec: () => IntlSpec): number {
  return (plain ? comparePlain(left, right) : undefined) ?? askIntl(spec(), "compare", left, right);
}
