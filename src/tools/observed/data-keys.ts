/** Distinguishes keys that are field names from keys that are data, such as ids, addresses, dates and names of people in a map. */

/** A key with more words is data and no name of a field. */
const maxFieldNameWords = 7;

/** Fields of formats that start with a sign. Elsewhere `@anna` and `#help` are data. */
const fieldsWithSigns = /^(?:@(?:id|type|context|graph|value|list|set|language)|#text)$/;

/** A longer key is data and no name of a field. */
const maxFieldNameChars = 40;

/** True in doubt: a field mistaken for data only loses its name, but data mistaken for a field would be stored. */
export function looksLikeData(key: string): boolean {
  if (fieldsWithSigns.test(key)) return false;
  // Excludes texts, addresses, paths and times by their signs, and numbers, dates and most UUIDs by their first digit.
  if (key.length > maxFieldNameChars || !/^[$_]{0,2}\p{L}[\p{L}\p{N}_-]*$/u.test(key)) return true;
  return hasIdDigits(key) || isCode(key) || isRandom(key) || wordsIn(key).length > maxFieldNameWords;
}

/** `order_7`, `ord_00042`, `a1b2`; not `line2`, `sha256`, `i18n`. */
function hasIdDigits(key: string): boolean {
  const groups = key.replace(/sha\d{3}|base\d\d|utf\d\d?/gi, "").match(/\p{N}+/gu) ?? [];
  return groups.length > 1 || groups.join("").length > 2 || /[_-]\p{N}+$/u.test(key);
}

/** `LAMP-XL`, `en-US`, and hashes. */
function isCode(key: string): boolean {
  return /^[A-Z\d]+(?:-[A-Z\d]+)+$/.test(key) || /^[a-z]{2}[-_][A-Z]{2}$/.test(key) || /^[a-f\d]{12,}$/i.test(key);
}

/** Letters that form no words: many without a vowel, or with alternating case. */
function isRandom(key: string): boolean {
  if (/[bcdfghjklmnpqrstvwxz]{7}/i.test(key)) return true;
  return key.split(/[_-]/).some((part) => part.length >= 10 && part.length / humpsOf(part).length < 2.6);
}

export function wordsIn(key: string): string[] {
  return key.split(/[_-]+/).flatMap(humpsOf);
}

/** The words of `camelCase`. */
function humpsOf(part: string): string[] {
  return part.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[^\p{Lu}\p{Ll}\p{N}]+|\p{Lu}/gu) ?? [part];
}

/** The keys that are the same name with different numbers: `row1`, `row2`, `row3`. */
export function numbered(keys: readonly string[]): string[] {
  const series = Map.groupBy(keys, (key) => key.replace(/\d+/, "#"));
  return [...series.values()].filter((each) => each.length > 2).flat();
}

/** Whether all keys are short codes, such as countries, or all are names, such as people. */
export function areNames(keys: readonly string[], isText: boolean): boolean {
  if (keys.length > 1 && keys.every((key) => /^[A-Z]{2,5}$/.test(key))) return true;
  return keys.length >= (isText ? 5 : 3) && keys.every((key) => /^\p{Lu}\p{Ll}+$/u.test(key));
}
