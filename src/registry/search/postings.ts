/**
 * The inverted index: the tools that have a term, grouped by how strongly they have it. It is a plain `Map`: terms are
 * looked up exactly and scored here, so a search library would only add its own tokenizer and storage format.
 */

/** Strengths from 1 down to 0 are kept in this many steps. More steps do not improve the results. */
const steps = 16;

/** The numbers of the tools in each step, the strongest step first. Empty steps are missing or null. */
export type ToolsByStep = readonly (readonly number[] | null | undefined)[];

export type PostingEntry = [term: string, byStep: ToolsByStep];

export interface Posting {
  byStep: ToolsByStep;
  /** How many tools have the term. */
  count: number;
}

export class Postings {
  readonly #byTerm: ReadonlyMap<string, ToolsByStep>;

  constructor(entries: readonly PostingEntry[]) {
    this.#byTerm = new Map(entries);
  }

  /** Undefined if no tool has the term. */
  of(term: string): Posting | undefined {
    const byStep = this.#byTerm.get(term);
    return byStep && { byStep, count: byStep.reduce((count, tools) => count + (tools?.length ?? 0), 0) };
  }

  has(term: string): boolean {
    return this.#byTerm.has(term);
  }
}

/** `tools` has the terms of each tool, with strengths from 0 to 1, in the order of the tools' numbers. */
export function postingEntries(tools: Iterable<ReadonlyMap<string, number>>): PostingEntry[] {
  const entries = new Map<string, number[][]>();
  let tool = 0;
  for (const strengths of tools) {
    for (const [term, strength] of strengths) {
      const byStep = entries.get(term) ?? [];
      if (byStep.length === 0) entries.set(term, byStep);
      const step = Math.min(Math.max(Math.floor((1 - strength) * steps), 0), steps - 1);
      const same = byStep[step];
      if (same) same.push(tool);
      else byStep[step] = [tool];
    }
    tool++;
  }
  return [...entries];
}

/** The middle of a step. */
export function strengthOf(step: number): number {
  return 1 - (step + 0.5) / steps;
}
