/** The words of names and descriptions, without their endings. */

/** Characters of the name of a tool or an argument that the rules read. A longer one says nothing more. */
const maxRuleNameChars = 200;

/** Characters of a description in which the rules look for its first sentence. */
const maxRuleSentenceChars = 400;

/** Words whose stems are kept. Definitions use few words, and a stem takes some microseconds. */
const maxKnownStems = 5_000;

/** The words of a name in snake case, kebab case or camel case, in lower case. */
export function wordsOf(name: string): string[] {
  const short = name.slice(0, maxRuleNameChars);
  const apart = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\d\p{Lu}/u.test(short)
    ? short.replace(/(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$& ")
    : short;
  return wordsIn(apart);
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Words that look like forms of others. */
const exceptions: Readonly<Record<string, string>> = {
  sent: "send",
  paid: "pay",
  news: "news",
  written: "writ",
  wrote: "writ",
  made: "mak",
  emails: "email",
  sms: "sms",
  status: "status",
  indices: "index",
};

/** Stems by words. */
const known = new Map<string, string>();

/** The word without its ending: `posts`, `posted` and `posting` become `post`. English only; other words stay as they are. */
export function stemOf(word: string): string {
  const found = known.get(word);
  if (found !== undefined) return found;
  if (known.size >= maxKnownStems) known.clear();
  const stem = withoutEnding(word);
  if (word.length <= maxRuleNameChars) known.set(word, stem);
  return stem;
}

function withoutEnding(word: string): string {
  if (Object.hasOwn(exceptions, word)) return exceptions[word]!;
  // One test for the many words without an ending: the five changes below take 10 µs for a word.
  if (!/[sdge]$|([bmnprt])\1$/.test(word)) return word;
  const base = word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=(?:s|x|z|ch|sh))es$|(?<=[^aiousy])s$|(?<=[aeo]y)s$/, "")
    .replace(/(?<=\p{L}{3})(?:ing|ed)$/u, "");
  // `submitted` has two letters where `submit` has one.
  return base.replace(/(?<=\p{L}{3})([bdgmnprt])\1$/u, "$1").replace(/(?<=\p{L}{2})e$/u, "");
}

/** A list of words, separated by spaces, as stems. */
export function stemsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(" ").map(stemOf));
}

/** The words of the first sentence of a description, without headings and names of services in front of it. */
export function firstSentence(description: string): string[] {
  const text = description
    .slice(0, maxRuleSentenceChars)
    .replace(/^[^\p{L}]*\p{L}+:\s+/u, "")
    .trimStart();
  const end = text.search(/(?<=[^\d\s][^\s]|\))[.!?:。](?=\s|$)|\n\s*\n/u);
  return wordsIn(end < 0 ? text : text.slice(0, end));
}
