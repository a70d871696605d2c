/** Decides whether two texts say the same in other words, or only with other white space, case, punctuation and typing errors. */
import { visibleText } from "../../base/visible-text.ts";

/** Share of the words of a text that may be misspelt in another way without a change of meaning. One word always may. */
const maxMisspeltShare = 0.02;

/**
 * Whether the texts have the same words in the same order. A few words may differ by one letter, because typing errors get corrected.
 * Addresses, paths, code and names must be equal: one letter in a name may mean another payee.
 */
export function saysTheSame(before: string, now: string): boolean {
  if (before === now) return true;
  if (visibleText(now) !== now && visibleText(before) === before) return false;
  const [old, words] = [wordsOf(before), wordsOf(now)];
  if (old.length !== words.length) return false;
  const most = Math.max(1, Math.floor(old.length * maxMisspeltShare));
  const names = new Set([...namesIn(before), ...namesIn(now)]);
  const others = words.flatMap((word, at) => (word === old[at] ? [] : [{ word, before: old[at]! }]));
  const isTypingError = (each: { word: string; before: string }) =>
    isMisspelt(each.before, each.word) && !names.has(each.before) && !names.has(each.word);
  return others.length <= most && others.every(isTypingError);
}

/** The words with a capital letter inside a sentence, and those between quotes, in lower case. */
function namesIn(text: string): string[] {
  const named = text.matchAll(
    /(?<=[^\s.!?:]\s{1,9}|[\p{L}\p{N}][-–'’/(])\p{Lu}[\p{L}\p{M}\p{N}]*|(?<=["'“”‘`])[\p{L}\p{M}\p{N} -]{1,99}(?=["'“”’`])/gu,
  );
  return [...named].flatMap(([words]) => wordsOf(words));
}

/** Words are in lower case. Everything else, such as an address or `<tag>`, stays as it is. */
function wordsOf(text: string): string[] {
  return text
    .normalize("NFKC")
    .split(/\s+/)
    .flatMap((part) => {
      const inner = part.replace(/^["'“”‘’()[\],;:.!?*_\-–—]+|["'“”‘’()[\],;:.!?*_\-–—]+$/g, "");
      if (!/^[\p{L}\p{M}\p{N}'’–-]*$/u.test(inner)) return [inner];
      return inner
        .toLowerCase()
        .replace(/['’]/g, "")
        .split(/[-–]+/)
        .filter((word) => word !== "");
    });
}

/** Whether two words of at least five letters have the same first letter and differ by one letter, or by two that are swapped. */
function isMisspelt(one: string, other: string): boolean {
  const isLatin = (word: string) => word.length >= 5 && /^\p{Script=Latin}+$/u.test(word);
  return isLatin(one) && isLatin(other) && one[0] === other[0] && isOneEdit(one, other);
}

/** Whether two words differ by one letter at most, or by two that are swapped. */
export function isOneEdit(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end++;
  const [left, right] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
