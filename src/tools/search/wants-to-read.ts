/** Decides whether a request only wants to read. Such a request is answered with tools that read before tools that write. */
import { actOf } from "./thesaurus.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

/** A question wants to read, whatever its verbs. */
export const question =
  /^\W*(?:what|which|who|whose|when|where|why|how (?:much|many|long|far|big|old|fast|large)|is|are|was|were|do|does|did|has|have|am)\b/i;

/** Words before a verb that say what is wanted: `show me how to create a page`. */
const wanting = new Set(["to", "can", "could", "should", "must", "please"]);

/** Forms of the past describe a thing, as in `list updated files`. */
const isPast = (word: string) => word.endsWith("ed") || word === "sent" || word === "made" || word === "written";

/**
 * Whether the first verb of each clause reads, and no other verb says what is wanted. A later verb may be a noun: `list change
 * requests`. A question reads if it has no verb that writes.
 */
export function wantsToRead(clauses: readonly string[]): boolean {
  const isQuestion = question.test(clauses[0] ?? "");
  let reads = isQuestion;
  for (const clause of clauses) {
    const words = wordsOf(clause);
    const acts = words.map((word) => (isPast(word) ? undefined : actOf(stemOf(word))));
    const first = acts.find((act) => act !== undefined);
    if (first === undefined) continue;
    const writes = (act: string | undefined) => act !== undefined && act !== "read";
    if (isQuestion ? acts.some(writes) : writes(first)) return false;
    const isWanted = (at: number) => wanting.has(words[at - 1] ?? "") || words[at]!.endsWith("ing");
    if (acts.some((act, at) => writes(act) && isWanted(at))) return false;
    reads = true;
  }
  return reads;
}
