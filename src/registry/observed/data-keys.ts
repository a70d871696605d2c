/** Tells keys that name a field from keys that are data: ids, addresses, dates, names of people, of which a map is made. */

const maxLength = 40;
const maxWords = 7;

/** Some formats begin their own fields with a sign; elsewhere `@anna` and `#help` are somebody's names. */
const fieldsWithSigns = /^(?:@(?:id|type|context|graph|value|list|set|language)|#text)$/;

/** In doubt yes: a field that is taken for data loses its name, and data that is taken for a field would be kept. */
export function looksLikeData(key: string): boolean {
  if (fieldsWithSigns.test(key)) return false;
  // No spaces, dots, slashes, colons, quotes: no texts, addresses, paths, times. Not a digit first: no numbers, dates, most UUIDs.
  if (key.length > maxLength || !/^[$_]{0,2}\p{L}[\p{L}\p{N}_-]*$/u.test(key)) return true;
  return hasIdDigits(key) || isCode(key) || isRandom(key) || wordsIn(key).length > maxWords;
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

/** Letters that make no words: long without a vowel, or of ever changing case. */
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

/** Those of the keys that are one name with a number each: `row1`, `row2`, `row3`. */
export function numbered(keys: readonly string[]): string[] {
  const series = Map.groupBy(keys, (key) => key.replace(/\d+/, "#"));
  return [...series.values()].filter((each) => each.length > 2).flat();
}

/** Whether all are short codes, as countries and currencies have, or all are names as people and cities have. */
export function areNames(keys: readonly string[], isText: boolean): boolean {
  if (keys.length > 1 && keys.every((key) => /^[A-Z]{2,5}$/.test(key))) return true;
  return keys.length >= (isText ? 5 : 3) && keys.every((key) => /^\p{Lu}\p{Ll}+$/u.test(key));
}
