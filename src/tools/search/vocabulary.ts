/** The words that connect requests with tools, from the text files in `words/`, which say how to add one. */
import chinese from "./words/chinese.txt" with { type: "text" };
import everyday from "./words/everyday.txt" with { type: "text" };
import idioms from "./words/idioms.txt" with { type: "text" };
import synonyms from "./words/synonyms.txt" with { type: "text" };
import topics from "./words/topics.txt" with { type: "text" };
import verbs from "./words/verbs.txt" with { type: "text" };

/** Groups of words with the same meaning. */
export const synonymGroups = (): string[][] => linesIn(synonyms).map(wordsIn);

/** Topics, each with its words. */
export const topicGroups = (): string[][] => linesIn(topics).map(wordsIn);

/** English words, each followed by its Chinese counterparts. */
export const chineseGroups = (): string[][] => linesIn(chinese).map(wordsIn);

/** Words of requests with the more general words of tools that they mean. */
export const everydayMeanings = (): Meaning[] => meaningsIn(everyday);

/** Idioms with the plain words that replace them. */
export const idiomMeanings = (): Meaning[] => meaningsIn(idioms);

interface Meaning {
  asked: string[];
  meant: string[];
}

function meaningsIn(file: string): Meaning[] {
  return linesIn(file).map((line) => {
    const [asked = [], meant = []] = line.split(":").map(wordsIn);
    return { asked, meant };
  });
}

/** The kinds of act. */
export const acts = ["read", "create", "update", "delete", "send", "run"] as const;

/** A kind of act, or another list of words that say that something is ended, changed or destroyed. */
export type VerbKind = (typeof acts)[number] | "end" | "change" | "destroy";

export function verbsOf(kind: VerbKind): string[] {
  const line = linesIn(verbs).find((each) => each.startsWith(`${kind}:`));
  return wordsIn(line?.slice(kind.length + 1) ?? "");
}

/** A line that begins with `#` is a comment. */
function linesIn(file: string): string[] {
  return file.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function wordsIn(line: string): string[] {
  return line.split(" ").filter(Boolean);
}
