/** What advice is made from: the program, its tools, and their results. */
import type { Scope } from "../ast/tool-calls.ts";
import { isVerb, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { parsedValue, textOf } from "../binding-value.ts";
import type { BindingValue, FailureReason, Suggestion } from "../contract.ts";
import type { SeenCalls } from "../seen-calls.ts";
import type { KnownTools } from "../worker/known-tools.ts";
import { type ResultsOf, SeenValues } from "./seen-values.ts";

/** Characters of results that are parsed again for the advice. */
const maxReparsedChars = 8_000_000;

export interface Failing {
  reason: FailureReason;
  name: string;
  message: string;
  code: string | undefined;
  hint: string | undefined;
  /** Offset in the program, if it is known. */
  at: number | undefined;
  /** Line of the code as it was written. */
  line: number | undefined;
  /** Tools that the program asked for and that do not exist (`demo.nope`), the latest last. */
  missed: readonly string[];
  /** Properties that were read from promises of calls, and that no promise has. */
  unawaited: readonly { tool: string; key: string }[];
}

export interface Surroundings extends Scope {
  values: SeenValues;
  calls: readonly SeenCalls[];
  /** The recorded results of a tool: the first one and the last ones. */
  resultsOf: ResultsOf;
  /** Tools that fit a query, best first. */
  suggest(words: string, limit: number): Suggestion[];
}

/** A better message, what to do next, and where the failure is, as far as they are known. */
export interface Advice {
  message?: string | undefined;
  hint?: string | undefined;
  /** Offset in the program. */
  at?: number | undefined;
}

export function surroundingsOf(tree: Tree, known: KnownTools, calls: readonly SeenCalls[]): Surroundings {
  const scope = { tree, namespaces: known.namespaces };
  const parsed = new Map<string, unknown[]>();
  let left = maxReparsedChars;
  const readable = (value: BindingValue) => {
    left -= textOf(value).length;
    return left >= 0;
  };
  const resultsOf = (tool: string): unknown[] => {
    const results = calls.find((each) => each.tool === tool)?.results ?? [];
    return parsed.getOrInsertComputed(tool, () => results.filter(readable).map(parsedValue));
  };
  return {
    ...scope,
    values: new SeenValues(scope, resultsOf),
    resultsOf,
    calls,
    suggest: (words, limit) => (words === "" ? [] : known.suggest(words, limit)),
  };
}

/** The tools that may do what a piece of code wanted, by the words in its strings and addresses, as lines of a hint. */
export function toolsFor(text: string, around: Surroundings): string[] {
  const words = wordsOf(text);
  // A plural asks for a list.
  return nearestTools(/[a-z]s\b/i.test(words) ? `${words} list` : words, around);
}

/** At most three tools that fit the words. A tool that only shares a verb (`list`, `get`) does not fit. */
export function nearestTools(words: string, { suggest }: Surroundings): string[] {
  const things = words.split(" ").filter((word) => !isVerb(word));
  const about = new Set(suggest(things.join(" "), 50).map((each) => each.signature));
  const found = suggest(words, 20).map((each) => each.signature);
  const nearest = (things.length > 0 ? found.filter((each) => about.has(each)) : found).slice(0, 3);
  return nearest.length > 0 ? ["Nearest tools:", ...nearest.map((each) => `  ${each}`)] : [];
}

export function lines(...all: (string | undefined)[]): string {
  return all.filter(Boolean).join("\n");
}
