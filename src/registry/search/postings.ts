/**
 * The inverted index: which tools have a term, and how strongly. flexsearch stores it. Its slots are steps of strength, and
 * its tokenizer and scoring are replaced by ours, so that terms are looked up exactly.
 */
import { Index } from "flexsearch";

/** Strengths from 1 down to 0 are kept in this many steps. More steps do not improve the results. */
const steps = 16;

const options = { tokenize: "strict", resolution: steps } as const;

const maxKnown = 50_000;

/** The numbers of the tools in each step, the strongest step first. Empty steps are missing or null. */
export type ToolsByStep = readonly (readonly number[] | null | undefined)[];

/** The parts of an index as flexsearch exports them. */
export type ExportedIndex = [key: string, data: string][];

export interface Posting {
  byStep: ToolsByStep;
  /** How many tools have the term. */
  count: number;
}

export class Postings {
  readonly #index = new Index<false, false, false>({ ...options, resolve: false, encode: (term) => [term] });
  /** Earlier answers: the words of requests and of tool names are looked up again and again. */
  readonly #known = new Map<string, Posting | undefined>();

  constructor(exported: ExportedIndex) {
    for (const [key, data] of exported) this.#index.import(key, data);
  }

  /** Undefined if no tool has the term. */
  of(term: string): Posting | undefined {
    if (this.#known.has(term)) return this.#known.get(term);
    const byStep: ToolsByStep = this.#index.search(term).result as number[][];
    let count = 0;
    for (const tools of byStep) count += tools?.length ?? 0;
    const posting = count > 0 ? { byStep, count } : undefined;
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.set(term, posting);
    return posting;
  }

  has(term: string): boolean {
    return this.of(term) !== undefined;
  }
}

/** Indexes tools. Each has its terms with strengths from 0 to 1; its number is its place in the order. */
export function exportedIndex(tools: Iterable<ReadonlyMap<string, number>>): ExportedIndex {
  let terms: ReadonlyMap<string, number> = new Map();
  const index = new Index({
    ...options,
    encode: () => [...terms.keys()],
    score: (_, term) => Math.min(Math.max(Math.floor((1 - (terms.get(term) ?? 0)) * steps), 0), steps - 1),
  });
  let number = 0;
  for (terms of tools) index.add(number++, "terms");
  const exported: ExportedIndex = [];
  index.export((key, data) => {
    exported.push([key, data]);
  });
  return exported;
}

/** The strength in the middle of a step. */
export function strengthOf(step: number): number {
  return 1 - (step + 0.5) / steps;
}
