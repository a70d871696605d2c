/** Decides whether a request only wants to read. Such a request is answered with tools that read before tools that write. */
import { actOf, changesSomething } from "./thesaurus.ts";
import { commonWords, stemOf } from "./tokenize.ts";

/** A question wants to read, whatever its verbs. */
export const question =
  /^\W*(?:what|which|who|whose|when|where|why|how (?:much|many|long|far|big|old|fast|large)|is|are|was|were|do|does|did|has|have|am)\b/i;

/** Words before the verb that a request is about: `show me how to create a page`. */
const wanting = new Set(["to", "can", "could", "should", "must", "please"]);

/** Forms of the past describe a thing, as in `list updated files`. */
export const isPast = (word: string) => word.endsWith("ed") || word === "sent" || word === "made" || word === "written";

/** Before one of these, a word that may be a verb is one: `merge the branches`, but not `merge requests`. */
const determiners = new Set(["a", "an", "the", "my", "our", "your", "this", "that", "these", "those", "all"]);

const isOrder = (word: string, next = "") => determiners.has(next) && !isPast(word) && changesSomething(stemOf(word));

/** Nouns that a request reads: `status of the repository`. */
const aspects = new Set(
  `status state history contents content details progress version owner author age date location size amount balance number count
  name names list`.split(/\s+/),
);

/** Whether words without a verb describe what is to be read: `files changed in a commit`, `the status of a server`. */
function describes(words: readonly string[]): boolean {
  const [first = "", second = ""] = words.filter((word) => !commonWords.has(word));
  const changes = (word: string) => changesSomething(stemOf(word));
  const isDone = (word: string) => isPast(word) && (changes(word) || actOf(stemOf(word)) !== undefined);
  if (isDone(first) || (isDone(second) && !changes(first))) return true;
  return words.some((word, at) => aspects.has(word) && words[at + 1] === "of");
}

/**
 * Whether the first verb of each clause reads, and no other verb says what is wanted. A later verb may be a noun: `list change
 * requests`. A question reads if it has no verb that writes.
 */
export function wantsToRead(clauses: readonly string[][], isQuestion: boolean): boolean {
  let reads = isQuestion;
  for (const words of clauses) {
    if (!isQuestion && words.some((word, at) => isOrder(word, words[at + 1]))) return false;
    const acts = words.map((word) => (isPast(word) ? undefined : actOf(stemOf(word))));
    const first = acts.find((act) => act !== undefined);
    if (first === undefined) {
      reads ||= describes(words);
      continue;
    }
    const writes = (act: string | undefined) => act !== undefined && act !== "read";
    if (isQuestion ? acts.some(writes) : writes(first)) return false;
    const isWanted = (at: number) => wanting.has(words[at - 1] ?? "") || words[at]!.endsWith("ing");
    if (acts.some((act, at) => writes(act) && isWanted(at))) return false;
    reads = true;
  }
  return reads;
}
