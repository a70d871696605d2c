/** Estimates the number of tokens of a text. The tables of a real tokenizer take too long to load. */

/** A word up to `wholeWord` letters counts as one token. In a longer word, each `partOfWord` letters count as one. */
const wholeWord = 9;
const partOfWord = 6;

/** Digits per token, and punctuation characters per token, for example `": {`. */
const digitsInOne = 3;
const signsInOne = 2;

/** A sign before a word is often a part of the word's token, as in `_id` and `.get`. */
const signBeforeWord = 0.4;

/**
 * Estimates the tokens of o200k. The median is 5 to 21 percent too high for descriptions, signatures and JSON, and the estimate is
 * rarely too low; a test compares both. It reads characters without regular expressions, which would have to be compiled at every
 * start.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; ) {
    const kind = kindOf(text.charCodeAt(at));
    let end = at + 1;
    if (kind !== "other") while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end += 1;
    tokens += ofRun(kind, text, at, end);
    at = end;
  }
  return Math.round(tokens);
}

type Kind = "letters" | "digits" | "space" | "signs" | "other";

function kindOf(code: number): Kind {
  if (isLower(code) || isUpper(code)) return "letters";
  if (code >= 48 && code <= 57) return "digits";
  if (code === 32 || (code >= 9 && code <= 13)) return "space";
  return code < 0x80 ? "signs" : "other";
}

const isLower = (code: number) => code >= 97 && code <= 122;
const isUpper = (code: number) => code >= 65 && code <= 90;

function ofRun(kind: Kind, text: string, from: number, to: number): number {
  switch (kind) {
    case "letters":
      return ofLetters(text, from, to);
    case "digits":
      return Math.ceil((to - from) / digitsInOne);
    case "signs": {
      const isBeforeWord = to < text.length && kindOf(text.charCodeAt(to)) === "letters";
      return isBeforeWord
        ? Math.ceil((to - from - 1) / signsInOne) + signBeforeWord
        : Math.ceil((to - from) / signsInOne);
    }
    case "space":
      // A single space is part of the token that follows it.
      return to - from > 1 || text.charCodeAt(from) !== 32 ? 1 : 0;
    default:
      // Half of a surrogate pair. An emoji takes about three tokens.
      return text.charCodeAt(from) >= 0xd800 && text.charCodeAt(from) <= 0xdfff ? 1.5 : 1;
  }
}

/** Counts the tokens of a run of letters. `listHTTPRoutes` is three words. */
function ofLetters(text: string, from: number, to: number): number {
  let tokens = 0;
  let start = from;
  for (let at = from + 1; at <= to; at++) {
    const ends = at === to || (isUpper(text.charCodeAt(at)) && beginsWord(text, at, to));
    if (!ends) continue;
    const length = at - start;
    tokens += length <= wholeWord ? 1 : Math.ceil(length / partOfWord);
    start = at;
  }
  return tokens;
}

function beginsWord(text: string, at: number, to: number): boolean {
  return isLower(text.charCodeAt(at - 1)) || (at + 1 < to && isLower(text.charCodeAt(at + 1)));
}
