/**
 * The inverted index: which tools have a term, and how strongly. flexsearch stores it. Its slots are steps of strength, and our tokenizer
 * replaces its own, so that terms are looked up exactly.
 */
import { Index } from "flexsearch";

/** Terms whose postings are remembered. Beyond it, all are dropped. */
const maxKnownTerms = 50_000;

/** Strengths from 1 down to 0 are kept in this many steps. More steps do not improve the results. */
const strengthSteps = 16;

/** The numbers of the tools in each step, the strongest step first. Empty steps are missing or null. */
export type ToolsByStep = readonly (readonly number[] | null | undefined)[];

/** A term as flexsearch keeps it. */
export type PostingEntry = [term: string, byStep: ToolsByStep];

export interface Posting {
  byStep: ToolsByStep;
  /** How many tools have the term. */
  count: number;
}

export class Postings {
  readonly #index = new Index<false, false, false>({
    tokenize: "strict",
    resolution: strengthSteps,
    resolve: false,
    encode: (term) => [term],
  });
  /** Earlier answers: the words of requests and of tool names are looked up again and again. */
  readonly #known = new Map<string, Posting | undefined>();

  constructor(entries: PostingEntry[]) {
    // The types of flexsearch only know the text of the entries. Importing its own export would parse that text on this thread,
    // which takes five times as long: hundreds of milliseconds for 100,000 tools, in which no message is answered.
    this.#index.import("map", entries as unknown as string);
  }

  /** Undefined if no tool has the term. */
  of(term: string): Posting | undefined {
    if (this.#known.has(term)) return this.#known.get(term);
    const byStep: ToolsByStep = this.#index.search(term).result as number[][];
    let count = 0;
    for (const tools of byStep) count += tools?.length ?? 0;
    const posting = count > 0 ? { byStep, count } : undefined;
    if (this.#known.size >= maxKnownTerms) this.#known.clear();
    this.#known.set(term, posting);
    return posting;
  }

  has(term: string): boolean {
    return this.of(term) !== undefined;
  }
}

/** The entries of tools. Each tool has its terms with strengths from 0 to 1; its number is its place in the order. */
export function postingEntries(tools: Iterable<ReadonlyMap<string, number>>): PostingEntry[] {
  const entries = new Map<string, number[][]>();
  let tool = 0;
  for (const strengths of tools) {
    for (const [term, strength] of strengths) {
      const byStep = entries.get(term) ?? [];
      if (byStep.length === 0) entries.set(term, byStep);
      const step = Math.min(Math.max(Math.floor((1 - strength) * strengthSteps), 0), strengthSteps - 1);
      const same = byStep[step];
      if (same) same.push(tool);
      else byStep[step] = [tool];
    }
    tool++;
  }
  return [...entries];
}

/** The strength in the middle of a step. */
export function strengthOf(step: number): number {
  return 1 - (step + 0.5) / strengthSteps;
}
