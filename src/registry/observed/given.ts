/** Recognises keys of results that are data because the arguments of the call contain them. */
import type { RegistryTool } from "../model.ts";
import type { IsGiven } from "./observe.ts";

/** Limits of the number and length of argument texts. Keys are not longer. */
const maxTexts = 500;
const maxChars = 1_000;

/** The texts in a call's arguments, and the tool's description and schema, all in lower case. */
export interface GivenWords {
  texts: string[];
  ownWords: string;
}

export function givenWords(args: unknown, { description, inputSchema }: RegistryTool): GivenWords {
  return { texts: textsIn(args), ownWords: `${description} ${JSON.stringify(inputSchema)}`.toLowerCase() };
}

/**
 * Whether a key of the result is a value of the arguments: `{ users: ["anna"] }` → `{ anna: … }`. A key that the tool's
 * description or schema contains is a field.
 */
export function isGivenBy(words: () => GivenWords): IsGiven {
  let known: { given: Set<string>; ownWords: string } | undefined;
  return (key) => {
    if (!known) {
      const { texts, ownWords } = words();
      known = { given: new Set(texts), ownWords };
    }
    const wanted = key.toLowerCase();
    return known.given.has(wanted) && !known.ownWords.includes(wanted);
  };
}

function textsIn(args: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [args];
  for (let looked = 0; waiting.length > 0 && looked < maxTexts; looked++) {
    const value = waiting.shift();
    if (typeof value === "string") {
      if (value.length <= maxChars) texts.push(value, ...value.split(/\s*[,;]\s*/));
    } else if (typeof value === "object" && value !== null) waiting.push(...Object.values(value).slice(0, maxTexts));
  }
  return texts.map((text) => text.toLowerCase());
}
