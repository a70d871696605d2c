/** Which tools have a term, and how strongly: a flexsearch index whose slots are steps of strength. */
import { Index } from "flexsearch";

/** Of strength, from 1 down to 0: finer ones find nothing more. */
const steps = 16;

const maxKnown = 50_000;

/** Tools by step, the strongest first; of steps without tools nothing, or null. */
export type ToolsByStep = readonly (readonly number[] | null | undefined)[];

/** What flexsearch keeps, as it takes it back. */
export type PostingEntry = [term: string, byStep: ToolsByStep];

export interface Posting {
  byStep: ToolsByStep;
  /** How many tools have the term. */
  count: number;
}

export class Postings {
  readonly #index = new Index<false, false, false>({
    tokenize: "strict",
    resolution: steps,
    resolve: false,
    encode: (term) => [term],
  });
  /** What was asked for before: the words of requests come again, and those of names with each of them. */
  readonly #known = new Map<string, Posting | undefined>();

  /** Adding them to flexsearch tool by tool would give the same and take four times as long. */
  constructor(entries: PostingEntry[]) {
    // Its types know only the text of them, which it would parse.
    this.#index.import("map", entries as unknown as string);
  }

  /** Undefined where no tool has the term. */
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

/** Of each tool, in their order, its terms with strengths from 0 to 1. */
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
